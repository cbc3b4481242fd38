//! A thread's buffer for what it reads of a file.

use std::sync::{Arc, Mutex, PoisonError};

use crate::sys::large_page::Slice;

use super::reader::PIECE;

/// Grows to the longest piece, until memory in large pages is asked for.
#[derive(Default)]
pub struct Buffer {
    own: Vec<u8>,
    large: Option<Slice>,
}

impl Buffer {
    /// The first bytes, to be read into.
    pub fn first_mut(&mut self, len: usize) -> &mut [u8] {
        match &mut self.large {
            Some(large) if len <= large.len() => &mut large[..len],
            _ => {
                if self.own.len() < len {
                    self.own.resize(len, 0);
                }
                &mut self.own[..len]
            }
        }
    }

    /// The first bytes as they were read.
    pub fn first(&self, len: usize) -> &[u8] {
        match &self.large {
            Some(large) if len <= large.len() => &large[..len],
            _ => &self.own[..len],
        }
    }

    /// Makes sure that a piece read past the page cache has its place in a large page; false where memory is short.
    pub fn is_large(&mut self, spare: &LargePages) -> bool {
        if self.large.is_none()
            && let Some(large) = spare.take()
        {
            (self.large, self.own) = (Some(large), Vec::new());
        }
        self.large.is_some()
    }
}

/// Buffers in large pages, several in each, for threads that come to need one.
#[derive(Clone, Default)]
pub struct LargePages {
    spare: Arc<Mutex<Vec<Slice>>>,
}

impl LargePages {
    fn take(&self) -> Option<Slice> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.is_empty() {
            *spare = Slice::page(PIECE);
        }
        spare.pop()
    }
}
