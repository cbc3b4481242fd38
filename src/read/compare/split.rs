//! Tells files apart by one block.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::io::Errno;

use crate::read::reader::{Signs, refused};
use crate::read::task::{Failure, Task};
use crate::sys::{pread, sysinfo};

use super::File;

/// Blocks for which one more thread is started: 4 MiB to be read are worth it. With 16 instead of 64
/// `adversarial`, hot, took 1.06 times as long (eleven runs in turns).
const FOR_A_THREAD: usize = 64;

/// Threads that so many blocks to be read are worth.
pub fn threads_for(blocks: usize) -> usize {
    (blocks / FOR_A_THREAD).clamp(1, sysinfo::cores().max(1))
}

/// True if the files of a class are looked at by more threads than one.
pub fn is_shared_out(class: &[File<'_>]) -> bool {
    threads_for(class.len()) > 1
}

/// A block of the files of one class.
pub struct Block<'b> {
    /// Where it begins, bytes.
    pub offset: u64,
    /// For the block of the first file.
    pub first: &'b mut [u8],
    /// For the blocks of the others, as long.
    pub piece: &'b mut [u8],
    /// Set when no more is to be read.
    pub signs: &'b Signs,
}

/// What files with equal blocks have in common that are unlike the first one's.
type Key = [u8; 32];

/// What was seen of some files.
#[derive(Default)]
struct Seen<'a> {
    like_first: Vec<File<'a>>,
    /// With their keys: comparing each with each would be quadratic.
    others: Vec<(Key, File<'a>)>,
    failed: Vec<(&'a Task, Failure)>,
}

impl Block<'_> {
    /// Adds the files with equal blocks to `split`, class by class. Returns those that could not
    /// be read.
    ///
    /// Most that are unlike the first one are unlike each other too, which shows where they begin to
    /// differ from it. The few that are not are looked at once more, by the BLAKE3 of their blocks.
    pub fn split<'a>(
        mut self,
        class: Vec<File<'a>>,
        split: &mut Vec<Vec<File<'a>>>,
    ) -> Vec<(&'a Task, Failure)> {
        let mut failed = Vec::new();
        for likely in self.classes(class, difference, &mut failed) {
            match likely {
                Likely::Equal(class) => split.push(class),
                Likely::Alike(files) if files.len() < 2 => split.push(files),
                Likely::Alike(files) => {
                    let classes = self.classes(files, digest, &mut failed);
                    split.extend(classes.into_iter().map(Likely::into_files));
                }
            }
        }
        failed
    }

    /// The files by what they have in common with the first that can be read, and with each other.
    fn classes<'a>(
        &mut self,
        class: Vec<File<'a>>,
        key: fn(&[u8], &[u8]) -> Key,
        failed: &mut Vec<(&'a Task, Failure)>,
    ) -> Vec<Likely<'a>> {
        let mut files = class.into_iter();
        let mut seen = Seen::default();
        let mut next_of_kin = None;
        while let Some(mut file) = next_of_kin.take().or_else(|| files.next()) {
            match read(&mut file, self.offset, self.first, self.signs) {
                Ok(()) => {
                    seen.like_first.push(file);
                    break;
                }
                Err(failure) => next_of_kin = file.fail(failure, failed),
            }
        }
        let (offset, first, signs) = (self.offset, &*self.first, self.signs);
        let threads = threads_for(files.len());
        // Handed out one by one: threads that could not be started leave nothing undone.
        let queue = Mutex::new(files);
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let merged = Mutex::new(&mut seen);
        let work = |piece: &mut [u8]| {
            let own = look(next, first, offset, piece, signs, key);
            let mut merged = merged.lock().unwrap_or_else(PoisonError::into_inner);
            merged.add(own);
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                let thread = thread::Builder::new().name("compare".to_owned());
                let _ignored = thread.spawn_scoped(scope, || work(&mut vec![0; first.len()]));
            }
            work(self.piece);
        });
        if threads > 1 {
            seen.like_first.sort_unstable_by_key(|file| file.task.file);
            seen.others.sort_unstable_by_key(|(_, file)| file.task.file);
        }
        failed.append(&mut seen.failed);
        seen.classes()
    }
}

/// Files that belong together.
enum Likely<'a> {
    /// Their blocks are equal.
    Equal(Vec<File<'a>>),
    /// Their blocks have one key.
    Alike(Vec<File<'a>>),
}

impl<'a> Likely<'a> {
    fn into_files(self) -> Vec<File<'a>> {
        match self {
            Self::Equal(files) | Self::Alike(files) => files,
        }
    }
}

impl<'a> Seen<'a> {
    fn add(&mut self, mut other: Self) {
        self.like_first.append(&mut other.like_first);
        self.others.append(&mut other.others);
        self.failed.append(&mut other.failed);
    }

    fn classes(self) -> Vec<Likely<'a>> {
        let mut classes = Vec::new();
        classes.extend((!self.like_first.is_empty()).then_some(Likely::Equal(self.like_first)));
        let mut alike: Vec<Vec<File<'a>>> = Vec::new();
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

/// Reads the block of each file that is next, and compares it with the first one's.
fn look<'a>(
    next: impl Fn() -> Option<File<'a>>,
    first: &[u8],
    offset: u64,
    piece: &mut [u8],
    signs: &Signs,
    key: fn(&[u8], &[u8]) -> Key,
) -> Seen<'a> {
    let mut seen = Seen::default();
    let mut next_of_kin = None;
    while let Some(mut file) = next_of_kin.take().or_else(&next) {
        match read(&mut file, offset, piece, signs) {
            Ok(()) if piece == first => seen.like_first.push(file),
            Ok(()) => seen.others.push((key(piece, first), file)),
            Err(failure) => next_of_kin = file.fail(failure, &mut seen.failed),
        }
    }
    seen
}

/// Where a block begins to differ from the first one, and what is there.
fn difference(piece: &[u8], first: &[u8]) -> Key {
    /// Bytes compared at a time until the place is near.
    const STEP: usize = 1024;
    let steps = piece.chunks(STEP).zip(first.chunks(STEP));
    let near = steps.take_while(|(own, other)| own == other).count() * STEP;
    let bytes = piece[near..].iter().zip(&first[near..]);
    let at = near + bytes.take_while(|(own, other)| own == other).count();
    let mut key = Key::default();
    let (place, there) = key.split_at_mut(size_of::<u64>());
    place.copy_from_slice(&(at as u64).to_le_bytes());
    let len = there.len().min(piece.len() - at);
    there[..len].copy_from_slice(&piece[at..at + len]);
    key
}

/// Stands for a whole block.
fn digest(piece: &[u8], _first: &[u8]) -> Key {
    *blake3::hash(piece).as_bytes()
}

fn read(file: &mut File<'_>, offset: u64, piece: &mut [u8], signs: &Signs) -> Result<(), Failure> {
    if signs.stopped() {
        return Err(Failure::Refused(Errno::CANCELED));
    }
    if file.holes.cover(&file.fd, offset, piece.len() as u64) {
        piece.fill(0);
        return Ok(());
    }
    match pread::full(file.fd.as_fd(), piece, offset) {
        Ok(n) if n == piece.len() => Ok(()),
        // Shorter than the scan said: cut off meanwhile.
        Ok(_) => Err(Failure::Changed),
        Err(e) => Err(refused(file.task, file.fd.as_fd(), e)),
    }
}
