//! Memory in large pages: a device that reads into it has few pieces to look at.
//!
//! `madvise(2)`, `MADV_HUGEPAGE`; Linux, `Documentation/admin-guide/mm/transhuge.rst`. Where the kernel has
//! none to give, it is ordinary memory.

use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Bytes of a large page on most machines, and what it is aligned to.
pub const SIZE: usize = 2 << 20;

/// Zeroed memory that is given back when its last slice goes.
struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is bound to no thread, and is only reached through slices, which do not overlap.
unsafe impl Send for Mapping {}
// SAFETY: as above; a shared mapping gives nothing but its address.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(len: usize) -> Option<Self> {
        // SAFETY: a fresh private mapping at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = NonNull::new(start.cast())?;
        Some(Self { start, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no slice of it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A part of a large page that begins at a multiple of its length.
pub struct Slice {
    start: NonNull<u8>,
    len: usize,
    _mapping: Arc<Mapping>,
}

// SAFETY: a slice is the only way to its bytes, as a `Box<[u8]>` is.
unsafe impl Send for Slice {}

impl Slice {
    /// A large page cut into slices of `len` bytes, a power of two and at most [`SIZE`]; none where memory is short.
    pub fn page(len: usize) -> Vec<Self> {
        assert!(len.is_power_of_two() && len <= SIZE, "{len}");
        // Twice as much, so that an aligned page lies within: what is never touched takes no memory.
        let Some(mapping) = Mapping::new(2 * SIZE) else {
            return Vec::new();
        };
        let address = mapping.start.as_ptr().addr();
        let before = address.next_multiple_of(SIZE) - address;
        let mapping = Arc::new(mapping);
        // SAFETY: `before` is less than SIZE, so that the page lies within the mapping. It is advice.
        unsafe {
            let page = mapping.start.add(before);
            libc::madvise(page.as_ptr().cast(), SIZE, libc::MADV_HUGEPAGE);
        }
        let slice = |number: usize| Self {
            // SAFETY: within the page, as above.
            start: unsafe { mapping.start.add(before + number * len) },
            len,
            _mapping: Arc::clone(&mapping),
        };
        (0..SIZE / len).map(slice).collect()
    }
}

impl Deref for Slice {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are mapped as long as the mapping is held, and no other slice has them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Slice {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_apart_and_outlive_each_other() {
        const LEN: usize = 256 << 10;
        let mut slices = Slice::page(LEN);
        assert_eq!(slices.len(), SIZE / LEN);
        for (number, slice) in (1_u8..).zip(&mut slices) {
            assert!(slice.iter().all(|&byte| byte == 0));
            slice.fill(number);
        }
        slices.drain(..3);
        for (number, slice) in (4_u8..).zip(&slices) {
            assert_eq!(slice.as_ptr().addr() % LEN, 0);
            assert!(slice.iter().all(|&byte| byte == number));
        }
    }
}
