//! Tells files apart by one block.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::sys::memory::Aligned;
use crate::sys::process;

use super::side::Side;

/// Number of blocks for which one more thread is started: 4 MiB to be read are worth it. With 16 instead of 64,
/// `adversarial`, hot, took 1.06 times as long (eleven runs in turns).
const FOR_A_THREAD: usize = 64;

/// The number of threads that this many blocks are worth.
pub fn threads_for(blocks: usize) -> usize {
    match blocks / FOR_A_THREAD {
        0 | 1 => 1,
        threads => threads.min(process::cores().max(1)),
    }
}

/// True if more than one thread reads the files of a class.
pub fn is_shared_out<S>(class: &[S]) -> bool {
    threads_for(class.len()) > 1
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

/// The blocks of some files.
struct Seen<S: Side> {
    like_first: Vec<S>,
    /// Files with their keys: comparing each with each would be quadratic.
    others: Vec<(Key, S)>,
    failed: Vec<S::Failed>,
}

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
        let mut seen = Seen::new();
        let first = next_read(&mut || files.next(), self.first, len, offset, failed);
        seen.like_first.extend(first);
        let first = &self.first[..len];
        let threads = threads_for(files.len());
        if threads == 1 {
            seen.look(&mut || files.next(), first, offset, self.piece, key);
        } else {
            // Handed out one by one: threads that could not be started leave nothing undone.
            let queue = Mutex::new(files);
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let merged = Mutex::new(&mut seen);
            let work = |piece: &mut [u8]| {
                let mut own = Seen::new();
                own.look(&mut &next, first, offset, piece, key);
                let mut merged = merged.lock().unwrap_or_else(PoisonError::into_inner);
                merged.add(own);
            };
            let size = self.piece.len();
            thread::scope(|scope| {
                for _ in 1..threads {
                    let thread = thread::Builder::new().name("compare".to_owned());
                    let _ignored = thread.spawn_scoped(scope, || work(&mut Aligned::new(size)));
                }
                work(self.piece);
            });
            seen.like_first.sort_unstable_by_key(Side::number);
            seen.others.sort_unstable_by_key(|(_, file)| file.number());
        }
        failed.append(&mut seen.failed);
        seen.classes()
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

impl<S: Side> Seen<S> {
    fn new() -> Self {
        Self {
            like_first: Vec::new(),
            others: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Reads the next block of each file, and compares it with the block of the first file.
    fn look(
        &mut self,
        next: &mut dyn FnMut() -> Option<S>,
        first: &[u8],
        offset: u64,
        piece: &mut [u8],
        key: fn(&[u8], &[u8]) -> Key,
    ) {
        let len = first.len();
        while let Some(file) = next_read(next, piece, len, offset, &mut self.failed) {
            match &piece[..len] {
                piece if piece == first => self.like_first.push(file),
                piece => self.others.push((key(piece, first), file)),
            }
        }
    }

    fn add(&mut self, mut other: Self) {
        self.like_first.append(&mut other.like_first);
        self.others.append(&mut other.others);
        self.failed.append(&mut other.failed);
    }

    fn classes(self) -> Vec<Likely<S>> {
        let mut classes = Vec::new();
        classes.extend((!self.like_first.is_empty()).then_some(Likely::Equal(self.like_first)));
        let mut alike: Vec<Vec<S>> = Vec::new();
        let mut places: HashMap<Key, usize> = HashMap::new();
        for (key, file) in self.others {
            let place = *places.entry(key).or_insert(alike.len());
            if place == alike.len() {
                alike.push(Vec::new());
            }
            alike[place].push(file);
        }
        classes.extend(alike.into_iter().map(Likely::Alike));
        classes
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
