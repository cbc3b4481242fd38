//! `renameat2`: giving names, taking them, exchanging them.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::RenameFlags;
use rustix::io::{Errno, Result};

use super::fault;

/// Renames unless the new name is taken (`EEXIST`).
///
/// If the file system does not support that (`EINVAL`), the new name is looked up first. A file that gets this name
/// between the two calls is replaced. To reserve the name with an empty file would be worse: a daemon may write that
/// file back after it was closed (rclone), over the renamed one.
pub fn no_replace(from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    match rustix::fs::renameat_with(&from, old, &to, new, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => match super::stat::fresh_entry(&to, new) {
            Err(Errno::NOENT) => rustix::fs::renameat(from, old, to, new),
            Ok(_) => Err(Errno::EXIST),
            Err(error) => Err(error),
        },
        done => done,
    }
}

/// Exchanges two names of one folder at once; `None` where the file system cannot.
pub fn exchange(folder: impl AsFd, one: &CStr, other: &CStr) -> Result<Option<()>> {
    fault::point()?;
    match rustix::fs::renameat_with(&folder, one, &folder, other, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(None),
        done => done.map(Some),
    }
}

/// Renames within a folder; what had the new name loses it.
pub fn replace(folder: impl AsFd, old: &CStr, new: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::renameat(&folder, old, &folder, new)
}
