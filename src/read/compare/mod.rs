//! Compares files of one length with each other, block by block, instead of hashing them.
//!
//! All of them advance together, so that each is left alone as soon as it differs from all others,
//! and bytes are looked at once. On cached files this is faster than any strong hash.

mod blocks;
mod split;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crossbeam_channel::Sender;
use rustix::io::Errno;

use crate::read::fold::Fold;
use crate::read::holes::Holes;
use crate::read::reader::{Reader, Signs, expected, is_expected};
use crate::read::task::{Batch, Completion, Failure, Outcome, Task};

use crate::hash::PlacesDigest;

use blocks::{BLOCK, Blocks};
use split::{Block, is_shared_out, threads_for};

/// An open file and what it is.
struct File<'a> {
    task: &'a Task,
    fd: OwnedFd,
    /// Where it has no bytes of its own.
    holes: Holes,
    /// Files that lie in the same blocks: what this one holds they hold too.
    kin: Vec<File<'a>>,
}

impl<'a> File<'a> {
    /// Takes note that it could not be read, and leaves the first of its kin to stand for the others. If it has
    /// changed, what was read of it so far may not be theirs.
    fn fail(mut self, failure: Failure, failed: &mut Vec<(&'a Task, Failure)>) -> Option<Self> {
        failed.push((self.task, failure));
        let mut kin = self.kin.drain(..);
        if is_expected(self.task, self.fd.as_fd()).is_err() {
            failed.extend(kin.map(|kin| (kin.task, Failure::Changed)));
            return None;
        }
        let next = kin.next()?;
        Some(Self {
            kin: kin.collect(),
            ..next
        })
    }
}

/// Compares the files of a batch with each other and answers for each.
///
/// If descriptors are too few for all of them, none is compared.
pub fn run<F: Fold>(
    reader: &mut Reader<F>,
    batch: &Batch,
    done: &Sender<Vec<Completion<F::Digest>>>,
) {
    let mut answers = Vec::with_capacity(batch.tasks.len());
    let outcomes = match open_all(reader, batch, &mut answers) {
        Some(files) => {
            let files = gather_kin(reader, files);
            compare(reader, files, &mut answers);
            answers
        }
        None => {
            let none = |task: &Task| completion(task, Outcome::NotCompared);
            batch.tasks.iter().map(none).collect()
        }
    };
    // Nobody listens any more only when the run is over.
    let _ignored = done.send(outcomes);
}

fn completion<D>(task: &Task, outcome: Outcome<D>) -> Completion<D> {
    Completion {
        ticket: task.ticket,
        outcome,
    }
}

/// Opens what can be opened; `None` if descriptors run out.
fn open_all<'a, F: Fold>(
    reader: &mut Reader<F>,
    batch: &'a Batch,
    answers: &mut Vec<Completion<F::Digest>>,
) -> Option<Vec<File<'a>>> {
    let mut files = Vec::with_capacity(batch.tasks.len());
    for task in &batch.tasks {
        let opened = match reader.stopped() {
            true => Err(Failure::Refused(Errno::CANCELED)),
            false => reader.try_open(task, batch.name(task))?,
        };
        match opened.and_then(|fd| expected(task, fd.as_fd()).map(|now| (fd, now))) {
            Ok((fd, now)) => files.push(File {
                task,
                holes: Holes::of(reader.is_thin(&fd, &now)),
                fd,
                kin: Vec::new(),
            }),
            Err(failure) => answers.push(completion(task, Outcome::Failed(failure))),
        }
    }
    Some(files)
}

/// Puts files together that lie in the same blocks. Between the first look at the last of them and the
/// second look at the first there is a moment when all lay where both looks found them.
fn gather_kin<'a, F: Fold>(reader: &Reader<F>, files: Vec<File<'a>>) -> Vec<File<'a>> {
    let look = |file: &File<'_>| reader.blocks(file.task, file.fd.as_fd());
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
            Some(Entry::Occupied(at)) => gathered[*at.get()].kin.push(file),
            Some(Entry::Vacant(at)) => {
                at.insert(gathered.len());
                gathered.push(file);
            }
            None => gathered.push(file),
        }
    }
    gathered
}

fn compare<F: Fold>(
    reader: &mut Reader<F>,
    files: Vec<File<'_>>,
    answers: &mut Vec<Completion<F::Digest>>,
) {
    let len = files.first().map_or(0, |file| file.task.expect.size);
    let signs = reader.signs.clone();
    if files.len() == 1 {
        return settle(&files, 0, answers);
    }
    let all = Comparison {
        blocks: Blocks::new(files.len(), len),
        read: 0,
        told_apart: false,
        is_crowd: is_shared_out(&files),
        classes: vec![files],
    };
    let mut buffers = [vec![0; BLOCK], vec![0; BLOCK]];
    all.run(&mut buffers, &signs, answers);
}

/// Files that were equal to each other as far as they were read.
struct Comparison<'a> {
    blocks: Blocks,
    /// Bytes read of each.
    read: u64,
    /// The last block told some of them apart.
    told_apart: bool,
    /// So many that several threads work for them.
    is_crowd: bool,
    classes: Vec<Vec<File<'a>>>,
}

impl<'a> Comparison<'a> {
    /// Compares them to their end and answers for each.
    fn run<D: Send>(
        mut self,
        buffers: &mut [Vec<u8>; 2],
        signs: &Signs,
        answers: &mut Vec<Completion<D>>,
    ) {
        while !self.classes.is_empty()
            && let Some((offset, want)) = self.blocks.next(self.told_apart)
        {
            let before = self.classes.len();
            let mut split = Vec::new();
            let mut is_read = false;
            for mut class in std::mem::take(&mut self.classes) {
                if !signs.stopped() && is_common_hole(&mut class, offset, want) {
                    split.push(class);
                    continue;
                }
                is_read = true;
                let [first, piece] = &mut *buffers;
                let block = Block {
                    offset,
                    piece: &mut piece[..want],
                    first: &mut first[..want],
                    signs,
                };
                let failed = block.split(class, &mut split);
                answers.extend(
                    failed
                        .into_iter()
                        .map(|(task, failure)| completion(task, Outcome::Failed(failure))),
                );
            }
            self.told_apart = split.len() > before;
            self.read += if is_read { want as u64 } else { 0 };
            for class in split {
                match class.len() {
                    1 => settle(&class, self.read, answers),
                    _ => self.classes.push(class),
                }
            }
            let threads = self.threads();
            if threads > 1 {
                return self.each_on_its_own(threads, signs, answers);
            }
        }
        for class in self.classes {
            settle(&class, self.read, answers);
        }
    }

    /// Threads that can each take a class of its own, once several no longer share the files of one.
    fn threads(&self) -> usize {
        if !self.is_crowd || self.classes.iter().any(|class| is_shared_out(class)) {
            return 1;
        }
        let files: usize = self.classes.iter().map(Vec::len).sum();
        threads_for(self.blocks.left().saturating_mul(files)).min(self.classes.len())
    }

    /// Has threads take one class after the other to its end.
    fn each_on_its_own<D: Send>(
        self,
        threads: usize,
        signs: &Signs,
        answers: &mut Vec<Completion<D>>,
    ) {
        let queue = Mutex::new(self.classes.into_iter());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let merged = Mutex::new(answers);
        let work = || {
            let mut own = Vec::new();
            let mut buffers = [vec![0; BLOCK], vec![0; BLOCK]];
            while let Some(class) = next() {
                let alone = Comparison {
                    blocks: self.blocks.clone(),
                    is_crowd: false,
                    classes: vec![class],
                    ..self
                };
                alone.run(&mut buffers, signs, &mut own);
            }
            let mut merged = merged.lock().unwrap_or_else(PoisonError::into_inner);
            merged.append(&mut own);
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                let thread = thread::Builder::new().name("compare".to_owned());
                let _ignored = thread.spawn_scoped(scope, work);
            }
            work();
        });
    }
}

/// True if none of these files has bytes of its own in a block.
fn is_common_hole(class: &mut [File<'_>], offset: u64, len: usize) -> bool {
    class
        .iter_mut()
        .all(|file| file.holes.cover(&file.fd, offset, len as u64))
}

/// Answers for files that were equal to each other and to no others, after so many bytes.
fn settle<D>(class: &[File<'_>], bytes: u64, answers: &mut Vec<Completion<D>>) {
    let Some(first) = class.first() else { return };
    let mut answer = |file: &File<'_>, state: Result<(), Failure>, bytes| {
        let outcome = match state {
            Ok(()) => Outcome::Compared {
                with: first.task.file,
                bytes,
            },
            Err(failure) => Outcome::Failed(failure),
        };
        answers.push(completion(file.task, outcome));
    };
    let state = |file: &File<'_>| is_expected(file.task, file.fd.as_fd());
    for file in class {
        let own = state(file);
        answer(file, own, bytes);
        for kin in &file.kin {
            // What was read for it may be what the other became.
            let like_own = own.map_err(|_| Failure::Changed);
            answer(kin, like_own.and_then(|()| state(kin)), 0);
        }
    }
}
