//! The folder of the cache files: it belongs to the user, and no other user may change it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::file::{OwnFolder, RouteError};
use crate::sys::{stat, statfs};

/// The folder of the cache.
#[derive(Debug)]
pub struct CacheFolder {
    folder: OwnFolder,
    identity: Option<(u64, u64)>,
}

impl CacheFolder {
    /// Opens it, and creates it for its owner only if it is missing.
    ///
    /// # Errors
    /// If another user could change it, or if the system refuses.
    pub fn at(path: &Path) -> io::Result<Self> {
        Ok(Self::of(OwnFolder::make(path).map_err(plain)?))
    }

    /// Opens it; `None` if it is missing.
    ///
    /// # Errors
    /// As [`CacheFolder::at`].
    pub fn existing(path: &Path) -> io::Result<Option<Self>> {
        let folder = OwnFolder::open(path).map_err(plain)?;
        Ok(folder.map(Self::of))
    }

    fn of(folder: OwnFolder) -> Self {
        let is = stat::descriptor(folder.descriptor()).ok();
        let identity = is.map(|is| (is.dev, is.ino));
        Self { folder, identity }
    }

    /// Its device and inode number.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.identity
    }

    /// True if a program or a server answers for the folder. The users of an SQLite file share memory, which works only
    /// on one computer.
    pub fn is_answered(&self) -> bool {
        statfs::is_answered(self.folder.descriptor())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a file for its owner only if it is missing, and marks it as used now; returns its path.
    ///
    /// # Errors
    /// If it is not the user's own, or if the system refuses.
    pub fn make(&self, name: &str) -> io::Result<PathBuf> {
        let file = self.folder.append_or_make(name).map_err(plain)?;
        mark_used(&file);
        Ok(self.path().join(name))
    }

    /// Marks a file as used now; returns its path, or `None` if it is missing.
    ///
    /// # Errors
    /// As [`CacheFolder::make`].
    pub fn used(&self, name: &str) -> io::Result<Option<PathBuf>> {
        match self.folder.append(name).map_err(plain) {
            Ok(file) => {
                mark_used(&file);
                Ok(Some(self.path().join(name)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The path of an existing file.
    ///
    /// # Errors
    /// `NotFound` if it is not; if it is not the user's own; if the system refuses.
    pub fn own(&self, name: &str) -> io::Result<PathBuf> {
        self.folder.append(name).map_err(plain)?;
        Ok(self.path().join(name))
    }

    /// The names of all files in it.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.folder.names()
    }
}

/// Where the time cannot be set, the file looks as old as what was written to it last.
fn mark_used(file: &File) {
    let _not_marked = file.set_modified(SystemTime::now());
}

fn plain(error: RouteError) -> io::Error {
    match error {
        RouteError::Io(error) => error,
        other => io::Error::other(other),
    }
}
