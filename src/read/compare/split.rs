//! Tells files apart by one block.

use std::collections::HashMap;
use std::iter;

/// A file that is compared with others.
pub trait Side: Sized {
    /// The result for a file that could not be read.
    type Failed;

    /// Reads a block of this many bytes, all of it, to the beginning of a buffer. A file that cannot be read is removed
    /// from the comparison; another file may replace it if the file also represents that one.
    ///
    /// # Errors
    /// The file that takes its place, if there is one.
    fn read(
        self,
        buffer: &mut [u8],
        len: usize,
        offset: u64,
        failed: &mut Vec<Self::Failed>,
    ) -> Result<Self, Option<Self>>;

    /// True if a block is known to be all zeros.
    fn is_hole(&mut self, _offset: u64, _len: usize) -> bool {
        false
    }
}

/// A block of the files of one class.
pub struct Block<'b> {
    /// Offset of the block, bytes.
    pub offset: u64,
    /// Length of the block.
    pub len: usize,
    /// For the block of the first file.
    pub first: &'b mut [u8],
    /// For the blocks of the others.
    pub piece: &'b mut [u8],
}

/// The key of blocks that differ from the first file's.
type Key = [u8; 32];

impl Block<'_> {
    /// Adds the files with equal blocks to `split`, class by class, and those that could not be read to `failed`.
    ///
    /// Most files that differ from the first one also differ from each other. The offset and the bytes of their first
    /// difference from it show this. The few others are compared again, by the BLAKE3 of their blocks.
    pub fn split<S: Side>(
        mut self,
        class: Vec<S>,
        split: &mut Vec<Vec<S>>,
        failed: &mut Vec<S::Failed>,
    ) {
        for likely in self.classes(class, difference, failed) {
            match likely {
                Likely::Equal(class) => split.push(class),
                Likely::Alike(files) if files.len() < 2 => split.push(files),
                Likely::Alike(files) => {
                    let classes = self.classes(files, digest, failed);
                    split.extend(classes.into_iter().map(Likely::into_files));
                }
            }
        }
    }

    /// Groups the files by the bytes that they have in common with the first readable file, and with each other.
    fn classes<S: Side>(
        &mut self,
        class: Vec<S>,
        key: fn(&[u8], &[u8]) -> Key,
        failed: &mut Vec<S::Failed>,
    ) -> Vec<Likely<S>> {
        let (offset, len) = (self.offset, self.len);
        let mut files = class.into_iter();
        let mut next = || files.next();
        let Some(first) = next_read(&mut next, self.first, len, offset, failed) else {
            return Vec::new();
        };
        let mut like_first = vec![first];
        // Files with one key, which is looked up: comparing each with each would be quadratic.
        let mut alike: Vec<Vec<S>> = Vec::new();
        let mut places: HashMap<Key, usize> = HashMap::new();
        while let Some(file) = next_read(&mut next, self.piece, len, offset, failed) {
            let (piece, first) = (&self.piece[..len], &self.first[..len]);
            if piece == first {
                like_first.push(file);
                continue;
            }
            let place = *places.entry(key(piece, first)).or_insert(alike.len());
            if place == alike.len() {
                alike.push(Vec::new());
            }
            alike[place].push(file);
        }
        let alike = alike.into_iter().map(Likely::Alike);
        iter::once(Likely::Equal(like_first)).chain(alike).collect()
    }
}

/// The first file whose block can be read.
fn next_read<S: Side>(
    next: &mut dyn FnMut() -> Option<S>,
    buffer: &mut [u8],
    len: usize,
    offset: u64,
    failed: &mut Vec<S::Failed>,
) -> Option<S> {
    let mut file = next()?;
    loop {
        match file.read(buffer, len, offset, failed) {
            Ok(file) => return Some(file),
            Err(in_its_place) => file = in_its_place.or_else(&mut *next)?,
        }
    }
}

/// Files that belong together.
enum Likely<S> {
    /// Their blocks are equal.
    Equal(Vec<S>),
    /// Their blocks have one key.
    Alike(Vec<S>),
}

impl<S> Likely<S> {
    fn into_files(self) -> Vec<S> {
        match self {
            Self::Equal(files) | Self::Alike(files) => files,
        }
    }
}

/// The offset of the first difference between a block and the first one, and the bytes there.
fn difference(piece: &[u8], first: &[u8]) -> Key {
    let at = common_prefix(piece, first);
    let mut key = Key::default();
    let (place, there) = key.split_at_mut(size_of::<u64>());
    place.copy_from_slice(&(at as u64).to_le_bytes());
    let len = there.len().min(piece.len() - at);
    there[..len].copy_from_slice(&piece[at..at + len]);
    key
}

/// A digest of a whole block.
fn digest(piece: &[u8], _first: &[u8]) -> Key {
    *blake3::hash(piece).as_bytes()
}

/// The number of equal bytes at the beginning.
pub fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    /// Bytes compared at a time until the place is near.
    const STEP: usize = 1024;
    let steps = one.chunks(STEP).zip(other.chunks(STEP));
    let near = steps.take_while(|(own, other)| own == other).count() * STEP;
    let near = near.min(one.len());
    let bytes = one[near..].iter().zip(&other[near..]);
    near + bytes.take_while(|(own, other)| own == other).count()
}
