//! `XFS_IOC_FSGEOMETRY`: what an XFS can do.

use std::os::fd::{AsFd, AsRawFd};

/// Version 4 of the answer, which every kernel with reflinks gives.
const XFS_IOC_FSGEOMETRY_V4: libc::c_ulong = 0x8070_587C;

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
pub fn shares_blocks(fd: impl AsFd) -> bool {
    let mut geometry = Geometry::default();
    // SAFETY: the geometry is live and laid out as the structure whose size, 112 bytes, is part of
    // the request's number; the kernel writes within it only.
    let done = unsafe {
        libc::ioctl(
            fd.as_fd().as_raw_fd(),
            XFS_IOC_FSGEOMETRY_V4 as _,
            &raw mut geometry,
        )
    };
    done == 0 && geometry.flags & REFLINK != 0 && geometry.realtime_blocks == 0
}

const _: () = assert!(size_of::<Geometry>() == 112);
