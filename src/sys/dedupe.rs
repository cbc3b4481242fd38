//! `FIDEDUPERANGE`: the kernel compares two ranges under its own locks, and lets them share blocks
//! if they are equal. Layout: linux/fs.h; meaning: ioctl_fideduperange(2).

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::{Errno, Result};

use super::fault;

const FIDEDUPERANGE: libc::c_ulong = 0xC018_9436;
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

/// What the kernel found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// So many bytes from the offset on are shared now.
    Bytes(u64),
    /// The ranges are not equal.
    Differs,
}

/// Lets `target` share up to `length` bytes of `source` at the same offset.
///
/// # Errors
/// What the kernel said: `EOPNOTSUPP`, `EINVAL` or `ENOTTY` where the file system cannot, `EXDEV`
/// across file systems.
pub fn range(source: impl AsFd, target: impl AsFd, offset: u64, length: u64) -> Result<Shared> {
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
    let done = unsafe {
        libc::ioctl(
            source.as_fd().as_raw_fd(),
            FIDEDUPERANGE as _,
            &raw mut request,
        )
    };
    if done != 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
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
