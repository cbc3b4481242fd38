//! Where a report goes: a name in an opened folder, found through no link that another user may have made.
//!
//! The path is resolved once, part by part. After that only the name in the opened folder counts, so nobody can
//! swap a folder of the path for another one.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::error::Cause;
use crate::file::trust;
use crate::sys::attributes::{self, Attributes};
use crate::sys::stat::Stat;
use crate::sys::way::{PathPart, Way};
use crate::sys::{open, statfs};

/// Where a path leads.
#[derive(Debug)]
pub enum Found {
    /// To a name in a folder.
    Name(OutputPlace),
    /// To a file that some process has open already: `/dev/stdout`, `/dev/fd/3`.
    Open(OwnedFd),
}

/// A name in a folder that stays open.
#[derive(Debug)]
pub struct OutputPlace {
    /// The folder, as a starting point for calls.
    pub folder: OwnedFd,
    /// Its access rights.
    pub access: Attributes,
    /// The name in it.
    pub name: CString,
    /// The existing file of that name, which is neither a folder nor a symbolic link.
    pub existing: Option<(Stat, Attributes)>,
}

impl OutputPlace {
    /// True if nobody but this user and root can give this name to something else.
    pub fn is_safe(&self) -> bool {
        trust::only_we_write(&self.folder, &self.access)
    }
}

/// Finds the folder and the name that a path leads to.
pub fn find(path: &Path) -> Result<Found, Cause> {
    let mut way = Way::to(path.as_os_str().as_bytes())?;
    while let Some(name) = way.part() {
        let is_last = way.left() == 0;
        let part = match way.look(&name) {
            Err(Errno::NOENT) if is_last => return in_folder(way, name, None),
            part => part?,
        };
        match part.stat.kind {
            FileType::Directory => way.enter(&name, part.handle),
            FileType::Symlink if statfs::is_proc(&part.handle) => {
                if is_last {
                    let file = open::for_appending(way.here(), &name, true)?;
                    return Ok(Found::Open(file));
                }
                let folder = open::folder_handle(way.here(), &name)?;
                way.enter(&name, folder);
            }
            FileType::Symlink => follow(&mut way, &name, &part)?,
            _ if !is_last => return Err(Errno::NOTDIR.into()),
            _ => return in_folder(way, name, Some((part.stat, part.access))),
        }
    }
    Err(Errno::ISDIR.into())
}

/// Goes on where a link leads, unless another user may have made it.
fn follow(way: &mut Way, name: &CStr, part: &PathPart) -> Result<(), Cause> {
    let folder = attributes::get(way.here())?;
    if !trust::link_is_ours(way.here(), &folder, &part.stat, &part.access) {
        let name = OsStr::from_bytes(name.to_bytes());
        return Err(Cause::Link(way.shown().join(name)));
    }
    Ok(way.follow(part)?)
}

fn in_folder(
    way: Way,
    name: CString,
    existing: Option<(Stat, Attributes)>,
) -> Result<Found, Cause> {
    let folder = way.into_here();
    Ok(Found::Name(OutputPlace {
        access: attributes::get(&folder)?,
        folder,
        name,
        existing,
    }))
}
