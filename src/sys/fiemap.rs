//! `FS_IOC_FIEMAP`: where on its device a file's bytes lie.
//!
//! Layout: linux/fiemap.h; meaning: Documentation/filesystems/fiemap.rst.

use std::os::fd::{AsFd, AsRawFd};

const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
const UNKNOWN: u32 = 0x2;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
#[derive(Default)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [RawExtent; 1],
}

/// Byte position of the first extent at or after `offset`; `None` where there is none (holes,
/// inline data, not yet allocated) or the file system does not tell.
pub fn first_position(fd: impl AsFd, offset: u64) -> Option<u64> {
    let mut request = Request {
        start: offset,
        length: u64::MAX - offset,
        count: 1,
        ..Request::default()
    };
    // SAFETY: the request is a live, properly laid out fiemap with room for the one extent that
    // `count` allows; the kernel writes within it only.
    let done = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut request) };
    let extent = request.extents[0];
    (done == 0 && request.mapped == 1 && extent.flags & UNKNOWN == 0 && extent.physical != 0)
        .then_some(extent.physical)
}

/// A run of a file's bytes on its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where in the file it begins, bytes.
    pub logical: u64,
    /// Where it lies on the device, bytes.
    pub physical: u64,
    /// How long it is, bytes.
    pub length: u64,
    /// Other files refer to it too.
    pub shared: bool,
    /// It is reserved only: reading it gives zeros and does not touch the device.
    pub unwritten: bool,
}

const SHARED: u32 = 0x2000;
const UNWRITTEN: u32 = 0x800;
const LAST: u32 = 0x1;

/// All extents of a file; `None` where the file system does not tell.
pub fn extents(fd: impl AsFd) -> Option<Vec<Extent>> {
    let mut found = Vec::new();
    let mut start = 0;
    loop {
        let mut request = Request {
            start,
            length: u64::MAX - start,
            count: 1,
            ..Request::default()
        };
        // SAFETY: as in `first_position`.
        let done =
            unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut request) };
        if done != 0 {
            return None;
        }
        let extent = request.extents[0];
        if request.mapped == 0 || extent.length == 0 {
            return Some(found);
        }
        found.push(Extent {
            logical: extent.logical,
            physical: extent.physical,
            length: extent.length,
            shared: extent.flags & SHARED != 0,
            unwritten: extent.flags & UNWRITTEN != 0,
        });
        start = extent.logical + extent.length;
        if extent.flags & LAST != 0 {
            return Some(found);
        }
    }
}
