//! The folder of the cache files. It belongs to the user, or the user only reads it. Nobody but its owner and root may
//! change it.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{self, Path, PathBuf};

use super::error::CacheError;
use super::refused;
use super::volume::BESIDE;
use crate::file::trust::{Distrust, User};
use crate::file::{Believed, OwnFolder, ReadableFolder, RouteError};
use crate::sys::{stat, statfs};

/// The folder of the cache.
#[derive(Debug)]
pub struct CacheFolder {
    place: Place,
    identity: Option<(u64, u64)>,
    is_answered: bool,
}

#[derive(Debug)]
enum Place {
    Own(OwnFolder),
    Read(ReadableFolder),
}

/// How a cache folder was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The default folder. It must be on a local disk, and belong to the user or to root.
    Default,
    /// The default folder, with an option that asks for a cache. It must belong to the user or to root.
    Wanted,
    /// The user named it. Unless the user is root, it may belong to anybody, who is then believed.
    Named,
}

impl Choice {
    fn believed(self) -> Believed {
        match self {
            Self::Named => Believed::ItsOwners,
            Self::Default | Self::Wanted => Believed::NobodyElses,
        }
    }
}

/// What a user may do with a file of rows.
#[derive(Debug)]
pub enum Permission {
    /// Read and write it.
    Write,
    /// Only read it, for this reason.
    Read(io::Error),
}

impl CacheFolder {
    /// Opens a folder of the user's own or root's, and creates it for its owner only if it is missing.
    ///
    /// # Errors
    /// As [`CacheFolder::chosen`].
    pub fn at(path: &Path) -> io::Result<Self> {
        Self::chosen(path, Choice::Wanted)
    }

    /// Opens it, and creates it for its owner only if it is missing.
    ///
    /// # Errors
    /// If a user who is not believed owns it or could change it, if it was named and is for other files, or if the
    /// system refuses.
    pub fn chosen(path: &Path, choice: Choice) -> io::Result<Self> {
        match choice {
            Choice::Default => Self::on_a_local_disk(path),
            Choice::Wanted => Self::made(path, choice),
            Choice::Named => {
                let folder = Self::made(path, choice)?;
                match folder.is_for_other_files() {
                    true => Err(io::Error::other(
                        "it has other files and no cache: give an empty folder or a new name",
                    )),
                    false => Ok(folder),
                }
            }
        }
    }

    /// True if it has files, none of which is a cache's. A new file system has a folder of its own in its root.
    fn is_for_other_files(&self) -> bool {
        let names = self.names().unwrap_or_default();
        let is_kept = |name: &OsString| Self::is_name_of_kept(name.as_bytes());
        !names.iter().any(is_kept) && names.iter().any(|name| name != "lost+found")
    }

    /// As [`CacheFolder::chosen`], unless a program or a server answers for the folder. The users of an SQLite file share
    /// memory, which works only on one computer.
    fn on_a_local_disk(path: &Path) -> io::Result<Self> {
        let absolute = path::absolute(path)?;
        let answered = || io::Error::other("the default cache must be on a local disk");
        let mut nearest = absolute.ancestors();
        if nearest.find_map(statfs::is_path_answered) == Some(true) {
            return Err(answered());
        }
        let folder = Self::made(path, Choice::Default)?;
        match folder.is_answered {
            true => Err(answered()),
            false => Ok(folder),
        }
    }

    fn made(path: &Path, choice: Choice) -> io::Result<Self> {
        match OwnFolder::make(path) {
            Ok(own) => Ok(Self::of(Place::Own(own))),
            Err(refused) => Self::readable(path, choice, refused),
        }
    }

    /// Opens it; `None` if it is missing.
    ///
    /// # Errors
    /// As [`CacheFolder::at`].
    pub fn existing(path: &Path, choice: Choice) -> io::Result<Option<Self>> {
        match OwnFolder::open(path) {
            Ok(own) => Ok(own.map(|own| Self::of(Place::Own(own)))),
            Err(refused) => Self::readable(path, choice, refused).map(Some),
        }
    }

    /// Opens the folder of another user for reading. Fails for the given reason if it is not another's, or missing.
    fn readable(path: &Path, choice: Choice, refusal: RouteError) -> io::Result<Self> {
        let is_anothers = matches!(
            &refusal,
            RouteError::Untrusted(untrusted) if matches!(untrusted.why, Distrust::Owner { .. })
        );
        if !is_anothers {
            return Err(refused::folder(path, refusal));
        }
        match ReadableFolder::open(path, choice.believed()) {
            Ok(folder) => Ok(Self::of(Place::Read(folder))),
            Err(RouteError::Io(error)) => Err(match error.kind() {
                ErrorKind::NotFound => refused::folder(path, refusal),
                ErrorKind::PermissionDenied => refused::closed_folder(path, refusal),
                _ => error,
            }),
            Err(error) => Err(refused::folder(path, error)),
        }
    }

    fn of(place: Place) -> Self {
        let descriptor: &OwnedFd = match &place {
            Place::Own(folder) => folder.descriptor(),
            Place::Read(folder) => folder.descriptor(),
        };
        let is = stat::descriptor(descriptor).ok();
        Self {
            identity: is.map(|is| (is.dev, is.ino)),
            is_answered: statfs::is_answered(descriptor),
            place,
        }
    }

    /// Its device and inode number.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.identity
    }

    /// True if calls for its files may never return: a program or a server answers for them, or a user who is neither
    /// this one nor root could replace them by pipes.
    pub fn may_not_answer(&self) -> bool {
        let is_a_third_users =
            matches!(&self.place, Place::Read(folder) if folder.is_a_third_users());
        self.is_answered || is_a_third_users
    }

    /// The reason why the user does not write to it, if so.
    pub fn is_read_only(&self) -> Option<String> {
        match &self.place {
            Place::Own(folder) => folder.may_write(".").err().map(|why| why.to_string()),
            Place::Read(folder) => Some(belongs_to(folder).to_string()),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::Own(folder) => folder.path(),
            Place::Read(folder) => folder.path(),
        }
    }

    /// Creates a file of rows for its owner only if it is missing, and marks it as used now; returns its path.
    ///
    /// # Errors
    /// If it or a file that SQLite keeps beside it is not the user's own, or if the system refuses.
    pub fn make(&self, name: &str) -> Result<PathBuf, CacheError> {
        let folder = match &self.place {
            Place::Own(folder) => folder,
            Place::Read(folder) => return Err(belongs_to(folder).into()),
        };
        match self.permission(name)? {
            Some(Permission::Read(why)) => return Err(why.into()),
            Some(Permission::Write) => {}
            None => drop(folder.append_or_make(name).map_err(refused::file)?),
        }
        self.mark_used(name);
        Ok(self.path().join(name))
    }

    /// What the user may do with a file of rows; `None` if it is missing.
    ///
    /// # Errors
    /// If it or a file that SQLite keeps beside it could be changed by others than its owner and root, or if the system
    /// refuses.
    pub fn permission(&self, name: &str) -> Result<Option<Permission>, CacheError> {
        // SQLite would open the files beside it whatever they are.
        let mut beside = BESIDE.iter().map(|end| format!("{name}{end}"));
        beside.try_for_each(|name| self.has(&name).map(drop))?;
        if !self.has(name)? {
            return Ok(None);
        }
        Ok(Some(match &self.place {
            Place::Own(folder) => match folder.may_write(name) {
                Ok(()) => Permission::Write,
                Err(why) => Permission::Read(why),
            },
            Place::Read(folder) => Permission::Read(belongs_to(folder)),
        }))
    }

    fn has(&self, name: &str) -> Result<bool, CacheError> {
        let has = match &self.place {
            Place::Own(folder) => folder.has_own(name),
            Place::Read(folder) => folder.has(name),
        };
        has.map_err(refused::file)
    }

    /// The path of an existing file of rows that the user may write.
    ///
    /// # Errors
    /// `NotFound` if it is missing; otherwise as [`CacheFolder::make`].
    pub fn own(&self, name: &str) -> Result<PathBuf, CacheError> {
        match self.permission(name)? {
            Some(Permission::Write) => Ok(self.path().join(name)),
            Some(Permission::Read(why)) => Err(why.into()),
            None => Err(io::Error::from(ErrorKind::NotFound).into()),
        }
    }

    /// Marks a file of rows as used now. Where the time cannot be set, the file looks as old as what was written to it
    /// last.
    pub(super) fn mark_used(&self, name: &str) {
        if let Place::Own(folder) = &self.place {
            let _not_marked = folder.touch(name);
        }
    }

    /// The names of all files in it.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        match &self.place {
            Place::Own(folder) => folder.names(),
            Place::Read(folder) => folder.names(),
        }
    }
}

/// The reason why a user does not write to this folder.
fn belongs_to(folder: &ReadableFolder) -> io::Error {
    let said = format!("it belongs to {}", User(folder.owner()));
    io::Error::new(ErrorKind::PermissionDenied, said)
}
