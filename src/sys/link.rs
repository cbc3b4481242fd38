//! Hard and symbolic links.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::AtFlags;
use rustix::io::{Errno, Result};

use super::fault;

/// Gives a file a further name. A symbolic link is not followed.
pub fn hard(from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::linkat(from, old, to, new, AtFlags::empty())
}

/// Gives an open file a further name, whatever its other names lead to by now.
///
/// `ENOENT` where `/proc` is not mounted, or the file has no name any more.
pub fn open_file(file: impl AsFd, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    // The short way is for administrators, and since Linux 6.10 for whoever opened the file.
    match rustix::fs::linkat(&file, c"", &to, new, AtFlags::EMPTY_PATH) {
        Err(Errno::NOENT | Errno::INVAL) => {}
        linked => return linked,
    }
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    rustix::fs::linkat(rustix::fs::CWD, path, to, new, AtFlags::SYMLINK_FOLLOW)
}

/// Makes a symbolic link that holds this text.
pub fn symbolic(text: &CStr, folder: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::symlinkat(text, folder, name)
}

/// Reads the text of a symbolic link.
pub fn read(folder: impl AsFd, name: &CStr) -> Result<Vec<u8>> {
    fault::point()?;
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Gives a symbolic link another owner.
pub fn give(folder: impl AsFd, name: &CStr, uid: u32, gid: u32) -> Result<()> {
    fault::point()?;
    let (uid, gid) = (
        rustix::fs::Uid::from_raw(uid),
        rustix::fs::Gid::from_raw(gid),
    );
    rustix::fs::chownat(
        folder,
        name,
        Some(uid),
        Some(gid),
        AtFlags::SYMLINK_NOFOLLOW,
    )
}
