//! Reads one long file with several threads at a time.
//!
//! The file is cut into parts of one length. The thread that began with the file takes one part after the other, and so
//! does every thread of the pool that has no other task. The digests of the parts are ready in any order. The thread
//! that ends the last part joins the digests and reports the file's outcome.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::fold::Fold;
use super::in_progress::ReadSoFar;
use super::reader::{finished, is_whole};
use super::task::{Ask, Failure, Outcome, SPANS, Span, Task};

/// Bytes of a part, a power of two. Three cached files of 2 GB on two threads, with digests, took 0.98 s instead of
/// 1.12 s (the fastest of seven in turns on a busy machine) and the same CPU time; parts of 4 and of 64 MiB made no
/// difference. A part takes a thread 5 ms, so the threads end a file at most this far apart; waking a thread takes a
/// hundredth of this time.
pub const PART: u64 = 16 << 20;

/// Minimum number of parts of a file that is cut: 64 MiB take one thread 20 ms. Reasoned, not swept.
const LONG: u64 = 4;

/// A file has at most this many parts, or one more: each keeps its digest until all digests are known.
const MOST: u64 = 4096;

/// A file that is read in parts.
pub struct Parts<F: Fold> {
    task: Task,
    fd: Arc<OwnedFd>,
    /// Its reads go past the page cache.
    is_direct: bool,
    /// It has holes that need not be read.
    is_thin: bool,
    /// Bytes of each part but the last.
    each: u64,
    progress: Mutex<Progress<F::Part>>,
}

struct Progress<P> {
    /// The first part that no thread has taken.
    next: usize,
    under_way: usize,
    /// Bytes read.
    read: u64,
    /// The same as the progress display counts them.
    so_far: Vec<ReadSoFar>,
    done: Vec<Option<P>>,
    failure: Option<Failure>,
}

impl<P> Progress<P> {
    fn has_more(&self) -> bool {
        self.next < self.done.len() && self.failure.is_none()
    }
}

impl<F: Fold> Parts<F> {
    fn new(task: Task, fd: Arc<OwnedFd>, is_direct: bool, is_thin: bool, each: u64) -> Self {
        let count = task.expect.size.div_ceil(each) as usize;
        Self {
            task,
            fd,
            is_direct,
            is_thin,
            each,
            progress: Mutex::new(Progress {
                next: 0,
                under_way: 0,
                read: 0,
                so_far: Vec::new(),
                done: std::iter::repeat_with(|| None).take(count).collect(),
                failure: None,
            }),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress<F::Part>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next part: its number, and the task to read it. The thread that takes a part must end it.
    pub fn take(&self) -> Option<(usize, Task)> {
        let mut progress = self.progress();
        if !progress.has_more() {
            return None;
        }
        let number = progress.next;
        progress.next += 1;
        progress.under_way += 1;
        let offset = number as u64 * self.each;
        let len = self.each.min(self.task.expect.size - offset);
        let mut spans = [Span { offset: 0, len: 0 }; SPANS];
        spans[0] = Span { offset, len };
        Some((number, Task { spans, ..self.task }))
    }

    /// True if its reads go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// True if it has holes that need not be read.
    pub fn is_thin(&self) -> bool {
        self.is_thin
    }

    /// The file.
    pub fn file(&self) -> &Arc<OwnedFd> {
        &self.fd
    }

    /// Ends a part that was taken, with this many bytes read; returns the file's outcome if no part is left.
    pub fn end(
        &self,
        number: usize,
        part: Result<F::Part, Failure>,
        (read, so_far): (u64, Option<ReadSoFar>),
        fold: &F,
    ) -> Option<Outcome<F::Digest>> {
        let mut progress = self.progress();
        progress.under_way -= 1;
        progress.read += read;
        progress.so_far.extend(so_far);
        match part {
            Ok(part) => progress.done[number] = Some(part),
            Err(failure) => drop(progress.failure.get_or_insert(failure)),
        }
        if progress.under_way > 0 || progress.has_more() {
            return None;
        }
        progress.so_far.clear();
        let done = std::mem::take(&mut progress.done);
        let (failure, read) = (progress.failure, progress.read);
        drop(progress);
        let parts: Option<Vec<_>> = done.into_iter().collect();
        Some(match (failure, parts) {
            (None, Some(parts)) => {
                let mut digests = [None; SPANS];
                digests[0] = Some(fold.join(parts, true));
                finished(&self.task, self.fd.as_fd(), digests, read, false)
            }
            (failure, _) => Outcome::Failed(failure.unwrap_or(Failure::Changed)),
        })
    }
}

/// The threads of a pool, with the files on which they help each other.
#[derive(Clone)]
pub struct Team<F: Fold> {
    /// Bytes of a part, a power of two.
    each: u64,
    offers: Sender<Weak<Parts<F>>>,
    offered: Receiver<Weak<Parts<F>>>,
}

impl<F: Fold> Team<F> {
    /// A team that cuts files into parts of this many bytes at least, a power of two.
    pub fn new(each: u64) -> Self {
        let (offers, offered) = unbounded();
        Self {
            each,
            offers,
            offered,
        }
    }

    /// Cuts a file into parts if it is long enough, and notifies the other threads.
    pub fn cut(
        &self,
        task: &Task,
        fd: &Arc<OwnedFd>,
        is_direct: bool,
        is_thin: bool,
    ) -> Option<Arc<Parts<F>>> {
        let [whole, other] = task.spans;
        let len = task.expect.size;
        let is_long = len >= self.each.saturating_mul(LONG);
        if task.ask != Ask::Bytes || !is_whole(task, whole) || other.len > 0 || !is_long {
            return None;
        }
        let each = self.each.max((len / MOST).next_power_of_two());
        let parts = Arc::new(Parts::new(*task, Arc::clone(fd), is_direct, is_thin, each));
        self.offer(&parts);
        Some(parts)
    }

    /// The channel on which other threads ask for help.
    pub fn offered(&self) -> &Receiver<Weak<Parts<F>>> {
        &self.offered
    }

    /// Accepts an offer if some parts are left, and passes it on to the next free thread.
    pub fn accept(&self, offer: &Weak<Parts<F>>) -> Option<Arc<Parts<F>>> {
        let parts = offer.upgrade()?;
        if !parts.progress().has_more() {
            return None;
        }
        self.offer(&parts);
        Some(parts)
    }

    fn offer(&self, parts: &Arc<Parts<F>>) {
        // We hold a receiver ourselves, so this cannot fail.
        let _ignored = self.offers.send(Arc::downgrade(parts));
    }
}
