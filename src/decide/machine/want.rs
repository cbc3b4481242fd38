//! The reads that the machine requests.

use crate::decide::class::ClassId;
use crate::file::FileIndex;

/// A read that the machine requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The file to read.
    pub file: FileIndex,
    /// The part to read.
    pub want: Want,
    /// The class of its size.
    pub size: ClassId,
}

/// The part of a file to read. Its first samples may be replaced by everything ([`super::Machine::is_read_whole`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The first [`HEAD`](super::HEAD) bytes.
    Head,
    /// The first [`HEAD`](super::HEAD) and the last [`TAIL`](super::TAIL) bytes at one go.
    HeadAndTail,
    /// The last [`TAIL`](super::TAIL) bytes.
    Tail,
    /// Everything, with nothing read before.
    Whole,
    /// Everything, after samples.
    Content,
    /// Everything, compared with the other files of its group.
    Comparison,
    /// The head, and everything, at once. The machine never requests this: the reader may choose it in place of
    /// [`Want::Head`].
    HeadAndContent,
    /// Only the places of its blocks.
    Blocks,
    /// The places of its blocks once more.
    BlocksAgain,
    /// Every byte, compared with the other files of its set. The machine never requests this.
    Verify,
}

impl Want {
    /// True if nothing of the file was read before, and not all of it is read now.
    pub fn is_first_sample(self) -> bool {
        matches!(self, Self::Head | Self::HeadAndTail)
    }

    /// True if the file's head is the first result of the read.
    pub fn reads_head(self) -> bool {
        matches!(self, Self::Head | Self::HeadAndTail | Self::HeadAndContent)
    }
}

/// The files that may be compared with each other instead of being digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparing {
    /// Minimum size of the files, bytes.
    pub from: u64,
    /// Maximum number of files in a group.
    pub most: usize,
    /// Number of the run, which no other run has.
    pub run: u128,
}
