//! Compares files of one length block by block. Files that differ move to classes of their own.

use std::collections::HashMap;

use bytes::BytesMut;

use crate::sys::memory::aligned;

use super::{Failed, File};

/// Bytes of each cached file that are compared at a time: a block of two files is in the second-level cache when it is
/// compared.
pub const BLOCK: usize = 64 << 10;

/// Minimum size of a class of files, of one length and equal at both ends, that may well differ: they are read from
/// their middle on, and their first half last. Smaller classes are most likely copies, and are read from front to back.
const LARGE_CLASS: usize = 16;

/// Files that were equal to each other as far as they were read.
pub struct Comparison<'a> {
    /// Length of the files.
    len: u64,
    /// Bytes compared at a time.
    block: u64,
    /// Offset of the first block.
    start: u64,
    /// Bytes compared so far.
    done: u64,
    /// Bytes read of each.
    pub read: u64,
    pub classes: Vec<Vec<File<'a>>>,
    /// Files that could not be read.
    pub failed: Vec<Failed<'a>>,
    /// For a block of the first of a class, and one of another.
    buffers: [BytesMut; 2],
}

impl<'a> Comparison<'a> {
    /// A comparison of files of this length, none of which was read, this many bytes of each at a time.
    pub fn new(files: Vec<File<'a>>, len: u64, block: usize) -> Self {
        let middle = len / 2 / block as u64 * block as u64;
        Self {
            len,
            block: block as u64,
            start: if files.len() < LARGE_CLASS { 0 } else { middle },
            done: 0,
            read: 0,
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
        let block = self.next_block()?;
        let mut split = Vec::with_capacity(self.classes.len());
        let mut is_read = false;
        for mut class in std::mem::take(&mut self.classes) {
            if class.iter_mut().all(|file| file.is_hole(block)) {
                split.push(class);
            } else {
                is_read = true;
                self.split(class, block, &mut split);
            }
        }
        self.read += if is_read { block.1 as u64 } else { 0 };
        let (alone, classes) = split.into_iter().partition(|class| class.len() == 1);
        self.classes = classes;
        Some(alone.into_iter().flatten().collect())
    }

    /// Offset and length of the next block; `None` after the last one.
    fn next_block(&mut self) -> Option<(u64, usize)> {
        let after = self.len - self.start;
        let (offset, end) = match self.done.checked_sub(after) {
            None => (self.start + self.done, self.len),
            Some(offset) => (offset, self.start),
        };
        let len = (end - offset).min(self.block);
        self.done += len;
        (len > 0).then_some((offset, len as usize))
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
