//! Tasks of readers, and their outcomes.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crossbeam_channel::{Receiver, Sender};

use crate::file::{DirId, FileIndex, Fingerprint, Numbering};
use crate::hash::{Digest, PlacesDigest, SampleDigest};

use super::open_file::Device;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start of the span, bytes.
    pub offset: u64,
    /// Length of the span, bytes.
    pub len: u64,
}

/// Number of spans of one file that are read with one open call, each with a digest of its own.
pub const SPANS: usize = 2;

/// Identifies a job while a reader has it. Readers return the ticket and do not interpret it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u32);

/// A read to be done.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The ticket by which the scheduler identifies its job.
    pub ticket: Ticket,
    /// The file.
    pub file: FileIndex,
    /// The device that it lies on.
    pub device: Device,
    /// Folder of the file.
    pub dir: DirId,
    /// Offset of its NUL-terminated name in the batch's names.
    pub name: u32,
    /// The expected fingerprint.
    pub expect: Fingerprint,
    /// How reliable inode numbers are on its file system.
    pub numbering: Numbering,
    /// The spans to read; a span without length is none.
    pub spans: [Span; SPANS],
    /// The request for the spans.
    pub ask: Ask,
    /// The disk must not be touched: if the spans are not in the page cache, the answer is their position on it.
    pub only_cached: bool,
    /// The results are to be stored for later runs, if all of the bytes are on the disk before they are read.
    pub is_stored: bool,
    /// It has to be asked whether they are.
    pub may_be_dirty: bool,
    /// Where it begins on its disk, if its reads come in this order; otherwise zero.
    pub position: u64,
    /// If the first span has another digest than this, the second one need not be read.
    pub go_on_with: Option<SampleDigest>,
}

/// The request for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ask {
    /// The digests of its spans.
    #[default]
    Bytes,
    /// The same, but from the disk, after its pages were dropped. A long span is read like a whole file.
    BytesFromDisk,
    /// The blocks of the file.
    Blocks,
    /// Whether the file is equal to others of its batch; shared blocks and holes are read like all data.
    EveryByte,
    /// What it shows, apart from its tags. The answer is among the [results](super::ShownResults) before its end is
    /// reported.
    Shown(Depth),
}

/// How far a picture, film or sound is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The key by which files that may show the same find each other: headers.
    Key,
    /// Its parts.
    Parts,
    /// Its tags: headers.
    Tags,
}

/// Tasks that travel together.
#[derive(Debug, Default)]
pub struct Batch {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Their names, each with its NUL.
    pub names: Vec<u8>,
    /// The kind of the tasks.
    pub kind: BatchKind,
    /// The count of recalls when it was made.
    pub recalls: u32,
}

/// A count that the scheduler raises and readers compare with that of their batch: a batch of an earlier count holds no
/// work any more.
#[derive(Clone, Debug, Default)]
pub struct Recalls(Arc<AtomicU32>);

impl Recalls {
    /// Recalls all batches so far.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The count for a new batch.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The kind of the tasks in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchKind {
    /// In any order, many at a time.
    #[default]
    Scattered,
    /// Whole files, one after the other.
    Bulk,
    /// Whole files of one length, compared with each other instead of being digested.
    Compare,
    /// Nothing: the thread that takes it ends.
    Retire,
}

impl Batch {
    /// Adds a name; returns its offset for the task.
    pub fn add_name(&mut self, name: &[u8]) -> u32 {
        let at = u32::try_from(self.names.len()).expect("a batch is small");
        self.names.extend_from_slice(name);
        self.names.push(0);
        at
    }

    /// The name that belongs to a task of this batch.
    pub fn name(&self, task: &Task) -> &CStr {
        CStr::from_bytes_until_nul(&self.names[task.name as usize..]).unwrap_or(c"")
    }
}

/// Why a file has no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The file is gone.
    Vanished,
    /// It is not the expected file, or not in the expected state.
    Changed,
    /// It has too many holes.
    Holes,
    /// The system refused to open or read it.
    Refused(rustix::io::Errno),
    /// Its file system does not answer, and the run gave up on it.
    Unanswered,
}

/// The outcome of a task.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// All spans that were to be read were read, and the file was the expected one afterwards.
    Read {
        /// A digest for each span that was read.
        digests: [Option<Digest>; SPANS],
        /// Bytes read.
        bytes: u64,
        /// All of it was in the page cache.
        cached: bool,
        /// The results may be stored for later runs.
        may_be_stored: bool,
    },
    /// It was compared with the others of its batch.
    Compared {
        /// The first file with the same content.
        with: FileIndex,
        /// Bytes read.
        bytes: u64,
        /// The results may be stored for later runs.
        may_be_stored: bool,
    },
    /// Too few descriptors were available to compare the files of the batch.
    NotCompared,
    /// The blocks of the file were queried (only on request).
    Blocks {
        /// A digest of all its blocks; `None` if the blocks may have moved or are not shared.
        places: Option<PlacesDigest>,
    },
    /// It is not in the page cache (only on request).
    NotCached {
        /// Position of the first requested byte on its disk, or the inode number if the file system does not report the
        /// position.
        position: u64,
    },
    /// It is in the page cache and cannot be dropped (only if the request was for bytes from the disk).
    StaysCached,
    /// It could not be read.
    Failed(Failure),
}

/// A task's end.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The task's ticket.
    pub ticket: Ticket,
    /// The outcome.
    pub outcome: Outcome,
}

/// Number of completions that readers of local disks send at a time while there is more to do.
pub const COMPLETIONS: usize = 64;

/// Tasks of one kind, as long as the queue has any.
pub struct Source<'a> {
    batch: Batch,
    next: usize,
    queue: &'a Receiver<Batch>,
    /// A batch of the other kind that was received.
    other: Option<Batch>,
    completions: Vec<Completion>,
    /// Maximum number of completions that are sent at a time.
    most: usize,
    done: &'a Sender<Vec<Completion>>,
    recalls: &'a Recalls,
}

impl<'a> Source<'a> {
    /// The tasks of this batch, then those of the batches in the queue.
    pub fn new(
        first: Batch,
        queue: &'a Receiver<Batch>,
        done: &'a Sender<Vec<Completion>>,
        most: usize,
        recalls: &'a Recalls,
    ) -> Self {
        Self {
            batch: first,
            next: 0,
            queue,
            other: None,
            completions: Vec::new(),
            most,
            done,
            recalls,
        }
    }

    /// The next task and its file's name. The task stays the next one until [`Self::advance`]. Tasks of recalled
    /// batches are passed over.
    pub fn peek(&mut self) -> Option<(Task, &CStr)> {
        while self.next == self.batch.tasks.len() || self.batch.recalls != self.recalls.count() {
            if self.other.is_some() {
                return None;
            }
            match self.queue.try_recv() {
                Ok(batch) if batch.kind == self.batch.kind => (self.batch, self.next) = (batch, 0),
                Ok(batch) => self.other = Some(batch),
                Err(_) => return None,
            }
        }
        let task = self.batch.tasks[self.next];
        Some((task, self.batch.name(&task)))
    }

    /// Takes the task that was peeked at.
    pub fn advance(&mut self) {
        self.next += 1;
    }

    /// Maximum number of completions that are sent at a time.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Reports the end of a task, together with others.
    pub fn complete(&mut self, task: &Task, outcome: Outcome) {
        let ticket = task.ticket;
        self.add(Completion { ticket, outcome });
    }

    /// As [`Self::complete`].
    pub fn add(&mut self, completion: Completion) {
        self.completions.push(completion);
        if self.completions.len() >= self.most {
            self.flush();
        }
    }

    /// Sends the reported completions.
    pub fn flush(&mut self) {
        if !self.completions.is_empty() {
            // Send fails only after the run ended.
            let _ignored = self.done.send(std::mem::take(&mut self.completions));
        }
    }

    /// Ends the source; returns the batch of the other kind, if any.
    pub fn end(mut self) -> Option<Batch> {
        self.flush();
        self.other
    }
}
