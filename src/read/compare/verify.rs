//! Compares every byte of every file of a set with the first file that can be read.

use std::collections::VecDeque;
use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::read::access::{Access, Signs};
use crate::read::fold::Fold;
use crate::read::holes::Holes;
use crate::read::open_file::OpenFile;
use crate::read::reader::{Reader, expected};
use crate::read::task::{Batch, Completion, Failure, Outcome, Task};
use crate::sys::extents;

use super::blocks::{BLOCK, Blocks};
use super::late::Left;
use super::lock_step::{Buffers, Comparison};
use super::{File, completion, settle, to_the_end};

/// A set that is compared in rounds: the number of its files that are open at a time is limited by the descriptors.
struct Rounds<'a> {
    batch: &'a Batch,
    rules: (&'a Access, &'a Signs),
    /// The descriptors of earlier rounds.
    left: &'a Left,
    waiting: VecDeque<&'a Task>,
    /// Equal files, with the bytes read of each. The first file takes part in all rounds.
    equal: Vec<(&'a Task, u64)>,
}

/// Compares the files of a batch with the first of them that can be read, and answers for each.
pub fn run<F: Fold>(
    reader: &mut Reader<F>,
    batch: &Batch,
    left: &Left,
) -> Vec<Completion<F::Digest>> {
    let (access, signs) = (reader.settings.access.clone(), reader.signs.clone());
    let mut rounds = Rounds {
        batch,
        rules: (&access, &signs),
        left,
        waiting: batch.tasks.iter().collect(),
        equal: Vec::new(),
    };
    let mut answers = Vec::with_capacity(batch.tasks.len());
    while !rounds.waiting.is_empty() {
        left.close();
        let files = rounds.open(reader, &mut answers);
        rounds.compare(files, &mut answers);
    }
    let equal = rounds.equal.into_iter();
    answers.extend(equal.map(|(task, bytes)| verified(task, true, bytes)));
    answers
}

fn verified<D>(task: &Task, equal: bool, bytes: u64) -> Completion<D> {
    completion(task, Outcome::Verified { equal, bytes })
}

fn failed<D>(task: &Task, failure: Failure) -> Completion<D> {
    completion(task, Outcome::Failed(failure))
}

impl<'a> Rounds<'a> {
    /// Opens the files of a round, the first of the set before all others.
    fn open<F: Fold>(
        &mut self,
        reader: &mut Reader<F>,
        answers: &mut Vec<Completion<F::Digest>>,
    ) -> Vec<File<'a>> {
        let mut files = Vec::new();
        while files.is_empty() {
            if self.equal.is_empty() {
                let Some(task) = self.waiting.pop_front() else {
                    return files;
                };
                self.equal.push((task, 0));
            }
            let (task, _) = self.equal[0];
            match self
                .file(reader, task, true)
                .unwrap_or_else(out_of_descriptors)
            {
                Ok(file) => files.push(file),
                Err(failure) => {
                    self.equal.remove(0);
                    answers.push(failed(task, failure));
                }
            }
        }
        while files.len() < reader.settings.set_files.max(2)
            && let Some(&task) = self.waiting.front()
        {
            // Two are enough to go on.
            let Some(opened) = self.file(reader, task, files.len() < 2) else {
                break;
            };
            self.waiting.pop_front();
            match opened {
                Ok(file) => files.push(file),
                Err(failure) => answers.push(failed(task, failure)),
            }
        }
        files
    }

    /// Opens a file; `None` if there is no descriptor for it, and waiting may help.
    fn file<F: Fold>(
        &self,
        reader: &mut Reader<F>,
        task: &'a Task,
        waits: bool,
    ) -> Option<Result<File<'a>, Failure>> {
        let name = self.batch.name(task);
        let opened = match (reader.stopped(), waits) {
            (true, _) => Err(Failure::Refused(Errno::CANCELED)),
            (false, true) => reader.open(task, name),
            (false, false) => reader.try_open(task, name)?,
        };
        let file = opened.and_then(|fd| {
            let fd = self.left.late(fd);
            let size = expected(task, fd.as_fd())?.size;
            Ok(File {
                task,
                rules: self.rules,
                open: OpenFile::whole(fd, size, task.device, self.rules.0),
                holes: Holes::of(false),
                same_blocks: Vec::new(),
                unwritten: false,
            })
        });
        Some(file)
    }

    /// Compares the files of a round with each other, and records those that are equal to the first of the set.
    fn compare<D>(&mut self, mut files: Vec<File<'a>>, answers: &mut Vec<Completion<D>>) {
        let tasks: Vec<&'a Task> = files.iter().map(|file| file.task).collect();
        let Some(first) = tasks.first() else { return };
        let len = first.expect.size;
        let mut ended: Vec<Completion<D>> = Vec::with_capacity(tasks.len());
        if files.len() == 1 {
            settle(&files, 0, &mut ended);
        } else {
            if first.device.has_head {
                files.sort_by_cached_key(|file| {
                    let position = extents::first_position(&file.open.fd, 0);
                    position.unwrap_or(file.task.expect.ino)
                });
            }
            let turn = files.iter().filter_map(|file| file.open.turn).max();
            let block = turn.unwrap_or(BLOCK);
            let mut buffers = Buffers::new(block.min(len.next_multiple_of(4096) as usize));
            let comparison = Comparison::new(files, Blocks::front_to_back(len, block));
            to_the_end(comparison, &mut buffers, &mut ended);
        }
        let outcome = |task: &Task| {
            let of = ended.iter().find(|ended| ended.ticket == task.ticket);
            of.map(|ended| &ended.outcome)
        };
        let class_of = |task: &Task| match outcome(task) {
            Some(Outcome::Compared { with, .. }) => Some(*with),
            _ => None,
        };
        let mut class = class_of(first);
        if class.is_none() {
            // The next one takes its place.
            self.equal.remove(0);
            match self.equal.is_empty() {
                true => class = tasks.iter().find_map(|task| class_of(task)),
                false => {
                    let again = tasks.iter().filter(|task| class_of(task).is_some());
                    again.rev().for_each(|task| self.waiting.push_front(task));
                }
            }
        }
        for task in &tasks {
            match outcome(task) {
                Some(&Outcome::Compared { with, bytes, .. }) if Some(with) == class => {
                    match self.equal.first_mut() {
                        Some((first, read)) if first.ticket == task.ticket => *read += bytes,
                        _ => self.equal.push((task, bytes)),
                    }
                }
                Some(&Outcome::Compared { bytes, .. }) if class.is_some() => {
                    answers.push(verified(task, false, bytes));
                }
                Some(Outcome::Failed(failure)) => answers.push(failed(task, *failure)),
                _ => {}
            }
        }
    }
}

/// Waits for a descriptor, or reports that there is none.
fn out_of_descriptors<T>() -> Result<T, Failure> {
    Err(Failure::Refused(Errno::MFILE))
}
