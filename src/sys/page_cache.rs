//! The page cache: what of a file is in it, and hints about reads to come.

use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

// `cachestat(2)` (Linux 6.5): how much of a file is in the page cache.

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

/// True if pages of the range are not on the disk yet, or on their way; a length of 0 bytes means up to the end. `None`
/// where the kernel or the file system does not tell, and for files that this user neither owns nor may write to.
pub fn is_unwritten(fd: impl AsFd, offset: u64, len: u64) -> Option<bool> {
    counts(fd, offset, len).map(|counts| counts.dirty + counts.writeback > 0)
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

/// Bytes in a page.
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

// `mincore(2)`: how much of a file is in the page cache, for kernels without `cachestat`.

/// Bytes looked at with one mapping, so that the answer's memory is bounded.
const WINDOW: u64 = 1 << 30;

/// Pages of the range that are in the page cache, also if the file is one of an overlay. `cachestat` finds none there:
/// the pages belong to the file of the layer below. `None` for files of other users, about which `mincore` says
/// nothing.
pub fn cached_pages_of_layer(fd: impl AsFd, offset: u64, len: u64) -> Option<u64> {
    let owner = rustix::fs::fstat(&fd).ok()?.st_uid;
    let user = rustix::process::geteuid();
    (user.is_root() || user.as_raw() == owner)
        .then(|| resident_pages(fd, offset, len))
        .flatten()
}

/// Pages of the range that are in the page cache; `None` where the kernel does not tell.
///
/// Since Linux 5.2 it tells only the file's owner and those who may write to it; to others every
/// page seems to be cached.
pub fn resident_pages(fd: impl AsFd, offset: u64, len: u64) -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    let mut at = offset / page * page;
    let end = offset.checked_add(len)?;
    let mut cached = 0;
    while at < end {
        let size = (end - at).min(WINDOW) as usize;
        cached += window(&fd, at, size, page as usize)?;
        at += size as u64;
    }
    Some(cached)
}

fn window(fd: impl AsFd, offset: u64, len: usize, page: usize) -> Option<u64> {
    if len == 0 {
        return Some(0);
    }
    let mut pages = vec![0_u8; len.div_ceil(page)];
    // SAFETY: a fresh shared mapping of an open file at an address of the kernel's choice; it is
    // never read or written, only asked about and unmapped.
    let start = unsafe {
        libc::mmap(
            ptr::null_mut(),
            len,
            libc::PROT_READ,
            libc::MAP_SHARED,
            fd.as_fd().as_raw_fd(),
            libc::off_t::try_from(offset).ok()?,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the range is the mapping just made, and there is a byte for each of its pages.
    let done = unsafe { libc::mincore(start, len, pages.as_mut_ptr().cast()) };
    // SAFETY: the mapping is known only here.
    unsafe { libc::munmap(start, len) };
    (done == 0).then(|| pages.iter().filter(|page| **page & 1 == 1).count() as u64)
}

// `posix_fadvise`: hints about reads to come. A refused hint is no error.

pub use rustix::fs::Advice;

/// Gives a hint for `len` bytes from `offset`; 0 bytes mean "to the end".
pub fn advise(fd: impl AsFd, offset: u64, len: u64, advice: Advice) {
    // A hint that the file system does not take changes nothing for us.
    let _ignored = rustix::fs::fadvise(fd, offset, NonZeroU64::new(len), advice);
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_was_just_written_is_cached() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&[7; 10_000]).expect("written");
        let pages = 10_000_u64.div_ceil(rustix::param::page_size() as u64);
        assert_eq!(resident_pages(&file, 0, 10_000), Some(pages));
        assert_eq!(resident_pages(&file, 0, 0), Some(0));
    }
}
