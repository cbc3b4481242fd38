//! Compares every byte of every file of a set with the first file that can be read.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

use crate::read::access::PIECE;
use crate::read::holes::Holes;
use crate::read::open_file::OpenFile;
use crate::read::reader::{Reader, is_expected};
use crate::read::task::{Batch, Completion, Outcome, Task};

use super::{File, compare, completion, failed_with};

/// Maximum number of files that are compared at a time: each is open.
const TOGETHER: usize = 8;

/// Compares the files of a batch with the first of them that can be read, some at a time. Returns an answer for each, and
/// descriptors to be closed after these are sent.
pub fn run(reader: &mut Reader, batch: &Batch) -> (Vec<Completion>, Vec<OwnedFd>) {
    let mut answers = Vec::with_capacity(batch.tasks.len());
    let mut waiting: VecDeque<&Task> = batch.tasks.iter().collect();
    // Files that are equal to each other, and the bytes read of each. The next files are compared with the first of them.
    let mut same: VecDeque<(&Task, u64)> = VecDeque::new();
    let mut left = Vec::new();
    while !waiting.is_empty() {
        let base = same.front().map(|&(task, _)| task);
        base.into_iter().for_each(|task| waiting.push_front(task));
        let (opened, failed) = open(reader, batch, &mut waiting);
        answers.extend(failed);
        let mut equal = compared(reader, &opened, &mut answers);
        left = opened.into_iter().map(|(_, fd)| fd).collect();
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

/// Opens the next files: two at least, and more as far as descriptors are free.
fn open<'a>(
    reader: &mut Reader,
    batch: &'a Batch,
    waiting: &mut VecDeque<&'a Task>,
) -> (Vec<(&'a Task, OwnedFd)>, Vec<Completion>) {
    let (mut files, mut failed) = (Vec::new(), Vec::new());
    while files.len() < TOGETHER
        && let Some(&task) = waiting.front()
        && let Some(opened) = reader.open(task, batch.name(task), files.len() > 1)
    {
        waiting.pop_front();
        match opened.and_then(|fd| is_expected(task, fd.as_fd()).map(|()| fd)) {
            Ok(fd) => files.push((task, fd)),
            Err(failure) => failed.push(failed_with(task, failure)),
        }
    }
    (files, failed)
}

/// The groups of equal files among these, and the bytes read of each file. Groups and files are in the order of the files.
fn compared<'a>(
    reader: &Reader,
    opened: &[(&'a Task, OwnedFd)],
    answers: &mut Vec<Completion>,
) -> Vec<Vec<(&'a Task, u64)>> {
    let access = &reader.settings.access;
    let files = opened.iter().map(|(task, fd)| File {
        task,
        access,
        open: OpenFile::whole(fd.as_fd(), task.expect.size, task.device, access),
        holes: Holes::of(false),
        same_blocks: Vec::new(),
        may_be_stored: false,
    });
    let files: Vec<File<'_>> = files.collect();
    let block = files.iter().filter_map(|file| file.open.turn).max();
    let place = |of: &Task| opened.iter().position(|(task, _)| task.ticket == of.ticket);
    let mut groups: Vec<Vec<(usize, u64)>> = Vec::new();
    let failed = compare(files, block.unwrap_or(PIECE), |class, bytes| {
        let mut group = Vec::with_capacity(class.len());
        for file in class {
            file.open.leave(file.task.expect.size);
            match is_expected(file.task, file.open.fd) {
                Ok(()) => group.extend(place(file.task).map(|at| (at, bytes))),
                Err(failure) => answers.push(failed_with(file.task, failure)),
            }
        }
        groups.push(group);
    });
    answers.extend(
        failed
            .into_iter()
            .map(|(task, failure)| failed_with(task, failure)),
    );
    groups.retain(|group| !group.is_empty());
    groups.sort_by_key(|group| group[0]);
    let task = |(at, bytes): (usize, u64)| (opened[at].0, bytes);
    let groups = groups.into_iter();
    groups
        .map(|group| group.into_iter().map(task).collect())
        .collect()
}
