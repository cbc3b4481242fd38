//! Compares files of one length with each other.
//!
//! On cached files this is faster than any strong hash, so the search compares such files instead of hashing them: all
//! advance together, and each byte is read once (`lock_step`). `--verify` compares the files of a set in the same way,
//! but reads every byte. Actions compare two open files (`open_file`).

mod lock_step;
#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
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

    /// Fills the beginning of a buffer with this many bytes from this offset on; returns the failure, if that cannot be.
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
    let (answers, left) = if batch.tasks.iter().all(|task| task.ask == Ask::EveryByte) {
        verify(reader, batch)
    } else {
        search(reader, batch)
    };
    // Send fails only after the run ended.
    let _ignored = done.send(answers);
    // The descriptors are closed after the answers: that call may not return either.
    drop(left);
}

/// Compares files for the search.
fn search(reader: &mut Reader, batch: &Batch) -> (Vec<Completion>, Vec<OwnedFd>) {
    let mut answers = Vec::with_capacity(batch.tasks.len());
    let mut waiting = batch.tasks.iter().collect();
    let opened = open(reader, batch, &mut waiting, (0, usize::MAX), &mut answers);
    if !waiting.is_empty() {
        let none = |task: &Task| completion(task, Outcome::NotCompared);
        return (batch.tasks.iter().map(none).collect(), Vec::new());
    }
    let access = reader.settings.access.clone();
    let files = opened.iter().map(|(task, fd, now)| File {
        holes: Holes::of(reader.is_thin(fd, now)),
        may_be_stored: may_be_stored(task, fd.as_fd()),
        ..File::new(task, fd, &access)
    });
    let files = gather_by_blocks(reader, files.collect());
    let failed = compare(files, BLOCK, |class, bytes| {
        settle(class, bytes, &mut answers)
    });
    answers.extend(failed);
    (answers, opened.into_iter().map(|(_, fd, _)| fd).collect())
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

/// Opens the next files as far as descriptors are free, and answers for those that cannot be opened. The first `least`
/// files wait for descriptors. At most `most` files are open.
fn open<'a>(
    reader: &mut Reader,
    batch: &'a Batch,
    waiting: &mut VecDeque<&'a Task>,
    (least, most): (usize, usize),
    answers: &mut Vec<Completion>,
) -> Vec<(&'a Task, OwnedFd, Stat)> {
    let mut files = Vec::new();
    while files.len() < most
        && let Some(&task) = waiting.front()
        && let Some(opened) = reader.open(task, batch.name(task), files.len() >= least)
    {
        waiting.pop_front();
        match opened.and_then(|fd| expected(task, fd.as_fd()).map(|now| (fd, now))) {
            Ok((fd, now)) => files.push((task, fd, now)),
            Err(failure) => answers.push(failed_with((task, failure))),
        }
    }
    files
}

/// Groups files that lie in the same blocks. Between the first query of the last file and the second query of the first
/// file, there is a moment at which all files lay in the blocks that both queries found.
fn gather_by_blocks<'a>(reader: &Reader, files: Vec<File<'a>>) -> Vec<File<'a>> {
    let look = |file: &File<'_>| reader.blocks(file.task, file.open.fd);
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

/// Compares files to their end, this many bytes of each at a time. `settle` gets the files that are equal to each other
/// and to no others, and the number of bytes read of each. Returns the answers for files that could not be read.
fn compare<'a>(
    files: Vec<File<'a>>,
    block: usize,
    mut settle: impl FnMut(&[File<'a>], u64),
) -> Vec<Completion> {
    let len = files.first().map_or(0, |file| file.task.expect.size);
    if files.len() == 1 {
        settle(&files, 0);
        return Vec::new();
    }
    let mut comparison = Comparison::new(files, len, block);
    while let Some(alone) = comparison.step() {
        for file in alone {
            settle(&[file], comparison.read);
        }
    }
    for class in &comparison.classes {
        settle(class, comparison.read);
    }
    comparison.failed.into_iter().map(failed_with).collect()
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

/// Maximum number of files that are compared at a time: each is open.
const TOGETHER: usize = 8;

/// Compares the files of a batch with the first of them that can be read, some at a time. Returns an answer for each, and
/// descriptors to be closed after these are sent.
fn verify(reader: &mut Reader, batch: &Batch) -> (Vec<Completion>, Vec<OwnedFd>) {
    let mut answers = Vec::with_capacity(batch.tasks.len());
    let mut waiting: VecDeque<&Task> = batch.tasks.iter().collect();
    // Files that are equal to each other, and the bytes read of each. The next files are compared with the first of them.
    let mut same: VecDeque<(&Task, u64)> = VecDeque::new();
    let mut left = Vec::new();
    while !waiting.is_empty() {
        let base = same.front().map(|&(task, _)| task);
        base.into_iter().for_each(|task| waiting.push_front(task));
        let opened = open(reader, batch, &mut waiting, (2, TOGETHER), &mut answers);
        let mut equal = compared(reader, &opened, &mut answers);
        left = opened.into_iter().map(|(_, fd, _)| fd).collect();
        // The files keep their order, so the first one is in the first group.
        let first = equal.first().and_then(|group| group.first());
        if let Some(base) = base {
            if first.is_none_or(|(task, _)| task.ticket != base.ticket) {
                // It cannot be read any more: the next one takes its place.
                same.pop_front();
                let again = equal.into_iter().flatten().map(|(task, _)| task);
                again.rev().for_each(|task| waiting.push_front(task));
                continue;
            }
            let read = equal[0].remove(0).1;
            same[0].1 += read;
        }
        let mut groups = equal.into_iter();
        same.extend(groups.next().unwrap_or_default());
        let others = groups.flatten();
        answers.extend(others.map(|(task, bytes)| answer(task, false, bytes)));
    }
    answers.extend(
        same.into_iter()
            .map(|(task, bytes)| answer(task, true, bytes)),
    );
    (answers, left)
}

fn answer(task: &Task, equal: bool, bytes: u64) -> Completion {
    completion(task, Outcome::Verified { equal, bytes })
}

/// The groups of equal files among these, and the bytes read of each file. Groups and files are in the order of the files.
fn compared<'a>(
    reader: &Reader,
    opened: &[(&'a Task, OwnedFd, Stat)],
    answers: &mut Vec<Completion>,
) -> Vec<Vec<(&'a Task, u64)>> {
    let access = &reader.settings.access;
    let files = opened.iter();
    let files: Vec<File<'_>> = files
        .map(|(task, fd, _)| File::new(task, fd, access))
        .collect();
    let block = files.iter().filter_map(|file| file.open.turn).max();
    let place = |of: &Task| {
        opened
            .iter()
            .position(|(task, ..)| task.ticket == of.ticket)
    };
    let mut groups: Vec<Vec<(usize, u64)>> = Vec::new();
    let failed = compare(files, block.unwrap_or(PIECE), |class, bytes| {
        let mut group = Vec::with_capacity(class.len());
        for file in class {
            file.open.leave(file.task.expect.size);
            match is_expected(file.task, file.open.fd) {
                Ok(()) => group.extend(place(file.task).map(|at| (at, bytes))),
                Err(failure) => answers.push(failed_with((file.task, failure))),
            }
        }
        groups.push(group);
    });
    answers.extend(failed);
    groups.retain(|group| !group.is_empty());
    groups.sort_by_key(|group| group[0]);
    let task = |(at, bytes): (usize, u64)| (opened[at].0, bytes);
    let groups = groups.into_iter();
    groups
        .map(|group| group.into_iter().map(task).collect())
        .collect()
}
