//! A thread's buffer for the bytes that it reads from a file.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;

use crate::sys::memory::{self, aligned};

/// Bytes read at a time. Swept from 16 KiB to 4 MiB on cached files: 128-256 KiB hashed fastest,
/// since the piece is still in the second-level cache when it is hashed.
pub const PIECE: usize = 256 << 10;

/// Bytes read at a time past the page cache. There is no readahead there, and a virtual machine's host processes each
/// request: 10 GB in six files, cold, on a network SSD took 7.2 s by 256 KiB, 6.4 s by 512 KiB and 5.7 s by 1 MiB
/// (medians of five in turns; 16 threads).
pub const LARGE: usize = 1 << 20;

/// A buffer that grows to the longest piece.
#[derive(Default)]
pub struct Buffer(BytesMut);

impl Buffer {
    /// The first bytes, as a destination for a read.
    pub fn first_mut(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len {
            self.0 = aligned(len);
        }
        &mut self.0[..len]
    }

    /// The first bytes as they were read.
    pub fn first(&self, len: usize) -> &[u8] {
        &self.0[..len]
    }

    /// Places the pieces that are read past the page cache in a large page, if one is available; returns their maximum
    /// length.
    pub fn enlarge(&mut self, pages: &LargePages) -> usize {
        if self.0.len() < LARGE
            && let Some(large) = pages.take()
        {
            self.0 = large;
        }
        match self.0.len() < LARGE {
            true => PIECE,
            false => LARGE,
        }
    }
}

/// Buffers in large pages, several in each, for the threads that need one.
#[derive(Clone)]
pub struct LargePages {
    pages: Arc<Mutex<Pages>>,
}

struct Pages {
    spare: Vec<BytesMut>,
    /// Number of further pages that may be allocated.
    left: usize,
}

impl LargePages {
    /// A limit in bytes.
    pub fn new(bytes: u64) -> Self {
        let pages = Pages {
            spare: Vec::new(),
            left: usize::try_from(bytes).unwrap_or(usize::MAX) / memory::LARGE_PAGE,
        };
        Self {
            pages: Arc::new(Mutex::new(pages)),
        }
    }

    fn take(&self) -> Option<BytesMut> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.spare.is_empty() && pages.left > 0 {
            pages.left -= 1;
            pages.spare = memory::large_page(LARGE);
        }
        pages.spare.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_large_pages_are_taken_than_there_may_be() {
        for (bytes, threads) in [(0, 0), (memory::LARGE_PAGE - 1, 0), (5 << 20, 4)] {
            let pages = LargePages::new(bytes as u64);
            let mut buffers: Vec<_> = (0..6).map(|_| Buffer::default()).collect();
            let longest = buffers.iter_mut().map(|buffer| buffer.enlarge(&pages));
            let large = longest.filter(|&longest| longest == LARGE);
            assert_eq!(large.count(), threads, "{bytes}");
        }
    }

    #[test]
    fn what_was_read_is_what_is_there() {
        let pages = LargePages::new(2 << 20);
        let mut buffer = Buffer::default();
        for (number, is_large) in [(1, false), (2, true)] {
            if is_large {
                assert_eq!(buffer.enlarge(&pages), LARGE);
            }
            for len in [10, LARGE, 2 * LARGE] {
                buffer.first_mut(len).fill(number);
                assert_eq!(buffer.first(len), vec![number; len]);
            }
        }
    }
}
