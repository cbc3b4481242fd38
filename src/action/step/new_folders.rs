//! Folders that a step creates on the path to its destination, or in a trash. They are for their owner only: what is put
//! there is never more open than it was.
//!
//! The record of the step has the number of folders that were missing above its destination. Whoever takes the step back
//! removes so many, if they are empty.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::action::failure::{failed, failure_with};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::{NameInFolder, join, nearest, parent as above};
use crate::heartbeat::current;
use crate::sys::{attributes, dirent, names, open, parent, sync};

/// Opens the folder with this absolute path, and creates missing folders on the path; follows no link. If root guards a
/// file of the `guarded` owner, nobody else may change the folders that are there.
pub fn open_or_make(path: &[u8], guarded: Option<u32>) -> Result<OwnedFd, Reason> {
    const CREATE: &str = "create the destination folder";
    let mut ways = Ways::default();
    let mut closed = |path: &[u8]| match guarded {
        Some(owner) if !ways.is_closed(path, owner) => {
            let doing = format!("move it into {}", String::from_utf8_lossy(path));
            Err(Code::SharedDestination.with(Facts::refused(&doing, &Errno::PERM.into())))
        }
        _ => Ok(()),
    };
    current::ask_about(path);
    let (mut at, there) = nearest(path).map_err(failed("open the destination folder"))?;
    closed(there)?;
    // What is put there must be free to be taken back.
    let now = attributes::get(&at).map_err(failed("open the destination folder"))?;
    if now.immutable || now.append_only {
        let hint = "the destination folder is immutable or append-only: run chattr -ia on it";
        return Err(failure_with("move it there", Errno::PERM, hint));
    }
    let mut here = there.to_vec();
    let missing = path[there.len()..].split(|&byte| byte == b'/');
    for part in missing.filter(|part| !part.is_empty()) {
        here = join(&here, part);
        current::ask_about(&here);
        let name = CString::new(part).map_err(|_| failed(CREATE)(Errno::INVAL))?;
        let is_new = parent::make_folder(&at, &name, 0o700).map_err(failed(CREATE))?;
        let next = parent::step(&at, &name).map_err(failed("open the folder"))?;
        if !is_new {
            closed(&here)?;
        }
        sync::folder(&at).map_err(failed(CREATE))?;
        at = next;
    }
    Ok(at)
}

/// The number of missing folders above this absolute path.
pub fn missing_above(path: &[u8]) -> usize {
    let there = nearest(above(path)).map_or(path.len(), |(_, there)| there.len());
    let ends = path.iter().skip(there + 1);
    ends.filter(|&&byte| byte == b'/').count()
}

/// Removes these folders, each before the one above it, up to one that is not empty.
pub fn remove<'a>(folders: impl Iterator<Item = &'a [u8]>) {
    for path in folders {
        current::ask_about(path);
        let removed =
            NameInFolder::of(path).map(|place| names::remove_folder(&place.folder, &place.name));
        if matches!(removed, Ok(Err(error)) if error != Errno::NOENT) {
            return;
        }
    }
}

/// True if one of these folders is there, and empty.
pub fn are_left<'a>(mut folders: impl Iterator<Item = &'a [u8]>) -> bool {
    folders.any(|path| {
        let folder = parent::open(path).and_then(|folder| open::folder(&folder, c"."));
        folder.is_ok_and(|folder| dirent::is_empty(&folder) == Ok(true))
    })
}
