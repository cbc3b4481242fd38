//! The folder that the files of rows are in: the user's own, which nobody else may change.

use std::io;
use std::path::{Path, PathBuf};

use crate::file::{OwnFolder, RouteError};
use crate::sys::stat;

/// The folder of the cache.
#[derive(Debug)]
pub struct CacheFolder {
    folder: OwnFolder,
    identity: Option<(u64, u64)>,
}

impl CacheFolder {
    /// Opens it, and makes it for its owner only if it is missing.
    ///
    /// # Errors
    /// If somebody else could change it, or if the system refuses.
    pub fn at(path: &Path) -> io::Result<Self> {
        let folder = OwnFolder::make(path).map_err(plain)?;
        let is = stat::descriptor(folder.descriptor()).ok();
        let identity = is.map(|is| (is.dev, is.ino));
        Ok(Self { folder, identity })
    }

    /// Its device and inode number.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.identity
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a file for its owner only if it is missing; returns its path.
    ///
    /// # Errors
    /// If it is not the user's own, or if the system refuses.
    pub fn make(&self, name: &str) -> io::Result<PathBuf> {
        self.folder.append_or_make(name).map_err(plain)?;
        Ok(self.path().join(name))
    }
}

fn plain(error: RouteError) -> io::Error {
    match error {
        RouteError::Io(error) => error,
        other => io::Error::other(other),
    }
}
