//! Where the bytes of a file lie: extents, blocks that files share, data and holes.

use std::os::fd::AsFd;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};

// `FS_IOC_FIEMAP`: where on its device a file's bytes lie.
//
// Layout: linux/fiemap.h; meaning: Documentation/filesystems/fiemap.rst.

const FS_IOC_FIEMAP: Opcode = 0xC020_660B;

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

/// A run of a file's bytes on its device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Where in the file it begins, bytes.
    pub logical: u64,
    /// Where it lies on the device, bytes.
    pub physical: u64,
    /// How long it is, bytes.
    pub length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

impl Extent {
    /// True if other files refer to it too.
    pub fn is_shared(&self) -> bool {
        self.flags & SHARED != 0
    }

    /// True if it is reserved only: reading it gives zeros and does not touch the device.
    pub fn is_unwritten(&self) -> bool {
        self.flags & UNWRITTEN != 0
    }

    /// True if it lies among the metadata and takes no blocks of its own.
    pub fn is_inline(&self) -> bool {
        self.flags & INLINE != 0
    }
}

#[repr(C)]
struct Request<const N: usize> {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; N],
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
            extents: [Extent::default(); N],
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
    let first = ask(fd, &mut request)?.first()?;
    (first.flags & UNKNOWN == 0 && first.physical != 0).then_some(first.physical)
}

/// All extents of a file; `None` where the file system does not tell.
pub fn extents(fd: impl AsFd) -> Option<Vec<Extent>> {
    let mut found = Vec::new();
    let all = each(fd, u64::MAX, 0, |extent| {
        found.push(*extent);
        true
    });
    all.then_some(found)
}

/// Where the first `size` bytes of a file lie, if all of them that are no holes lie in blocks that hold
/// them as they are and that others refer to as well. What is still to be written is written first.
///
/// Each run of bytes that lie one behind the other on the device is given once, whatever the
/// file system makes of it: where in the file, where on the device, how long. False if anything else was met, or
/// nothing at all: data in the metadata, compressed or encrypted, reserved but not written, or not yet at a place.
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

/// Hands the extents up to a length to `take`, as long as it returns true; false if it did not, or if the file system
/// does not tell.
fn each(fd: impl AsFd, length: u64, flags: u32, mut take: impl FnMut(&Extent) -> bool) -> bool {
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
fn ask<const N: usize>(fd: impl AsFd, request: &mut Request<N>) -> Option<&[Extent]> {
    // SAFETY: the request is a live, properly laid out fiemap with room for the `N` extents that
    // `count` allows; the kernel writes within it only.
    unsafe { ioctl(fd, Updater::<FS_IOC_FIEMAP, _>::new(request)) }.ok()?;
    let mapped = (request.mapped as usize).min(N);
    Some(&request.extents[..mapped])
}

// `SEEK_DATA` and `SEEK_HOLE`: where a file has bytes of its own.
//
// They move the descriptor's position, which reads with `pread` do not use.

/// Bytes that follow one another and are all of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOrHole {
    /// Reading them gives zeros, and none is stored.
    pub is_hole: bool,
    /// Where they end, bytes; beyond the file's end if nothing else follows.
    pub end: u64,
}

/// The data or hole at this offset; `None` where the file system does not tell.
pub fn data_or_hole_at(fd: impl AsFd, offset: u64) -> Option<DataOrHole> {
    super::fault::point().ok()?;
    let is_hole = match seek(&fd, SeekFrom::Data(offset)) {
        Ok(data) if data > offset => Some(data),
        Ok(_) => None,
        // Nothing follows, or the file has become shorter than that.
        Err(Errno::NXIO) => Some(u64::MAX),
        Err(_) => return None,
    };
    let end = match is_hole {
        Some(end) => end,
        None => seek(&fd, SeekFrom::Hole(offset)).ok()?,
    };
    Some(DataOrHole {
        is_hole: is_hole.is_some(),
        end,
    })
}

// `XFS_IOC_FSGEOMETRY`: what an XFS can do.

/// Version 4 of the answer, which every kernel with reflinks gives.
const XFS_IOC_FSGEOMETRY_V4: Opcode = 0x8070_587C;

/// The file system can share blocks between files (`XFS_FSOP_GEOM_FLAGS_REFLINK`).
const REFLINK: u32 = 1 << 20;

/// `struct xfs_fsop_geom_v4` of xfs_fs.h.
#[repr(C)]
#[derive(Default)]
struct Geometry {
    sizes: [u32; 8],
    data_blocks: u64,
    realtime_blocks: u64,
    realtime_extents: u64,
    log_start: u64,
    uuid: [u8; 16],
    stripe: [u32; 2],
    version: i32,
    flags: u32,
    more: [u32; 4],
}

/// True if the file of this descriptor is on an XFS whose files can share blocks, all of them on one device:
/// positions on a realtime device would look like positions on the other.
pub fn xfs_shares_blocks(fd: impl AsFd) -> bool {
    let mut geometry = Geometry::default();
    // SAFETY: the geometry is live and laid out as the structure whose size, 112 bytes, is part of
    // the request's number; the kernel writes within it only.
    let done = unsafe { ioctl(fd, Updater::<XFS_IOC_FSGEOMETRY_V4, _>::new(&mut geometry)) };
    done.is_ok() && geometry.flags & REFLINK != 0 && geometry.realtime_blocks == 0
}

const _: () = assert!(size_of::<Geometry>() == 112);
