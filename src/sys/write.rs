//! Making new files and filling them.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, Result};

use super::fault;

/// Makes a file that was not there, for its owner only.
pub fn create(at: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    create_with(at, name, 0o600)
}

/// Makes a file that was not there, with this mode less the umask.
pub fn create_with(at: impl AsFd, name: &CStr, mode: u32) -> Result<OwnedFd> {
    fault::point()?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::from_raw_mode(mode))
}

/// Writes all bytes at a position.
pub fn at(fd: impl AsFd, mut bytes: &[u8], mut offset: u64) -> Result<()> {
    fault::point()?;
    while !bytes.is_empty() {
        match rustix::io::pwrite(&fd, bytes, offset) {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all bytes to the end of a file opened for appending.
pub fn append(fd: impl AsFd, mut bytes: &[u8]) -> Result<()> {
    fault::point()?;
    while !bytes.is_empty() {
        match rustix::io::write(&fd, bytes) {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sets a file's length; what it gains is a hole.
pub fn set_length(fd: impl AsFd, length: u64) -> Result<()> {
    fault::point()?;
    rustix::fs::ftruncate(fd, length)
}
