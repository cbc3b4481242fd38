//! Memory that direct I/O takes: it begins at a multiple of 4096.

use std::ops::{Deref, DerefMut};

/// What memory and offsets of direct reads must be a multiple of: the largest logical block that
/// disks have. (Most take 512; asking each is not worth it.)
pub const ALIGNMENT: usize = 4096;

/// Bytes that begin at a multiple of [`ALIGNMENT`], zeroed.
pub struct Aligned {
    bytes: Box<[u8]>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// Room for so many bytes.
    pub fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGNMENT - 1].into_boxed_slice();
        let address = bytes.as_ptr().addr();
        Self {
            start: address.next_multiple_of(ALIGNMENT) - address,
            bytes,
            len,
        }
    }
}

impl Deref for Aligned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_begins_where_direct_reads_want_it() {
        for len in [0, 1, 4096, 100_000] {
            let memory = Aligned::new(len);
            assert_eq!(memory.len(), len);
            assert_eq!(memory.as_ptr().addr() % ALIGNMENT, 0);
        }
    }
}
