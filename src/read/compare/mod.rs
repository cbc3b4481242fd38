//! Compares files of one length with each other, block by block.
//!
//! All files advance together. The comparison drops a file as soon as it differs from all others, and reads each byte
//! once. On cached files this is faster than any strong hash. The search compares such files instead of hashing them,
//! `--verify` compares the sets that were found, and an action compares its two files.

mod blocks;
mod late;
mod lock_step;
mod pair;
mod split;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::AsFd;

use crossbeam_channel::Sender;
use rustix::io::Errno;

use crate::hash::PlacesDigest;
use crate::read::access::{Access, Signs};
use crate::read::fold::Fold;
use crate::read::holes::Holes;
use crate::read::open_file::OpenFile;
use crate::read::reader::{Reader, expected, is_expected, is_unwritten, refused};
use crate::read::task::{Ask, Batch, Completion, Failure, Outcome, Task};

use blocks::{BLOCK, Blocks};
use late::{Late, Left};
use lock_step::{Buffers, Comparison};
use split::Side;

pub use pair::{Unequal, Which, equal};

/// An open file and its properties.
struct File<'a> {
    task: &'a Task,
    rules: (&'a Access, &'a Signs),
    open: OpenFile<Late<'a>>,
    /// The holes of the file.
    holes: Holes,
    /// Files that lie in the same blocks, and so have the same bytes.
    same_blocks: Vec<File<'a>>,
    /// Before it was read, some of its bytes were not on the disk yet, and it matters.
    unwritten: bool,
}

impl<'a> File<'a> {
    /// Records that the file could not be read. The first file in the same blocks represents the others from now on. If
    /// this file has changed, the bytes read from it so far may not be theirs.
    fn fail(mut self, failure: Failure, failed: &mut Vec<(&'a Task, Failure)>) -> Option<Self> {
        failed.push((self.task, failure));
        let mut same_blocks = self.same_blocks.drain(..);
        if is_expected(self.task, self.open.fd.as_fd()).is_err() {
            failed.extend(same_blocks.map(|file| (file.task, Failure::Changed)));
            return None;
        }
        let next = same_blocks.next()?;
        Some(Self {
            same_blocks: same_blocks.collect(),
            ..next
        })
    }
}

impl<'a> Side for File<'a> {
    type Failed = (&'a Task, Failure);

    fn read(
        mut self,
        buffer: &mut [u8],
        len: usize,
        offset: u64,
        failed: &mut Vec<Self::Failed>,
    ) -> Result<Self, Option<Self>> {
        let failure = if self.rules.1.stopped() {
            Failure::Refused(Errno::CANCELED)
        } else if self.holes.cover(&self.open.fd, offset, len as u64) {
            buffer[..len].fill(0);
            return Ok(self);
        } else {
            match self.open.read(self.rules, 0, buffer, len, offset) {
                Ok(n) if n >= len => return Ok(self),
                // Shorter than the scan said: cut off meanwhile.
                Ok(_) => Failure::Changed,
                Err(e) => refused(self.task, self.open.fd.as_fd(), e),
            }
        };
        Err(self.fail(failure, failed))
    }

    fn is_hole(&mut self, offset: u64, len: usize) -> bool {
        !self.rules.1.stopped() && self.holes.cover(&self.open.fd, offset, len as u64)
    }
}

/// Compares the files of a batch with each other and answers for each.
///
/// If descriptors are too few for all of them, none is compared, unless every byte must be compared.
pub fn run<F: Fold>(
    reader: &mut Reader<F>,
    batch: &Batch,
    done: &Sender<Vec<Completion<F::Digest>>>,
) {
    let left = Left::new();
    let outcomes = match batch.tasks.iter().all(|task| task.ask == Ask::EveryByte) {
        true => verify::run(reader, batch, &left),
        false => search(reader, batch, &left),
    };
    // Send fails only after the run ended.
    let _ignored = done.send(outcomes);
    left.close();
}

/// Compares files for the search.
fn search<F: Fold>(
    reader: &mut Reader<F>,
    batch: &Batch,
    left: &Left,
) -> Vec<Completion<F::Digest>> {
    let access = reader.settings.access.clone();
    let signs = reader.signs.clone();
    let rules = (&access, &signs);
    let mut answers = Vec::with_capacity(batch.tasks.len());
    match open_all(reader, rules, batch, left, &mut answers) {
        Some(files) => {
            let files = gather_by_blocks(reader, files);
            compare(files, &mut answers);
            answers
        }
        None => {
            let none = |task: &Task| completion(task, Outcome::NotCompared);
            batch.tasks.iter().map(none).collect()
        }
    }
}

fn completion<D>(task: &Task, outcome: Outcome<D>) -> Completion<D> {
    Completion {
        ticket: task.ticket,
        outcome,
    }
}

/// Opens the files that can be opened; `None` if descriptors run out.
fn open_all<'a, F: Fold>(
    reader: &mut Reader<F>,
    rules: (&'a Access, &'a Signs),
    batch: &'a Batch,
    left: &'a Left,
    answers: &mut Vec<Completion<F::Digest>>,
) -> Option<Vec<File<'a>>> {
    let mut files = Vec::with_capacity(batch.tasks.len());
    for task in &batch.tasks {
        let opened = match reader.stopped() {
            true => Err(Failure::Refused(Errno::CANCELED)),
            false => reader.try_open(task, batch.name(task))?,
        };
        let opened = opened.map(|fd| left.late(fd));
        match opened.and_then(|fd| expected(task, fd.as_fd()).map(|now| (fd, now))) {
            Ok((fd, now)) => files.push(File {
                task,
                rules,
                holes: Holes::of(reader.is_thin(&fd, &now)),
                unwritten: is_unwritten(task, fd.as_fd()),
                open: OpenFile::whole(fd, now.size, task.device, rules.0),
                same_blocks: Vec::new(),
            }),
            Err(failure) => answers.push(completion(task, Outcome::Failed(failure))),
        }
    }
    Some(files)
}

/// Groups files that lie in the same blocks. Between the first query of the last file and the second query of the first
/// file, there is a moment at which all files lay in the blocks that both queries found.
fn gather_by_blocks<'a, F: Fold>(reader: &Reader<F>, files: Vec<File<'a>>) -> Vec<File<'a>> {
    let look = |file: &File<'_>| reader.blocks(file.task, file.open.fd.as_fd());
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

fn compare<D>(files: Vec<File<'_>>, answers: &mut Vec<Completion<D>>) {
    let len = files.first().map_or(0, |file| file.task.expect.size);
    if files.len() == 1 {
        return settle(&files, 0, answers);
    }
    let blocks = Blocks::new(files.len(), len);
    let all = Comparison::new(files, blocks);
    to_the_end(all, &mut Buffers::new(BLOCK), answers);
}

/// Compares files to their end and answers for each.
fn to_the_end<D>(
    mut comparison: Comparison<File<'_>>,
    buffers: &mut Buffers,
    answers: &mut Vec<Completion<D>>,
) {
    while let Some(step) = comparison.step(buffers) {
        let failed = step.failed.into_iter();
        answers.extend(failed.map(|(task, failure)| completion(task, Outcome::Failed(failure))));
        for file in step.alone {
            settle(&[file], comparison.read, answers);
        }
    }
    for class in comparison.classes {
        settle(&class, comparison.read, answers);
    }
}

/// Answers for files that are equal to each other and to no others, after this many bytes.
fn settle<D>(class: &[File<'_>], bytes: u64, answers: &mut Vec<Completion<D>>) {
    let Some(first) = class.first() else { return };
    let mut answer = |file: &File<'_>, state: Result<(), Failure>, bytes| {
        let outcome = match state {
            Ok(()) => Outcome::Compared {
                with: first.task.file,
                bytes,
                unwritten: file.unwritten,
            },
            Err(failure) => Outcome::Failed(failure),
        };
        answers.push(completion(file.task, outcome));
    };
    let state = |file: &File<'_>| is_expected(file.task, file.open.fd.as_fd());
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
