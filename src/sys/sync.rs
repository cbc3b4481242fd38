//! Waiting until what was written would survive a loss of power.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, Result};

use super::fault;

/// A file's bytes and metadata.
pub fn file(fd: impl AsFd) -> Result<()> {
    fault::point()?;
    rustix::fs::fsync(fd)
}

/// The names in a folder that was opened as a starting point only.
///
/// A folder that may not be read, or a file system that has nothing to wait for, is no error.
pub fn folder(at: impl AsFd) -> Result<()> {
    fault::point()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let synced = openat(at, c".", flags, Mode::empty()).and_then(rustix::fs::fsync);
    match synced {
        Err(Errno::ACCESS | Errno::INVAL | Errno::NOTSUP) => Ok(()),
        done => done,
    }
}

/// All that was ever written to the file system that holds this descriptor's file.
pub fn whole(fd: impl AsFd) -> Result<()> {
    fault::point()?;
    rustix::fs::syncfs(fd)
}

/// Locks a file for this process alone; `false` if another has it.
pub fn lock(fd: impl AsFd) -> Result<bool> {
    match rustix::fs::flock(fd, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        // A file system without locks: two at a time are then the user's affair.
        Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) | Ok(()) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Locks a file or folder for this process alone, or together with others that share it; `false` if others do
/// not let us.
pub fn hold(fd: impl AsFd, exclusive: bool) -> Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    let how = match exclusive {
        true => FlockOperation::NonBlockingLockExclusive,
        false => FlockOperation::NonBlockingLockShared,
    };
    match flock(fd, how) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        held => held.map(|()| true),
    }
}

/// True if another process has this file [locked](lock).
pub fn is_locked(fd: impl AsFd) -> bool {
    use rustix::fs::{FlockOperation, flock};
    match flock(&fd, FlockOperation::NonBlockingLockShared) {
        Err(error) => error == Errno::WOULDBLOCK,
        Ok(()) => {
            let _ = flock(&fd, FlockOperation::Unlock);
            false
        }
    }
}

/// Opens a folder's file for reading and appending, making it if `new`.
pub fn journal(at: impl AsFd, name: &CStr, new: bool) -> Result<std::os::fd::OwnedFd> {
    fault::point()?;
    let mut flags = OFlags::RDWR | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    if new {
        flags |= OFlags::CREATE | OFlags::EXCL;
    }
    openat(at, name, flags, Mode::from_raw_mode(0o600))
}
