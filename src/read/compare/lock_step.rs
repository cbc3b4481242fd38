//! Compares files of one length block by block. Files that differ move to classes of their own.

use std::collections::HashMap;
use std::ops::Range;

use bytes::BytesMut;

use crate::sys::memory::aligned;

use super::{Failed, File};

/// Bytes of each cached file that are compared at a time: a block of two files is in the second-level cache when it is
/// compared.
pub const BLOCK: usize = 64 << 10;

/// Minimum size of a class of files, of one length and equal at both ends, that may well differ. Smaller classes are
/// most likely copies, and are read from front to back.
const LARGE_CLASS: usize = 16;

/// Files that were equal to each other as far as they were read.
pub struct Comparison<'a> {
    blocks: Blocks,
    /// Bytes read of each.
    pub read: u64,
    /// The last block told some of them apart.
    told_apart: bool,
    pub classes: Vec<Vec<File<'a>>>,
    /// Files that could not be read.
    pub failed: Vec<Failed<'a>>,
    /// For a block of the first of a class, and one of another.
    buffers: [BytesMut; 2],
}

impl<'a> Comparison<'a> {
    /// A comparison of files of this length, none of which was read, this many bytes of each at a time.
    pub fn new(files: Vec<File<'a>>, len: u64, block: usize) -> Self {
        Self {
            blocks: Blocks::new(files.len(), len, block as u64),
            read: 0,
            told_apart: false,
            classes: vec![files],
            failed: Vec::new(),
            buffers: [(); 2].map(|()| aligned(block)),
        }
    }

    /// Compares the next block, and returns the files that differ from all others from here on; `None` at the end, or
    /// when each file is alone.
    pub fn step(&mut self) -> Option<Vec<File<'a>>> {
        if self.classes.is_empty() {
            return None;
        }
        let block = self.blocks.next(self.told_apart)?;
        let before = self.classes.len();
        let mut split = Vec::with_capacity(before);
        let mut is_read = false;
        for mut class in std::mem::take(&mut self.classes) {
            if class.iter_mut().all(|file| file.is_hole(block)) {
                split.push(class);
            } else {
                is_read = true;
                self.split(class, block, &mut split);
            }
        }
        self.told_apart = split.len() > before;
        self.read += if is_read { block.1 as u64 } else { 0 };
        let (alone, classes) = split.into_iter().partition(|class| class.len() == 1);
        self.classes = classes;
        Some(alone.into_iter().flatten().collect())
    }

    /// Adds files with equal blocks to `split`, class by class. Blocks that differ from the first one are told apart by
    /// their digests: comparing each with each would be quadratic.
    fn split(&mut self, class: Vec<File<'a>>, block: (u64, usize), split: &mut Vec<Vec<File<'a>>>) {
        let [first_block, other_block] = &mut self.buffers;
        let mut files = class.into_iter();
        let failed = &mut self.failed;
        let Some(first) = next_read(&mut files, first_block, block, failed) else {
            return;
        };
        let like_first = split.len();
        split.push(vec![first]);
        let mut places: HashMap<blake3::Hash, usize> = HashMap::new();
        while let Some(file) = next_read(&mut files, other_block, block, failed) {
            let bytes = &other_block[..block.1];
            if *bytes == first_block[..block.1] {
                split[like_first].push(file);
                continue;
            }
            let place = *places.entry(blake3::hash(bytes)).or_insert(split.len());
            if place == split.len() {
                split.push(Vec::new());
            }
            split[place].push(file);
        }
    }
}

/// The first file whose block can be read.
fn next_read<'a>(
    files: &mut impl Iterator<Item = File<'a>>,
    buffer: &mut [u8],
    (offset, len): (u64, usize),
    failed: &mut Vec<Failed<'a>>,
) -> Option<File<'a>> {
    let mut file = files.next()?;
    while let Some(failure) = file.read(buffer, len, offset) {
        file = file.fail(failure, failed).or_else(|| files.next())?;
    }
    Some(file)
}

/// The blocks of files of one length. Each block comes once.
struct Blocks {
    /// The rest of each part.
    parts: [Range<u64>; 2],
    /// The part that was read last.
    at: usize,
    /// Length of a block, bytes.
    block: u64,
}

impl Blocks {
    /// The blocks of this many files of this length, bytes. The files of a large class are read from their middle and
    /// from their beginning on.
    fn new(files: usize, len: u64, block: u64) -> Self {
        let middle = if files >= LARGE_CLASS {
            len / 2 / block * block
        } else {
            0
        };
        Self {
            parts: [middle..len, 0..middle],
            at: 1,
            block,
        }
    }

    /// Offset and length of the next block. If the last block told files apart, the next one of its part is likely to
    /// do so, too. Otherwise the two parts alternate.
    fn next(&mut self, told_apart: bool) -> Option<(u64, usize)> {
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

    #[test]
    fn each_block_comes_once_whatever_was_told_apart() {
        let block = BLOCK as u64;
        for files in [2, LARGE_CLASS] {
            for len in [0, 1, block, block + 1, 7 * block + 3] {
                for told_apart in [false, true] {
                    let mut blocks = Blocks::new(files, len, block);
                    let all = std::iter::from_fn(|| blocks.next(told_apart));
                    let mut all: Vec<_> = all.collect();
                    if files == 2 {
                        assert!(all.is_sorted(), "a pair is read from front to back");
                    }
                    all.sort_unstable();
                    let mut at = 0;
                    for (offset, bytes) in all {
                        assert_eq!(offset, at);
                        at += bytes as u64;
                    }
                    assert_eq!(at, len);
                }
            }
        }
    }
}
