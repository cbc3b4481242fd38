//! `FS_IOC_FIEMAP`: where on its device a file's bytes lie.
//!
//! Layout: linux/fiemap.h; meaning: Documentation/filesystems/fiemap.rst.

use std::os::fd::{AsFd, AsRawFd};

const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;

/// Of a request: what is to be written is written before.
const SYNC: u32 = 0x1;

// Of an extent.
const LAST: u32 = 0x1;
const UNKNOWN: u32 = 0x2;
const INLINE: u32 = 0x200;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// Extents asked for with one call: 3.6 KB on the stack.
const MANY: usize = 64;

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
struct Request<const N: usize> {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [RawExtent; N],
}

impl<const N: usize> Default for Request<N> {
    fn default() -> Self {
        Self {
            start: 0,
            length: 0,
            flags: 0,
            mapped: 0,
            count: 0,
            reserved: 0,
            extents: [RawExtent::default(); N],
        }
    }
}

/// Byte position of the first extent at or after `offset`; `None` where there is none (holes,
/// inline data, not yet allocated) or the file system does not tell.
pub fn first_position(fd: impl AsFd, offset: u64) -> Option<u64> {
    let mut request = Request::<1> {
        start: offset,
        length: u64::MAX - offset,
        count: 1,
        ..Request::default()
    };
    let extent = ask(fd, &mut request)?.first()?;
    (extent.flags & UNKNOWN == 0 && extent.physical != 0).then_some(extent.physical)
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
    /// It lies among the metadata and takes no blocks of its own.
    pub inline: bool,
}

/// All extents of a file; `None` where the file system does not tell.
pub fn extents(fd: impl AsFd) -> Option<Vec<Extent>> {
    let mut found = Vec::new();
    let all = each(fd, u64::MAX, 0, |extent| {
        found.push(Extent {
            logical: extent.logical,
            physical: extent.physical,
            length: extent.length,
            shared: extent.flags & SHARED != 0,
            unwritten: extent.flags & UNWRITTEN != 0,
            inline: extent.flags & INLINE != 0,
        });
        true
    });
    all.then_some(found)
}

/// Where the first `size` bytes of a file lie, if all of them that are no holes lie in blocks that hold
/// them as they are and that others refer to as well. What is still to be written is written first.
///
/// Each run of bytes that lie one behind the other on the device is given once, whatever the
/// file system makes of it: where in the file, where on the device, how long. False if anything else was met, or nothing at all:
/// data in the metadata, compressed or encrypted, reserved but not written, or not yet at a place.
pub fn shared_blocks(fd: impl AsFd, size: u64, mut run: impl FnMut([u64; 3])) -> bool {
    let mut current: Option<[u64; 3]> = None;
    let all = each(fd, size, SYNC, |extent| {
        if extent.logical >= size {
            return true;
        }
        // No other flag: each says that the bytes are not there as they are, and so might a new one.
        if extent.flags & !LAST != SHARED {
            return false;
        }
        let length = extent.length.min(size - extent.logical);
        match &mut current {
            Some([logical, physical, so_far])
                if *logical + *so_far == extent.logical
                    && *physical + *so_far == extent.physical =>
            {
                *so_far += length;
            }
            _ => current
                .replace([extent.logical, extent.physical, length])
                .into_iter()
                .for_each(&mut run),
        }
        true
    });
    let any = current.is_some();
    current.into_iter().for_each(run);
    all && any
}

/// Hands the extents up to a length to `take`, as long as it returns true; false if it did not, or if the file system does not tell.
fn each(fd: impl AsFd, length: u64, flags: u32, mut take: impl FnMut(&RawExtent) -> bool) -> bool {
    let mut start = 0;
    while start < length {
        let mut request = Request::<MANY> {
            start,
            length: length - start,
            flags,
            count: MANY as u32,
            ..Request::default()
        };
        let Some(extents) = ask(&fd, &mut request) else {
            return false;
        };
        let Some(last) = extents.last() else {
            return true;
        };
        start = last.logical.saturating_add(last.length.max(1));
        if !extents.iter().all(&mut take) {
            return false;
        }
        if last.flags & LAST != 0 {
            return true;
        }
    }
    true
}

/// Has the request answered; `None` where the file system does not tell.
fn ask<const N: usize>(fd: impl AsFd, request: &mut Request<N>) -> Option<&[RawExtent]> {
    // SAFETY: the request is a live, properly laid out fiemap with room for the `N` extents that
    // `count` allows; the kernel writes within it only.
    let done = unsafe {
        libc::ioctl(
            fd.as_fd().as_raw_fd(),
            FS_IOC_FIEMAP as _,
            &raw mut *request,
        )
    };
    let mapped = (request.mapped as usize).min(N);
    (done == 0).then(|| &request.extents[..mapped])
}
