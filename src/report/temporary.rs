//! The file in which a result grows, until it gets its own name.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::output_error::Cause;
use super::place::OutputPlace;
use crate::sys::stat::{self, Stat};
use crate::sys::{names, open, statfs, write};

/// The state of a file that a result replaces.
#[derive(Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Device and inode number; `None` where an unchanged file may get another number.
    number: Option<(u64, u64)>,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

impl Earlier {
    /// The state now; `None` if there is no file.
    pub fn at(place: &OutputPlace) -> Result<Option<Self>, Errno> {
        let now = match stat::fresh_entry(&place.folder, &place.name) {
            Err(Errno::NOENT) => return Ok(None),
            now => now?,
        };
        Ok(Some(Self {
            number: (!statfs::may_renumber(&place.folder)).then_some((now.dev, now.ino)),
            size: now.size,
            mtime_ns: now.mtime_ns,
            ctime_ns: now.ctime_ns,
        }))
    }
}

/// A file beside the place of a result, which goes with the value unless it gets that name. Where the file system can,
/// it has no name until then, and nothing is left of it however the process ends.
#[derive(Debug)]
pub struct Temporary {
    /// Where the result goes.
    pub place: OutputPlace,
    earlier: Option<Earlier>,
    name: CString,
    is_there: bool,
}

impl Temporary {
    /// Makes one, for its owner or as the mode says.
    pub fn beside(
        place: OutputPlace,
        earlier: Option<Earlier>,
        mode: u32,
    ) -> Result<(Self, OwnedFd), Cause> {
        let random = RandomState::new().hash_one(mode);
        let name = CString::new(format!(".seekless-{random:016x}")).unwrap_or_default();
        let (file, is_there) = match unnamed(&place, mode)? {
            Some(file) => (file, false),
            None => (write::create_with(&place.folder, &name, mode)?, true),
        };
        let temporary = Self {
            place,
            earlier,
            name,
            is_there,
        };
        Ok((temporary, file))
    }

    /// Gives the file the name of the place, if that name is still free or still that of the earlier file.
    pub fn replace(&mut self, file: &File) -> Result<(), Cause> {
        let place = &self.place;
        if !self.is_there {
            names::link_open_file(file, &place.folder, &self.name)?;
            self.is_there = true;
        }
        let now = Earlier::at(place)?;
        let done = match &now {
            None => names::rename_no_replace(&place.folder, &self.name, &place.folder, &place.name),
            Some(_) if now == self.earlier => names::rename(&place.folder, &self.name, &place.name),
            Some(_) => Err(Errno::EXIST),
        };
        if done.is_err_and(|error| error != Errno::EXIST) {
            return Ok(done?);
        }
        self.is_there = false;
        if done.is_err() {
            let folder = open::path_of(&place.folder).unwrap_or_default();
            let folder = PathBuf::from(OsString::from_vec(folder));
            let name = OsStr::from_bytes(self.name.to_bytes());
            return Err(Cause::Changed(folder.join(name)));
        }
        let is_ours = |file: &Stat| {
            let now = stat::entry(&place.folder, &place.name);
            now.is_ok_and(|now| (now.dev, now.ino) == (file.dev, file.ino))
        };
        if place.is_safe() || is_ours(&stat::descriptor(file)?) {
            Ok(())
        } else {
            Err(Cause::Replaced)
        }
    }
}

/// A file without a name; `None` if there can be none, or none that gets a name at the end.
fn unnamed(place: &OutputPlace, mode: u32) -> Result<Option<OwnedFd>, Errno> {
    if Path::new("/proc/self/fd").exists() {
        write::without_name(&place.folder, mode)
    } else {
        Ok(None)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.is_there {
            let _ = names::remove(&self.place.folder, &self.name);
        }
    }
}
