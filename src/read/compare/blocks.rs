//! Chooses the next block of the files under comparison.

use std::ops::Range;

/// Bytes of each file that are compared at a time: a block of two files is in the second-level
/// cache when it is compared.
pub const BLOCK: usize = 64 << 10;

/// Minimum size of a class of files, of one length and equal at both ends, that may well differ. Smaller classes are
/// most likely copies, and are read from front to back.
const LARGE_CLASS: usize = 16;

/// The blocks of files of one length. Each block comes once.
#[derive(Clone)]
pub struct Blocks {
    /// The rest of each part.
    parts: [Range<u64>; 2],
    /// The part that was read last.
    at: usize,
    /// Bytes of a block.
    block: u64,
}

impl Blocks {
    /// The blocks of this many files of this length, bytes. The files of a large class are read from their middle and
    /// from their beginning on.
    pub fn new(files: usize, len: u64) -> Self {
        let block = BLOCK as u64;
        let middle = match files >= LARGE_CLASS {
            true => len / 2 / block * block,
            false => 0,
        };
        Self {
            parts: [middle..len, 0..middle],
            ..Self::front_to_back(len, BLOCK)
        }
    }

    /// The blocks of files of this length, from front to back, each of this many bytes.
    pub fn front_to_back(len: u64, block: usize) -> Self {
        Self {
            parts: [0..len, 0..0],
            at: 1,
            block: block as u64,
        }
    }

    /// Offset and length of the next block. If the last block told files apart, the next one of its part is likely to
    /// do so, too. Otherwise the two parts alternate.
    pub fn next(&mut self, told_apart: bool) -> Option<(u64, usize)> {
        if !told_apart || self.parts[self.at].is_empty() {
            self.at = 1 - self.at;
        }
        if self.parts[self.at].is_empty() {
            self.at = 1 - self.at;
        }
        let part = &mut self.parts[self.at];
        let len = (part.end - part.start).min(self.block);
        let offset = part.start;
        part.start += len;
        (len > 0).then_some((offset, len as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 5 * BLOCK as u64 + 7;

    fn in_blocks(mut blocks: Blocks, told_apart: impl Fn(u64) -> bool) -> Vec<u64> {
        let (mut offsets, mut bytes, mut last) = (Vec::new(), 0, false);
        while let Some((offset, len)) = blocks.next(last) {
            offsets.push(offset / BLOCK as u64);
            bytes += len as u64;
            last = told_apart(offset / BLOCK as u64);
        }
        assert_eq!(bytes, LEN);
        offsets
    }

    #[test]
    fn few_files_are_read_from_front_to_back() {
        assert_eq!(
            in_blocks(Blocks::new(2, LEN), |_| false),
            [0, 1, 2, 3, 4, 5]
        );
    }

    #[test]
    fn a_large_class_is_read_from_its_middle_and_its_beginning_by_turns() {
        let blocks = Blocks::new(LARGE_CLASS, LEN);
        assert_eq!(in_blocks(blocks, |_| false), [2, 0, 3, 1, 4, 5]);
    }

    #[test]
    fn a_part_that_tells_files_apart_is_read_on() {
        let in_the_middle = |block| block >= 2;
        let blocks = Blocks::new(LARGE_CLASS, LEN);
        assert_eq!(in_blocks(blocks, in_the_middle), [2, 3, 4, 5, 0, 1]);
        let at_the_beginning = |block| block < 2;
        let blocks = Blocks::new(LARGE_CLASS, LEN);
        assert_eq!(in_blocks(blocks, at_the_beginning), [2, 0, 1, 3, 4, 5]);
    }
}
