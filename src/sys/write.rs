//! Making new files and filling them.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, ftruncate, openat};
use rustix::io::{Errno, Result};
use rustix::ioctl::{Opcode, Updater, ioctl};

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

/// Writes over the first bytes of a file that was opened for appending, to which nothing more is appended.
pub fn over_the_beginning(fd: impl AsFd, bytes: &[u8]) -> Result<()> {
    // Otherwise Linux appends them, whatever the offset is.
    rustix::fs::fcntl_setfl(&fd, OFlags::empty())?;
    at(fd, bytes, 0)
}

/// Sets a file's length; what it gains is a hole.
pub fn set_length(fd: impl AsFd, length: u64) -> Result<()> {
    fault::point()?;
    rustix::fs::ftruncate(fd, length)
}

// `fallocate`: space on the disk before there is anything to write into it.

/// Takes space for these bytes of a file, whose length stays; `None` where the file system cannot.
///
/// # Errors
/// If there is not so much space.
pub fn beyond_the_end(fd: impl AsFd, offset: u64, length: u64) -> Result<Option<()>> {
    fault::point()?;
    loop {
        return match fallocate(&fd, FallocateFlags::KEEP_SIZE, offset, length) {
            Err(Errno::INTR) => continue,
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::FBIG)) => Err(error),
            Err(_) => Ok(None),
            Ok(()) => Ok(Some(())),
        };
    }
}

/// Gives back the space behind a file's end.
pub fn free_beyond_the_end(fd: impl AsFd) -> Result<()> {
    let length = rustix::fs::fstat(&fd)?.st_size;
    ftruncate(fd, u64::try_from(length).unwrap_or(0))
}

// `FIDEDUPERANGE`: the kernel compares two ranges under its own locks, and lets them share blocks
// if they are equal. Layout: linux/fs.h; meaning: ioctl_fideduperange(2).

const FIDEDUPERANGE: Opcode = 0xC018_9436;
const DIFFERS: i32 = 1;

#[repr(C)]
struct Request {
    source_offset: u64,
    source_length: u64,
    count: u16,
    reserved16: u16,
    reserved32: u32,
    // The one `file_dedupe_range_info` that `count` announces.
    target: i64,
    target_offset: u64,
    done: u64,
    status: i32,
    reserved: u32,
}

/// The result of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// The number of bytes from the offset on that are shared now.
    Bytes(u64),
    /// The ranges are not equal.
    Differs,
}

/// Lets `target` share up to `length` bytes of `source` at the same offset.
///
/// # Errors
/// What the kernel said: `EOPNOTSUPP`, `EINVAL` or `ENOTTY` where the file system cannot, `EXDEV`
/// across file systems.
pub fn dedupe_range(
    source: impl AsFd,
    target: impl AsFd,
    offset: u64,
    length: u64,
) -> Result<Shared> {
    fault::point()?;
    let mut request = Request {
        source_offset: offset,
        source_length: length,
        count: 1,
        reserved16: 0,
        reserved32: 0,
        target: target.as_fd().as_raw_fd().into(),
        target_offset: offset,
        done: 0,
        status: 0,
        reserved: 0,
    };
    // SAFETY: the request is a live file_dedupe_range followed by the one info that `count` announces,
    // laid out as in linux/fs.h; the kernel writes within it only. Both descriptors are borrowed.
    unsafe { ioctl(source, Updater::<FIDEDUPERANGE, _>::new(&mut request)) }?;
    match request.status {
        0 => Ok(Shared::Bytes(request.done)),
        DIFFERS => Ok(Shared::Differs),
        error => Err(Errno::from_raw_os_error(-error)),
    }
}

/// Makes a new, empty file a clone of another one; `None` where that cannot be.
pub fn clone_into_empty(new: impl AsFd, source: impl AsFd) -> Option<()> {
    fault::point().ok()?;
    rustix::fs::ioctl_ficlone(new, source).ok()
}

// Files without a name, of which nothing can be left behind.

/// Makes a file in this folder that has no name (`O_TMPFILE`), with this mode less the umask: it is gone with its last
/// descriptor, however the process ends. `None` where the file system does not know that.
pub fn without_name(folder: impl AsFd, mode: u32) -> Result<Option<OwnedFd>> {
    fault::point()?;
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    match openat(&folder, c".", flags, Mode::from_raw_mode(mode)) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => Ok(None),
        other => other.map(Some),
    }
}
