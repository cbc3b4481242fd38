//! The comparison itself: files of one length, block by block. Files that differ move to classes of their own.

use bytes::BytesMut;

use crate::sys::memory::aligned;

use super::blocks::Blocks;
use super::split::{Block, Side};

/// Buffers for comparison: a block of the first of a class, and one of another.
pub struct Buffers {
    first: BytesMut,
    piece: BytesMut,
}

impl Buffers {
    /// Buffers for blocks of this many bytes.
    pub fn new(len: usize) -> Self {
        Self {
            first: aligned(len),
            piece: aligned(len),
        }
    }

    /// The last blocks: `len` bytes of the first file of the class that was read last, and of the last file read of
    /// this class.
    pub fn last(&self, len: usize) -> [&[u8]; 2] {
        [&self.first[..len], &self.piece[..len]]
    }
}

/// Files that were equal to each other as far as they were read.
pub struct Comparison<S> {
    pub blocks: Blocks,
    /// Bytes read of each.
    pub read: u64,
    /// The last block told some of them apart.
    told_apart: bool,
    pub classes: Vec<Vec<S>>,
}

/// The result of one block of all files.
pub struct Step<S: Side> {
    /// Offset of the block.
    pub offset: u64,
    /// Length of the block.
    pub len: usize,
    /// Files that could not be read.
    pub failed: Vec<S::Failed>,
    /// Files that differ from all others from here on.
    pub alone: Vec<S>,
}

impl<S: Side> Comparison<S> {
    /// A comparison of files of one length, none of which was read.
    pub fn new(files: Vec<S>, blocks: Blocks) -> Self {
        Self {
            blocks,
            read: 0,
            told_apart: false,
            classes: vec![files],
        }
    }

    /// Compares the next block; `None` at the end, or when each file is alone.
    pub fn step(&mut self, buffers: &mut Buffers) -> Option<Step<S>> {
        if self.classes.is_empty() {
            return None;
        }
        let (offset, len) = self.blocks.next(self.told_apart)?;
        let mut step = Step {
            offset,
            len,
            failed: Vec::new(),
            alone: Vec::new(),
        };
        let before = self.classes.len();
        let mut split = Vec::with_capacity(before);
        let mut is_read = false;
        for mut class in std::mem::take(&mut self.classes) {
            if class.iter_mut().all(|file| file.is_hole(offset, len)) {
                split.push(class);
                continue;
            }
            is_read = true;
            let block = Block {
                offset,
                len,
                first: &mut buffers.first,
                piece: &mut buffers.piece,
            };
            block.split(class, &mut split, &mut step.failed);
        }
        self.told_apart = split.len() > before;
        self.read += if is_read { len as u64 } else { 0 };
        for mut class in split {
            match class.len() {
                1 => step.alone.append(&mut class),
                _ => self.classes.push(class),
            }
        }
        Some(step)
    }
}
