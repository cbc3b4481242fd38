//! The folder of the cache files: it belongs to the user, and no other user may change it.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{self, Path, PathBuf};

use crate::file::{OwnFolder, RouteError};
use crate::sys::{stat, statfs};

/// The suffixes that SQLite adds to the name of a file of rows.
pub(super) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

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

    /// As [`CacheFolder::at`], unless a program or a server answers for the folder. The users of an SQLite file share
    /// memory, which works only on one computer.
    ///
    /// # Errors
    /// As [`CacheFolder::at`], and if the folder is or would be on such a file system.
    pub fn on_a_local_disk(path: &Path) -> io::Result<Self> {
        let absolute = path::absolute(path)?;
        let answered = || io::Error::other("the default cache must be on a local disk");
        let mut nearest = absolute.ancestors();
        if nearest.find_map(statfs::is_path_answered) == Some(true) {
            return Err(answered());
        }
        let folder = Self::at(path)?;
        match statfs::is_answered(folder.folder.descriptor()) {
            true => Err(answered()),
            false => Ok(folder),
        }
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

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a file of rows for its owner only if it is missing, and marks it as used now; returns its path.
    ///
    /// # Errors
    /// If it or a file that SQLite keeps beside it is not the user's own, or if the system refuses.
    pub fn make(&self, name: &str) -> io::Result<PathBuf> {
        if !self.has_own(name)? {
            self.folder.append_or_make(name).map_err(plain)?;
        }
        self.mark_used(name);
        Ok(self.path().join(name))
    }

    /// Marks a file of rows as used now; returns its path, or `None` if it is missing.
    ///
    /// # Errors
    /// As [`CacheFolder::make`].
    pub fn used(&self, name: &str) -> io::Result<Option<PathBuf>> {
        if !self.has_own(name)? {
            return Ok(None);
        }
        self.mark_used(name);
        Ok(Some(self.path().join(name)))
    }

    /// The path of an existing file of rows.
    ///
    /// # Errors
    /// `NotFound` if it is not; otherwise as [`CacheFolder::make`].
    pub fn own(&self, name: &str) -> io::Result<PathBuf> {
        match self.has_own(name)? {
            true => Ok(self.path().join(name)),
            false => Err(ErrorKind::NotFound.into()),
        }
    }

    /// True if there is a file of rows of this name. SQLite would open the files beside it whatever they are.
    fn has_own(&self, name: &str) -> io::Result<bool> {
        let mut beside = BESIDE.iter().map(|end| format!("{name}{end}"));
        beside.try_for_each(|name| self.folder.has_own(&name).map(drop).map_err(plain))?;
        self.folder.has_own(name).map_err(plain)
    }

    /// Where the time cannot be set, the file looks as old as what was written to it last.
    fn mark_used(&self, name: &str) {
        let _not_marked = self.folder.touch(name);
    }

    /// The names of all files in it.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.folder.names()
    }
}

fn plain(error: RouteError) -> io::Error {
    match error {
        RouteError::Io(error) => error,
        other => io::Error::other(other),
    }
}
