//! The file in which a report grows, until it gets its own name.

use std::ffi::{CString, OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::output_error::Cause;
use super::place::OutputPlace;
use crate::sys::{names, open, stat, statfs, write};

/// The state of a file that a report replaces.
#[derive(Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Device and inode number; `None` where an unchanged file may get another number.
    number: Option<(u64, u64)>,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

impl Earlier {
    /// The state now.
    pub fn at(place: &OutputPlace) -> Result<Self, Errno> {
        let now = stat::fresh_entry(&place.folder, &place.name)?;
        Ok(Self {
            number: (!statfs::may_renumber(&place.folder)).then_some((now.dev, now.ino)),
            size: now.size,
            mtime_ns: now.mtime_ns,
            ctime_ns: now.ctime_ns,
        })
    }
}

/// A file beside the report, which goes with the value unless it gets the report's name. Where the file system can, it
/// has no name until then, and nothing is left of it however the process ends.
#[derive(Debug)]
pub struct Temporary {
    folder: OwnedFd,
    file: OwnedFd,
    name: CString,
    is_there: bool,
}

impl Temporary {
    /// Makes one, for its owner or as the mode says.
    pub fn beside(place: &OutputPlace, mode: u32) -> Result<(Self, OwnedFd), Cause> {
        const TRIES: u32 = 100;
        let mut last = Errno::EXIST;
        for number in 0..TRIES {
            let random = RandomState::new().hash_one(number);
            let name = CString::new(format!(".seekless-{random:016x}")).unwrap_or_default();
            let made = match unnamed(place, mode)? {
                Some(file) => Ok((file, false)),
                None => write::create_with(&place.folder, &name, mode).map(|file| (file, true)),
            };
            match made {
                Ok((file, is_there)) => {
                    let temporary = Self {
                        folder: rustix::io::fcntl_dupfd_cloexec(&place.folder, 0)?,
                        file: rustix::io::fcntl_dupfd_cloexec(&file, 0)?,
                        name,
                        is_there,
                    };
                    return Ok((temporary, file));
                }
                Err(Errno::EXIST) => {}
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
        Err(last.into())
    }

    /// Gives the file the name of the place, if that name is still free or still that of the earlier file.
    pub fn replace(mut self, place: &OutputPlace, earlier: Option<&Earlier>) -> Result<(), Cause> {
        if !self.is_there {
            names::link_open_file(&self.file, &self.folder, &self.name)?;
            self.is_there = true;
        }
        let now = match Earlier::at(place) {
            Ok(now) => Some(now),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let done = match &now {
            None => names::rename_no_replace(&self.folder, &self.name, &self.folder, &place.name),
            Some(_) if now.as_ref() == earlier => {
                names::rename(&self.folder, &self.name, &place.name)
            }
            Some(_) => Err(Errno::EXIST),
        };
        match done {
            Ok(()) => self.is_there = false,
            Err(Errno::EXIST) => {
                self.is_there = false;
                let folder = open::path_of(&self.folder).unwrap_or_default();
                let folder = PathBuf::from(OsString::from_vec(folder));
                let name = OsStr::from_bytes(self.name.to_bytes());
                return Err(Cause::Changed(folder.join(name)));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// A file without a name; `None` if there can be none, or none that gets a name at the end.
fn unnamed(place: &OutputPlace, mode: u32) -> Result<Option<OwnedFd>, Errno> {
    match Path::new("/proc/self/fd").exists() {
        true => write::without_name(&place.folder, mode),
        false => Ok(None),
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.is_there {
            let _ = names::remove(&self.folder, &self.name);
        }
    }
}
