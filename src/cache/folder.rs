//! The folder of the cache files. It belongs to the user, and nobody but the user and root may change it.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path};
use std::thread;
use std::time::{Duration, Instant};

use super::CacheError;
use crate::file::trust::Distrust;
use crate::file::{OwnFolder, RouteError};
use crate::sys::{stat, statfs, sync};

/// Time to wait for another run that indexes a file or writes it anew.
const BUSY: Duration = Duration::from_secs(5);

/// The folder of the cache.
#[derive(Debug)]
pub struct CacheFolder {
    own: OwnFolder,
    identity: Option<(u64, u64)>,
}

/// How a cache folder was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The default folder, and no option asks for a cache.
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
    /// If it is not on a local disk, if another user owns it or could change it, if the user may not write to it, if it
    /// was named and is for other files, or if the system refuses.
    pub fn chosen(path: &Path, choice: Choice) -> io::Result<Self> {
        let absolute = path::absolute(path)?;
        if absolute.ancestors().find_map(statfs::is_path_answered) == Some(true) {
            return Err(io::Error::other("a cache must be on a local disk"));
        }
        let own = OwnFolder::make(path).map_err(|error| refused(path, error))?;
        let folder = Self::of(own);
        if choice == Choice::Named && folder.is_for_other_files() {
            return Err(io::Error::other(
                "it has other files and no cache: give an empty folder or a new name",
            ));
        }
        folder.own.may_write()?;
        Ok(folder)
    }

    /// True if it has files, none of which is a cache's. A new file system has a folder of its own in its root.
    fn is_for_other_files(&self) -> bool {
        let names = self.names().unwrap_or_default();
        let is_kept = |name: &OsString| Self::is_name_of_kept(name.as_bytes());
        !names.iter().any(is_kept) && names.iter().any(|name| name != "lost+found")
    }

    /// Opens it; `None` if it is missing.
    ///
    /// # Errors
    /// If another user owns it or could change it, or if the system refuses.
    pub fn existing(path: &Path) -> io::Result<Option<Self>> {
        let own = OwnFolder::open(path).map_err(|error| refused(path, error))?;
        Ok(own.map(Self::of))
    }

    fn of(own: OwnFolder) -> Self {
        let is = stat::descriptor(own.descriptor()).ok();
        Self {
            identity: is.map(|is| (is.dev, is.ino)),
            own,
        }
    }

    /// Its device and inode number.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.identity
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.own.path()
    }

    /// Opens a file of rows with a lock, shared with other runs unless it is `exclusive`; `None` if it is missing.
    /// Waits some seconds for a shared lock: another run indexes the file, writes it anew or removes it.
    ///
    /// # Errors
    /// If it is not the user's own, is in use, or may not be written; if the system refuses.
    pub fn locked(&self, name: &str, exclusive: bool) -> Result<Option<File>, CacheError> {
        let since = Instant::now();
        loop {
            let file = match self.own.append(name) {
                Err(RouteError::Io(error)) if error.kind() == ErrorKind::NotFound => {
                    return Ok(None);
                }
                opened => opened?,
            };
            if sync::hold(&file, exclusive)? && self.leads_to(name, &file) {
                return Ok(Some(file));
            }
            if exclusive || since.elapsed() > BUSY {
                return Err(CacheError::Busy);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The same, with a shared lock, and creates the file for its owner only if it is missing.
    ///
    /// # Errors
    /// As [`CacheFolder::locked`].
    pub fn made(&self, name: &str) -> Result<File, CacheError> {
        loop {
            drop(self.own.append_or_make(name)?);
            if let Some(file) = self.locked(name, false)? {
                return Ok(file);
            }
        }
    }

    /// Marks a file of rows as used now. Where the time cannot be set, the file looks as old as what was written to it
    /// last.
    pub(super) fn mark_used(&self, name: &str) {
        let _not_marked = self.own.touch(name);
    }

    /// True if the name still leads to this file: a run that writes the file anew makes another one.
    fn leads_to(&self, name: &str, file: &File) -> bool {
        let identity = |is: Metadata| (is.dev(), is.ino());
        let there = fs::symlink_metadata(self.path().join(name)).map(identity);
        there.ok() == file.metadata().map(identity).ok()
    }

    /// The names of all files in it.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.own.names()
    }
}

/// The reason why the folder at this path is not used, for a line that names the path.
fn refused(path: &Path, error: RouteError) -> io::Error {
    let untrusted = match error {
        RouteError::Io(error) => return error,
        RouteError::Untrusted(untrusted) => untrusted,
    };
    let is_it = path::absolute(path).is_ok_and(|path| path == untrusted.path);
    let why = &untrusted.why;
    io::Error::other(match why {
        _ if !is_it => untrusted.to_string(),
        Distrust::Owner { .. } | Distrust::Writable(_) => {
            format!("it {why}; each user needs a folder of their own")
        }
        _ => format!("it {why}"),
    })
}
