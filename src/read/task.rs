//! Tasks of readers, and their outcomes.

use std::ffi::CStr;

use crate::device::VolumeId;
use crate::file::{DirId, FileIndex, Fingerprint, Numbering};
use crate::hash::PlacesDigest;
use crate::sys::extents::Pieces;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it starts, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub len: u64,
}

/// Spans of one file that are read with one opening, each to a digest of its own.
pub const SPANS: usize = 2;

/// Stands for a job while a reader has it. Readers hand it back and look no further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u32);

/// A read to be done.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// By which the scheduler knows its job again.
    pub ticket: Ticket,
    /// The file.
    pub file: FileIndex,
    /// The volume that it lies on.
    pub volume: VolumeId,
    /// Folder of the file.
    pub dir: DirId,
    /// Where in the batch's names its NUL-terminated name starts.
    pub name: u32,
    /// The expected fingerprint.
    pub expect: Fingerprint,
    /// How reliable inode numbers are on its file system.
    pub numbering: Numbering,
    /// The spans to read; a span without length is none.
    pub spans: [Span; SPANS],
    /// The processing of the spans.
    pub ask: Ask,
    /// The second span, of which the first is the beginning, is read only if the fold wants it once
    /// it knows the first.
    pub may_end_early: bool,
    /// Its device is one of which long reads may go past the page cache.
    pub may_go_past_cache: bool,
    /// Requests for its bytes that overtake one another cost time: the kernel reads ahead no further than usual.
    pub in_order: bool,
    /// Of the whole files on its volume those that are not in the page cache are read one at a time.
    pub one_uncached: bool,
    /// The space in which the file's blocks have their numbers, if files there may share blocks.
    pub space: Option<VolumeId>,
}

/// The request for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ask {
    /// The digests of its spans.
    #[default]
    Bytes,
    /// The same, but not from the disk: if they are not in the page cache, where on it they lie.
    BytesIfCached,
    /// The same, but from the disk: past the page cache, or once its pages have left that. A long span is read as
    /// a whole file is.
    BytesFromDisk {
        /// Past the page cache.
        direct: bool,
    },
    /// The blocks that it lies in.
    Blocks,
    /// That it is equal to the others of its batch; holes are read like data.
    EveryByte,
}

impl Ask {
    /// True if reads are to go past the page cache.
    pub fn is_direct(self) -> bool {
        matches!(self, Self::BytesFromDisk { direct: true })
    }
}

/// Tasks that travel together.
#[derive(Debug, Default)]
pub struct Batch {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Their names, each with its NUL.
    pub names: Vec<u8>,
    /// How they are to be done.
    pub kind: BatchKind,
}

/// How the tasks of a batch are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchKind {
    /// In any order, many at a time.
    #[default]
    Scattered,
    /// Whole files, one after the other.
    Bulk,
    /// Whole files of one length, compared with each other instead of being digested.
    Compare,
}

impl Batch {
    /// Adds a name; its place goes into the task.
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
    /// It is gone.
    Vanished,
    /// It is not the file that was expected, or not in that state.
    Changed,
    /// The system refused to open or read it.
    Refused(rustix::io::Errno),
}

/// How a task ended.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<D> {
    /// All spans were read, and the file was the expected one afterwards.
    Read {
        /// A digest for each span.
        digests: [Option<D>; SPANS],
        /// Bytes read.
        bytes: u64,
        /// All of it was in the page cache.
        cached: bool,
    },
    /// It was compared with the others of its batch.
    Compared {
        /// The first file with the same content.
        with: FileIndex,
        /// Bytes read.
        bytes: u64,
    },
    /// Every byte of it was compared with the first file of its batch that could be read.
    Verified {
        /// They are the same.
        equal: bool,
        /// Bytes read.
        bytes: u64,
    },
    /// There were too few descriptors to compare the files of the batch.
    NotCompared,
    /// The file was looked at (only if that was asked for).
    Blocks {
        /// Stands for all blocks that its bytes lie in; `None` if they may lie elsewhere or are
        /// nobody else's.
        places: Option<PlacesDigest>,
    },
    /// It is not in the page cache (only if that was asked for); where on its disk it lies, bytes.
    NotCached {
        /// Physical position of the first byte wanted, or the inode number where the file system
        /// does not tell.
        position: u64,
        /// In how many pieces it lies, where that came with its position.
        pieces: Option<Pieces>,
    },
    /// It is in the page cache and does not leave that (only if it was to come from the disk).
    StaysCached,
    /// It could not be read.
    Failed(Failure),
}

/// A task's end.
#[derive(Clone, Copy, Debug)]
pub struct Completion<D> {
    /// The task's ticket.
    pub ticket: Ticket,
    /// How it ended.
    pub outcome: Outcome<D>,
}
