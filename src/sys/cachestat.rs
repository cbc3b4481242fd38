//! `cachestat(2)` (Linux 6.5): how much of a file is in the page cache.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};

const SYS_CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    len: u64,
}

#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

static UNSUPPORTED: AtomicBool = AtomicBool::new(false);

/// Pages of the range that are in the page cache; `None` where the kernel or the file system
/// does not tell.
pub fn cached_pages(fd: impl AsFd, offset: u64, len: u64) -> Option<u64> {
    counts(fd, offset, len).map(|counts| counts.cached)
}

/// True if pages of the file are not on the disk yet, or on their way; `None` where the kernel or the file
/// system does not tell.
pub fn is_unwritten(fd: impl AsFd) -> Option<bool> {
    // A length of 0 means up to the end.
    counts(fd, 0, 0).map(|counts| counts.dirty + counts.writeback > 0)
}

fn counts(fd: impl AsFd, offset: u64, len: u64) -> Option<Counts> {
    if UNSUPPORTED.load(Ordering::Relaxed) {
        return None;
    }
    let range = Range { offset, len };
    let mut counts = Counts::default();
    // SAFETY: both pointers are to live values of the layout in linux/mman.h, which the kernel
    // only reads (range) or fills in (counts); the descriptor is borrowed for the call.
    let done = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            fd.as_fd().as_raw_fd(),
            &raw const range,
            &raw mut counts,
            0,
        )
    };
    if done == 0 {
        return Some(counts);
    }
    if rustix::io::Errno::from_io_error(&std::io::Error::last_os_error())
        == Some(rustix::io::Errno::NOSYS)
    {
        UNSUPPORTED.store(true, Ordering::Relaxed);
    }
    None
}

/// True if this kernel has the call.
pub fn is_available() -> bool {
    // Of no file it tells nothing, but that it is there.
    if let Ok(root) = std::fs::File::open("/") {
        cached_pages(&root, 0, 1);
    }
    !UNSUPPORTED.load(Ordering::Relaxed)
}

/// Bytes in a page.
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}
