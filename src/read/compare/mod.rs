//! Compares files of one length with each other.
//!
//! On cached files this is faster than any strong hash, so the search compares such files instead of hashing them: all
//! advance together, and each byte is read once (`lock_step`). `--verify` compares the files of a set in the same way,
//! but reads every byte. Actions compare two open files (`open_file`).

mod lock_step;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crossbeam_channel::Sender;
use rustix::io::Errno;

use crate::hash::PlacesDigest;
use crate::sys::stat::Stat;

use super::access::{Access, PIECE};
use super::holes::Holes;
use super::open_file::OpenFile;
use super::reader::{Reader, expected, is_expected, may_be_stored, refused};
use super::task::{Ask, Batch, Completion, Failure, Outcome, Task};
use lock_step::{BLOCK, Comparison};

/// A file that could not be read.
type Failed<'a> = (&'a Task, Failure);

/// An open file and its properties.
struct File<'a> {
    task: &'a Task,
    access: &'a Access,
    open: OpenFile<BorrowedFd<'a>>,
    /// The holes of the file.
    holes: Holes,
    /// Files that lie in the same blocks, and so have the same bytes.
    same_blocks: Vec<File<'a>>,
    /// The result may be stored for later runs.
    may_be_stored: bool,
}

impl<'a> File<'a> {
    /// A file of which every byte is read.
    fn new(task: &'a Task, fd: &'a OwnedFd, access: &'a Access) -> Self {
        Self {
            task,
            access,
            open: OpenFile::whole(fd.as_fd(), task.expect.size, task.device, access),
            holes: Holes::of(false),
            same_blocks: Vec::new(),
            may_be_stored: false,
        }
    }

    /// Records that the file could not be read. The first file in the same blocks represents the others from now on. If
    /// this file has changed, the bytes read from it so far may not be theirs.
    fn fail(mut self, failure: Failure, failed: &mut Vec<Failed<'a>>) -> Option<Self> {
        failed.push((self.task, failure));
        let mut same_blocks = self.same_blocks.drain(..);
        if is_expected(self.task, self.open.fd).is_err() {
            failed.extend(same_blocks.map(|file| (file.task, Failure::Changed)));
            return None;
        }
        let next = same_blocks.next()?;
        Some(Self {
            same_blocks: same_blocks.collect(),
            ..next
        })
    }

    /// Fills the beginning of a buffer with this many bytes from this offset on; returns the failure, if that cannot
    /// be.
    fn read(&mut self, buffer: &mut [u8], len: usize, offset: u64) -> Option<Failure> {
        if self.access.stopped() {
            return Some(Failure::Refused(Errno::CANCELED));
        }
        if self.holes.cover(self.open.fd, offset, len as u64) {
            buffer[..len].fill(0);
            return None;
        }
        match self.open.read(self.access, 0, buffer, len, offset) {
            Ok(n) if n >= len => None,
            // Shorter than the scan said: cut off meanwhile.
            Ok(_) => Some(Failure::Changed),
            Err(e) => Some(refused(self.task, self.open.fd, e)),
        }
    }

    /// True if a block is known to be all zeros.
    fn is_hole(&mut self, (offset, len): (u64, usize)) -> bool {
        !self.access.stopped() && self.holes.cover(self.open.fd, offset, len as u64)
    }
}

/// Compares the files of a batch with each other and answers for each.
///
/// If descriptors are too few for all of them, none is compared, unless every byte must be compared.
pub fn run(reader: &mut Reader, batch: &Batch, done: &Sender<Vec<Completion>>) {
    let mut answers = Vec::with_capacity(batch.tasks.len());
    let opened = open(reader, batch, &mut answers);
    if let Some(opened) = &opened {
        let access = reader.settings.access.clone();
        let files = opened.iter().map(|(task, fd, now)| File {
            holes: Holes::of(task.ask != Ask::EveryByte && reader.is_thin(fd, now)),
            may_be_stored: may_be_stored(task, fd.as_fd()),
            ..File::new(task, fd, &access)
        });
        let files = gather_by_blocks(reader, files.collect());
        compare(files, &mut answers);
    } else {
        let none = |task: &Task| completion(task, Outcome::NotCompared);
        answers = batch.tasks.iter().map(none).collect();
    }
    // Send fails only after the run ended.
    let _ignored = done.send(answers);
    // The descriptors are closed after the answers: that call may not return either.
    drop(opened);
}

fn completion(task: &Task, outcome: Outcome) -> Completion {
    Completion {
        ticket: task.ticket,
        outcome,
    }
}

fn failed_with((task, failure): Failed<'_>) -> Completion {
    completion(task, Outcome::Failed(failure))
}

/// Opens the files of a batch, and answers for those that cannot be opened; `None` if descriptors are too few. If every
/// byte must be compared, it waits for them.
fn open<'a>(
    reader: &mut Reader,
    batch: &'a Batch,
    answers: &mut Vec<Completion>,
) -> Option<Vec<(&'a Task, OwnedFd, Stat)>> {
    let mut files = Vec::with_capacity(batch.tasks.len());
    for task in &batch.tasks {
        let opened = reader.open(task, batch.name(task), task.ask != Ask::EveryByte)?;
        match opened.and_then(|fd| expected(task, fd.as_fd()).map(|now| (fd, now))) {
            Ok((fd, now)) => files.push((task, fd, now)),
            Err(failure) => answers.push(failed_with((task, failure))),
        }
    }
    Some(files)
}

/// Groups files that lie in the same blocks. Between the first query of the last file and the second query of the first
/// file, there is a moment at which all files lay in the blocks that both queries found.
fn gather_by_blocks<'a>(reader: &Reader, files: Vec<File<'a>>) -> Vec<File<'a>> {
    let look = |file: &File<'_>| {
        let is_asked = file.task.ask != Ask::EveryByte;
        is_asked
            .then(|| reader.blocks(file.task, file.open.fd))
            .flatten()
    };
    let first: Vec<_> = files.iter().map(look).collect();
    let mut common = HashMap::new();
    for blocks in first.iter().flatten() {
        *common.entry(*blocks).or_insert(0) += 1;
    }
    let mut gathered: Vec<File<'a>> = Vec::with_capacity(files.len());
    let mut places: HashMap<PlacesDigest, usize> = HashMap::new();
    for (file, first) in files.into_iter().zip(first) {
        let first = first.filter(|blocks| common.get(blocks) > Some(&1));
        let sure = first.filter(|_| look(&file) == first);
        match sure.map(|blocks| places.entry(blocks)) {
            Some(Entry::Occupied(at)) => gathered[*at.get()].same_blocks.push(file),
            Some(Entry::Vacant(at)) => {
                at.insert(gathered.len());
                gathered.push(file);
            }
            None => gathered.push(file),
        }
    }
    gathered
}

/// Compares files to their end, and answers for each.
fn compare(files: Vec<File<'_>>, answers: &mut Vec<Completion>) {
    let Some(first) = files.first() else { return };
    if files.len() == 1 {
        return settle(&files, 0, answers);
    }
    let block = match first.task.ask {
        // A head had better stay with each file for long.
        Ask::EveryByte => files.iter().filter_map(|file| file.open.turn).max(),
        _ => Some(BLOCK),
    };
    let len = first.task.expect.size;
    let mut comparison = Comparison::new(files, len, block.unwrap_or(PIECE));
    while let Some(alone) = comparison.step() {
        for file in alone {
            settle(&[file], comparison.read, answers);
        }
    }
    for class in &comparison.classes {
        settle(class, comparison.read, answers);
    }
    answers.extend(comparison.failed.into_iter().map(failed_with));
}

/// Answers for files that are equal to each other and to no others, after this many bytes.
fn settle(class: &[File<'_>], bytes: u64, answers: &mut Vec<Completion>) {
    let Some(first) = class.first() else { return };
    let mut answer = |file: &File<'_>, state: Result<(), Failure>, bytes| {
        let outcome = match state {
            Ok(()) => Outcome::Compared {
                with: first.task.file,
                bytes,
                may_be_stored: file.may_be_stored,
            },
            Err(failure) => Outcome::Failed(failure),
        };
        answers.push(completion(file.task, outcome));
    };
    let state = |file: &File<'_>| is_expected(file.task, file.open.fd);
    for file in class {
        file.open.leave(file.task.expect.size);
        let own = state(file);
        answer(file, own, bytes);
        for other in &file.same_blocks {
            // What was read for it may be what the other became.
            let like_own = own.map_err(|_| Failure::Changed);
            answer(other, like_own.and_then(|()| state(other)), 0);
        }
    }
}
