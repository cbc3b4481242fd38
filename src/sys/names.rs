//! Names in folders: links, renames, removal.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::{Errno, Result};

use super::fault;

// Hard and symbolic links.

/// Gives a file a further name. A symbolic link is not followed.
pub fn link(from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::linkat(from, old, to, new, AtFlags::empty())
}

/// Gives an open file a further name, whatever its other names lead to by now.
///
/// `ENOENT` where `/proc` is not mounted, or the file has no name any more.
pub fn link_open_file(file: impl AsFd, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    // The short way is for administrators, and since Linux 6.10 for the process that opened the file.
    match rustix::fs::linkat(&file, c"", &to, new, AtFlags::EMPTY_PATH) {
        Err(Errno::NOENT | Errno::INVAL) => {}
        linked => return linked,
    }
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    rustix::fs::linkat(rustix::fs::CWD, path, to, new, AtFlags::SYMLINK_FOLLOW)
}

/// Makes a symbolic link that holds this text.
pub fn symlink(text: &CStr, folder: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::symlinkat(text, folder, name)
}

/// Reads the text of a symbolic link. The name of one that is open is empty.
pub fn read_link(folder: impl AsFd, name: &CStr) -> Result<Vec<u8>> {
    fault::point()?;
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Opens a symbolic link itself (`O_PATH`).
pub fn open_link(folder: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    fault::point()?;
    super::open::any_handle(folder, name, false)
}

/// Gives an open file or symbolic link another owner, whatever its name leads to by now. A handle (`O_PATH`) will do.
pub fn give(file: impl AsFd, uid: u32, gid: u32) -> Result<()> {
    fault::point()?;
    let (uid, gid) = (
        rustix::fs::Uid::from_raw(uid),
        rustix::fs::Gid::from_raw(gid),
    );
    rustix::fs::chownat(file, c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH)
}

// `renameat2`: giving names, taking them, exchanging them.

/// Renames unless the new name is taken (`EEXIST`).
///
/// If the file system does not support that (`EINVAL`), the new name is looked up first. A file that gets this name
/// between the two calls is replaced. To reserve the name with an empty file would be worse: a daemon may write that
/// file back after it was closed (rclone), over the renamed one.
pub fn rename_no_replace(from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<()> {
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
pub fn rename(folder: impl AsFd, old: &CStr, new: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::renameat(&folder, old, &folder, new)
}

// `unlinkat`: taking a file's name away.

/// Takes an empty folder away, if it is there.
///
/// After an error it asks again: the reply of a server may have been lost, and the kernel may still remember a folder that
/// its server has removed, so that a look does not tell.
pub fn remove_folder(parent: impl AsFd, name: &CStr) -> Result<()> {
    let remove = || {
        fault::point()?;
        rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)
    };
    match remove() {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error @ (Errno::NOTEMPTY | Errno::EXIST)) => Err(error),
        Err(error) => match remove() {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(again @ (Errno::NOTEMPTY | Errno::EXIST)) => Err(again),
            Err(_) => Err(error),
        },
    }
}

/// Takes a name away from what is no folder.
pub fn remove(folder: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::unlinkat(folder, name, AtFlags::empty())
}
