//! How the files lay that a disk with a head read as a whole: each further piece is a further seek.

use std::collections::HashMap;

use crate::read::task::{Completion, Outcome, Task};
use crate::sys::fiemap::Pieces;

/// The files of a volume that its disk's sweeps read as a whole, and of which it is known where they lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    /// All of them.
    pub files: u64,
    /// Those in more than one piece.
    pub fragmented: u64,
    /// The pieces of the latter.
    pub pieces: u64,
    /// Some have more pieces than were counted.
    pub or_more: bool,
}

impl Fragments {
    /// Seeks that one piece a file would have spared.
    pub fn seeks(&self) -> u64 {
        self.pieces - self.fragmented
    }

    /// Takes note of a file that was read.
    pub(super) fn read(&mut self, pieces: Pieces) {
        self.files += 1;
        if pieces.seen > 1 || pieces.or_more {
            self.fragmented += 1;
            self.pieces += u64::from(pieces.seen.max(2));
            self.or_more |= pieces.or_more;
        }
    }
}

/// The files under way of which it is known in how many pieces they lie, by their tickets.
#[derive(Debug, Default)]
pub(super) struct UnderWay(HashMap<u64, (Pieces, u64)>);

impl UnderWay {
    /// Takes note of a task that is handed over.
    pub fn begun(&mut self, task: Option<&Task>, pieces: Option<Pieces>) {
        if let (Some(task), Some(pieces)) = (task, pieces) {
            self.0.insert(task.ticket, (pieces, task.expect.size));
        }
    }

    /// Takes note of a task's end; the pieces that its disk's head visited if the file was read as a
    /// whole.
    pub fn ended<D>(&mut self, completion: &Completion<D>) -> Option<Pieces> {
        let (pieces, size) = self.0.remove(&completion.ticket)?;
        let whole = |bytes| bytes >= size;
        matches!(completion.outcome, Outcome::Read { bytes, cached: false, .. } if whole(bytes))
            .then_some(pieces)
    }
}
