//! Tells files apart by one block.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::io::Errno;

use crate::executor::reader::refused;
use crate::executor::task::{Failure, Task};
use crate::sys::{pread, sysinfo};

use super::File;

/// Files for which one more thread is started, for each block: 4 MiB to be read are worth it.
const FOR_A_THREAD: usize = 64;

/// A block of the files of one class.
pub struct Block<'b> {
    /// Where it begins, bytes.
    pub offset: u64,
    /// For the block of the first file.
    pub first: &'b mut [u8],
    /// For the blocks of the others, as long.
    pub piece: &'b mut [u8],
    /// Set when no more is to be read.
    pub stop: &'b AtomicBool,
}

/// What was seen of some files.
#[derive(Default)]
struct Seen<'a> {
    like_first: Vec<File<'a>>,
    /// With the BLAKE3 of their blocks: comparing each with each would be quadratic.
    others: Vec<([u8; 32], File<'a>)>,
    failed: Vec<(&'a Task, Failure)>,
}

impl Block<'_> {
    /// Adds the files with equal blocks to `split`, class by class. Returns those that could not
    /// be read.
    pub fn split<'a>(
        self,
        class: Vec<File<'a>>,
        split: &mut Vec<Vec<File<'a>>>,
    ) -> Vec<(&'a Task, Failure)> {
        let mut files = class.into_iter();
        let mut seen = Seen::default();
        let mut next_of_kin = None;
        while let Some(file) = next_of_kin.take().or_else(|| files.next()) {
            match read(&file, self.offset, self.first, self.stop) {
                Ok(()) => {
                    seen.like_first.push(file);
                    break;
                }
                Err(failure) => {
                    seen.failed.push((file.task, failure));
                    next_of_kin = file.next_of_kin();
                }
            }
        }
        let (offset, first, stop) = (self.offset, &*self.first, self.stop);
        let threads = (files.len() / FOR_A_THREAD).min(sysinfo::cores());
        // Handed out one by one: threads that could not be started leave nothing undone.
        let queue = Mutex::new(files);
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let merged = Mutex::new(&mut seen);
        let work = |piece: &mut [u8]| {
            let own = look(next, first, offset, piece, stop);
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
            seen.like_first
                .sort_unstable_by_key(|file| file.task.ticket);
            seen.others
                .sort_unstable_by_key(|(_, file)| file.task.ticket);
        }
        seen.classes(split)
    }
}

impl<'a> Seen<'a> {
    fn add(&mut self, mut other: Self) {
        self.like_first.append(&mut other.like_first);
        self.others.append(&mut other.others);
        self.failed.append(&mut other.failed);
    }

    /// Adds the classes to `split`; returns the failures.
    fn classes(self, split: &mut Vec<Vec<File<'a>>>) -> Vec<(&'a Task, Failure)> {
        split.extend((!self.like_first.is_empty()).then_some(self.like_first));
        let mut places: HashMap<[u8; 32], usize> = HashMap::new();
        for (hash, file) in self.others {
            match places.entry(hash) {
                Entry::Occupied(at) => split[*at.get()].push(file),
                Entry::Vacant(at) => {
                    at.insert(split.len());
                    split.push(vec![file]);
                }
            }
        }
        self.failed
    }
}

/// Reads the block of each file that is next, and compares it with the first one's.
fn look<'a>(
    next: impl Fn() -> Option<File<'a>>,
    first: &[u8],
    offset: u64,
    piece: &mut [u8],
    stop: &AtomicBool,
) -> Seen<'a> {
    let mut seen = Seen::default();
    let mut next_of_kin = None;
    while let Some(file) = next_of_kin.take().or_else(&next) {
        match read(&file, offset, piece, stop) {
            Ok(()) if piece == first => seen.like_first.push(file),
            Ok(()) => seen.others.push((*blake3::hash(piece).as_bytes(), file)),
            Err(failure) => {
                seen.failed.push((file.task, failure));
                next_of_kin = file.next_of_kin();
            }
        }
    }
    seen
}

fn read(file: &File<'_>, offset: u64, piece: &mut [u8], stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Refused(Errno::CANCELED));
    }
    match pread::full(file.fd.as_fd(), piece, offset) {
        Ok(n) if n == piece.len() => Ok(()),
        // Shorter than the scan said: cut off meanwhile.
        Ok(_) => Err(Failure::Changed),
        Err(e) => Err(refused(file.task, file.fd.as_fd(), e)),
    }
}
