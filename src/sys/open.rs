//! Opening folders and files without ever following, blocking or leaking.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, Result};

use crate::heartbeat::{OPEN_FILES, current};

/// The folder that relative paths start from.
pub use rustix::fs::CWD;

fn opened(at: impl AsFd, name: &CStr, flags: OFlags) -> Result<OwnedFd> {
    openat(at, name, flags | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a folder for listing. Does not follow a symbolic link in the last component.
pub fn folder(at: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    opened(at, name, OFlags::DIRECTORY | OFlags::NOFOLLOW)
}

/// Opens a folder for listing; a symbolic link in the last component is followed.
pub fn folder_following(at: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    opened(at, name, OFlags::DIRECTORY)
}

/// Opens a folder only as a starting point for other calls (`O_PATH`): needs no read permission.
pub fn folder_handle(at: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    opened(at, name, OFlags::PATH | OFlags::DIRECTORY)
}

/// The link of `/proc` that leads to an open file or folder.
pub fn link_to(fd: impl AsFd) -> String {
    format!("{OPEN_FILES}{}", fd.as_fd().as_raw_fd())
}

/// The path of an open file or folder as the kernel has it, without links and `..`; `None` without `/proc`.
///
/// Two descriptors of one mount with the same path are one directory entry.
pub fn path_of(fd: impl AsFd) -> Option<Vec<u8>> {
    let path = rustix::fs::readlink(link_to(fd), Vec::new()).ok()?;
    Some(path.into_bytes())
}

/// Sets the path in this thread's heartbeat to that of an open file or folder, without a call to its file system.
pub fn ask_about(fd: impl AsFd) {
    current::ask_about_what(|| path_of(fd));
}

/// Lets reads of an open file wait for bytes from now on.
pub fn let_block(fd: impl AsFd) -> Result<()> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(fd, flags.difference(OFlags::NONBLOCK))
}

/// Opens whatever a name leads to only to ask about it (`O_PATH`); nothing is read or woken.
pub fn any_handle(at: impl AsFd, name: &CStr, follow: bool) -> Result<OwnedFd> {
    opened(at, name, OFlags::PATH | last(follow))
}

/// Whether a symbolic link in the last component is followed.
fn last(follow: bool) -> OFlags {
    if follow {
        OFlags::empty()
    } else {
        OFlags::NOFOLLOW
    }
}

/// Opens a file for reading; `follow` says whether the last component may be a symbolic link.
///
/// The kernel is asked not to touch the access time (`O_NOATIME`). Only a file's owner and privileged processes may;
/// where that is refused, the file is opened without it.
///
/// `O_NONBLOCK` makes sure that a FIFO which took a regular file's place since the scan does not
/// block the open; reads of regular files do not know the flag. While another program gives a lease on the file back,
/// the kernel refuses such an open with `EAGAIN`: it is repeated for a moment.
pub fn file(at: impl AsFd, name: &CStr, follow: bool) -> Result<OwnedFd> {
    super::fault::point()?;
    for _ in 0..LEASE_ATTEMPTS {
        match file_once(&at, name, follow) {
            Err(Errno::AGAIN) => std::thread::sleep(LEASE_PAUSE),
            other => return other,
        }
    }
    file_once(at, name, follow)
}

/// How often, and with what pause, an open is repeated while a lease is given back.
const LEASE_ATTEMPTS: u32 = 2;
const LEASE_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// The error of a failed open, in words: `EAGAIN` comes only from a lease that is not given back.
pub fn error(error: Errno) -> std::io::Error {
    match error {
        Errno::AGAIN => std::io::Error::new(
            std::io::ErrorKind::WouldBlock,
            "it is in use by another program, which holds a lease on it",
        ),
        error => error.into(),
    }
}

fn file_once(at: impl AsFd, name: &CStr, follow: bool) -> Result<OwnedFd> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | last(follow);
    match opened(&at, name, flags | OFlags::NOATIME) {
        Err(Errno::PERM) => opened(&at, name, flags),
        other => other,
    }
}

/// Opens what is there for appending, so that what another program has written there stays.
pub fn for_appending(at: impl AsFd, name: &CStr, follow: bool) -> Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOCTTY;
    opened(at, name, flags | last(follow))
}

/// Opens a regular file for writing and leaves it as it is: the way to learn if that is allowed.
pub fn for_writing(at: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    // O_NONBLOCK: a FIFO may have taken its place.
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    opened(at, name, flags | OFlags::NOFOLLOW)
}
