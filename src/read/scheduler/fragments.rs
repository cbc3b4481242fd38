//! Counts of fragmented files that a disk with a head read as a whole: each further piece of a file is a further seek.

use crate::sys::extents::Pieces;

/// Counts of the files of a volume that its disk's sweeps read as a whole, and whose positions are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    /// All of them.
    pub files: u64,
    /// Files in more than one piece.
    pub fragmented: u64,
    /// The pieces of these fragmented files.
    pub pieces: u64,
    /// Some files have more pieces than were counted.
    pub or_more: bool,
}

impl Fragments {
    /// Seeks that would have been spared with one piece per file.
    pub fn seeks(&self) -> u64 {
        self.pieces - self.fragmented
    }

    /// Records a file that was read.
    pub(super) fn read(&mut self, pieces: Pieces) {
        self.files += 1;
        if pieces.seen > 1 || pieces.or_more {
            self.fragmented += 1;
            self.pieces += u64::from(pieces.seen.max(2));
            self.or_more |= pieces.or_more;
        }
    }
}
