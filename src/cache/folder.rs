//! The folder of the cache files. It belongs to the user, and nobody but the user and root may change it.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{self, Path, PathBuf};

use super::error::CacheError;
use super::refused;
use super::volume::BESIDE;
use crate::file::OwnFolder;
use crate::sys::{stat, statfs};

/// The folder of the cache.
#[derive(Debug)]
pub struct CacheFolder {
    own: OwnFolder,
    identity: Option<(u64, u64)>,
    is_answered: bool,
}

/// How a cache folder was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The default folder, and no option asks for a cache. It must be on a local disk.
    Default,
    /// An option asks for a cache.
    Named,
}

impl CacheFolder {
    /// Opens a folder that an option asks for, and creates it for its owner only if it is missing.
    ///
    /// # Errors
    /// As [`CacheFolder::chosen`].
    pub fn at(path: &Path) -> io::Result<Self> {
        Self::chosen(path, Choice::Named)
    }

    /// Opens it, and creates it for its owner only if it is missing.
    ///
    /// # Errors
    /// If another user owns it or could change it, if the user may not write to it, if it was named and is for other
    /// files, or if the system refuses.
    pub fn chosen(path: &Path, choice: Choice) -> io::Result<Self> {
        let folder = match choice {
            Choice::Default => Self::on_a_local_disk(path)?,
            Choice::Named => Self::made(path)?,
        };
        if choice == Choice::Named && folder.is_for_other_files() {
            return Err(io::Error::other(
                "it has other files and no cache: give an empty folder or a new name",
            ));
        }
        folder.own.may_write(".")?;
        Ok(folder)
    }

    /// True if it has files, none of which is a cache's. A new file system has a folder of its own in its root.
    fn is_for_other_files(&self) -> bool {
        let names = self.names().unwrap_or_default();
        let is_kept = |name: &OsString| Self::is_name_of_kept(name.as_bytes());
        !names.iter().any(is_kept) && names.iter().any(|name| name != "lost+found")
    }

    /// As [`Self::made`], unless a program or a server answers for the folder. The users of an SQLite file share memory,
    /// which works only on one computer.
    fn on_a_local_disk(path: &Path) -> io::Result<Self> {
        let absolute = path::absolute(path)?;
        let answered = || io::Error::other("the default cache must be on a local disk");
        let mut nearest = absolute.ancestors();
        if nearest.find_map(statfs::is_path_answered) == Some(true) {
            return Err(answered());
        }
        let folder = Self::made(path)?;
        if folder.is_answered {
            return Err(answered());
        }
        Ok(folder)
    }

    fn made(path: &Path) -> io::Result<Self> {
        let own = OwnFolder::make(path).map_err(|error| refused::folder(path, error))?;
        Ok(Self::of(own))
    }

    /// Opens it; `None` if it is missing.
    ///
    /// # Errors
    /// If another user owns it or could change it, or if the system refuses.
    pub fn existing(path: &Path) -> io::Result<Option<Self>> {
        let own = OwnFolder::open(path).map_err(|error| refused::folder(path, error))?;
        Ok(own.map(Self::of))
    }

    fn of(own: OwnFolder) -> Self {
        let is = stat::descriptor(own.descriptor()).ok();
        Self {
            identity: is.map(|is| (is.dev, is.ino)),
            is_answered: statfs::is_answered(own.descriptor()),
            own,
        }
    }

    /// Its device and inode number.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.identity
    }

    /// True if calls for its files may never return: a program or a server answers for them.
    pub fn may_not_answer(&self) -> bool {
        self.is_answered
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.own.path()
    }

    /// Creates a file of rows for its owner only if it is missing, and marks it as used now; returns its path.
    ///
    /// # Errors
    /// As [`CacheFolder::has`].
    pub fn make(&self, name: &str) -> Result<PathBuf, CacheError> {
        if !self.has(name)? {
            drop(self.own.append_or_make(name).map_err(refused::file)?);
        }
        self.mark_used(name);
        Ok(self.path().join(name))
    }

    /// True if there is a file of rows of this name.
    ///
    /// # Errors
    /// If it or a file that SQLite keeps beside it is not the user's own, if the user may not write it, or if the system
    /// refuses.
    pub fn has(&self, name: &str) -> Result<bool, CacheError> {
        // SQLite would open the files beside it whatever they are.
        for end in BESIDE {
            self.has_own(&format!("{name}{end}"))?;
        }
        let has = self.has_own(name)?;
        if has {
            self.own.may_write(name)?;
        }
        Ok(has)
    }

    fn has_own(&self, name: &str) -> Result<bool, CacheError> {
        self.own.has_own(name).map_err(refused::file)
    }

    /// The path of an existing file of rows.
    ///
    /// # Errors
    /// `NotFound` if it is missing; otherwise as [`CacheFolder::has`].
    pub fn own(&self, name: &str) -> Result<PathBuf, CacheError> {
        if self.has(name)? {
            Ok(self.path().join(name))
        } else {
            Err(io::Error::from(ErrorKind::NotFound).into())
        }
    }

    /// Marks a file of rows as used now. Where the time cannot be set, the file looks as old as what was written to it
    /// last.
    pub(super) fn mark_used(&self, name: &str) {
        let _not_marked = self.own.touch(name);
    }

    /// The names of all files in it.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.own.names()
    }
}
