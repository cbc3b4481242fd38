//! Compares every byte of every file of a set with the first file that can be read.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::read::fold::Fold;
use crate::read::open_file::OpenFile;
use crate::read::reader::{Reader, expected, is_expected, refused};
use crate::read::task::{Batch, Completion, Failure, Outcome, Task};

use super::{Unequal, Which, completion, equal};

/// Compares the files of a batch with the first of them that can be read. Returns an answer for each, and descriptors to
/// be closed after these are sent.
pub fn run<F: Fold>(
    reader: &mut Reader<F>,
    batch: &Batch,
) -> (Vec<Completion<F::Digest>>, Vec<OwnedFd>) {
    let mut waiting: VecDeque<&Task> = batch.tasks.iter().collect();
    let mut answers = Vec::with_capacity(batch.tasks.len());
    // Files that are equal to each other, and the bytes read of each. The others are compared with the first of them.
    let mut same: VecDeque<(&Task, u64)> = VecDeque::new();
    let mut first: Option<OpenFile<OwnedFd>> = None;
    let mut left = Vec::new();
    while let Some(task) = waiting.pop_front() {
        let number = waiting.len();
        while first.is_none()
            && let Some((task, _)) = same.front()
        {
            match open(reader, batch, task) {
                Ok(file) => first = Some(file),
                Err(failure) => {
                    answers.push(completion(task, Outcome::Failed(failure)));
                    same.pop_front();
                }
            }
        }
        let file = match open(reader, batch, task) {
            Ok(file) => file,
            Err(failure) => {
                answers.push(completion(task, Outcome::Failed(failure)));
                continue;
            }
        };
        left.clear();
        let (Some(base), Some((base_task, read))) = (&first, same.front_mut()) else {
            same.push_back((task, 0));
            // Most likely, it is in the page cache when it is read again.
            first = Some(match number {
                0 | 1 => file,
                _ => file.read_again(&reader.settings.access),
            });
            continue;
        };
        match compare(reader, [(base_task, base), (task, &file)]) {
            Ok(is_equal) => {
                let bytes = task.expect.size;
                *read += bytes;
                file.leave(bytes);
                match is_equal {
                    true => same.push_back((task, bytes)),
                    false => {
                        let equal = false;
                        answers.push(completion(task, Outcome::Verified { equal, bytes }));
                    }
                }
            }
            Err((Which::Second, failure)) => {
                answers.push(completion(task, Outcome::Failed(failure)));
            }
            Err((Which::First, failure)) => {
                answers.push(completion(base_task, Outcome::Failed(failure)));
                same.pop_front();
                left.extend(first.take().map(|file| file.fd));
                waiting.push_front(task);
            }
        }
        left.push(file.fd);
    }
    if let Some(file) = first {
        file.leave(same.front().map_or(0, |(task, _)| task.expect.size));
        left.push(file.fd);
    }
    let equal = true;
    let same = same.into_iter();
    answers.extend(same.map(|(task, bytes)| completion(task, Outcome::Verified { equal, bytes })));
    (answers, left)
}

fn open<F: Fold>(
    reader: &mut Reader<F>,
    batch: &Batch,
    task: &Task,
) -> Result<OpenFile<OwnedFd>, Failure> {
    let opened = reader.open(task, batch.name(task), false);
    let fd = opened.unwrap_or(Err(Failure::Refused(Errno::MFILE)))?;
    let size = expected(task, fd.as_fd())?.size;
    let access = &reader.settings.access;
    Ok(OpenFile::whole(fd, size, task.device, access))
}

/// True if two files are equal; the one that failed, if one did.
fn compare<F: Fold>(
    reader: &Reader<F>,
    files: [(&Task, &OpenFile<OwnedFd>); 2],
) -> Result<bool, (Which, Failure)> {
    let [(first, first_file), (second, second_file)] = files;
    let go_on = |_: &[u8], _| match reader.stopped() {
        true => Err(Failure::Refused(Errno::CANCELED)),
        false => Ok(()),
    };
    let access = &reader.settings.access;
    let len = first.expect.size;
    let compared = equal([first_file, second_file], access, len, go_on);
    let of = |which| match which {
        Which::First => (first, first_file.fd.as_fd()),
        Which::Second => (second, second_file.fd.as_fd()),
    };
    let is_equal = match compared {
        Ok(()) => true,
        Err(Unequal::Differ(_)) => false,
        // Shorter than the scan said: cut off meanwhile.
        Err(Unequal::Short(which)) => return Err((which, Failure::Changed)),
        Err(Unequal::Unreadable(which, error)) => {
            let (task, fd) = of(which);
            return Err((which, refused(task, fd, error)));
        }
        Err(Unequal::Stopped(failure)) => return Err((Which::Second, failure)),
    };
    for which in [Which::First, Which::Second] {
        let (task, fd) = of(which);
        is_expected(task, fd).map_err(|failure| (which, failure))?;
    }
    Ok(is_equal)
}
