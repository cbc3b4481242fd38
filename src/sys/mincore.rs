//! `mincore(2)`: how much of a file is in the page cache, for kernels without `cachestat`.

use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// Bytes looked at with one mapping, so that the answer's memory is bounded.
const WINDOW: u64 = 1 << 30;

/// Pages of the range that are in the page cache; `None` where the kernel does not tell.
///
/// Since Linux 5.2 it tells only the file's owner and those who may write to it; to others every
/// page seems to be cached.
pub fn cached_pages(fd: impl AsFd, offset: u64, len: u64) -> Option<u64> {
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
    // SAFETY: nobody else knows of the mapping.
    unsafe { libc::munmap(start, len) };
    (done == 0).then(|| pages.iter().filter(|page| **page & 1 == 1).count() as u64)
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
        assert_eq!(cached_pages(&file, 0, 10_000), Some(pages));
        assert_eq!(cached_pages(&file, 0, 0), Some(0));
    }
}
