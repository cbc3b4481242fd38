//! What is asked for, what comes of it, and the ticket that carries it through the readers.

use crate::hash::PlacesDigest;
use crate::read::task::{Ask, Batch, Failure, SPANS};

/// A wish to have something read: the asker's own number and a note, given back with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The asker's number for the file.
    pub id: u32,
    /// The asker's note on what is to be read.
    pub note: u8,
    /// More bytes than a random read should have: for the sequential pool.
    pub bulk: bool,
}

/// Whose requests they are.
pub trait Asker {
    /// Adds a request's task (with any ticket) to a batch.
    fn describe(&mut self, request: Request, batch: &mut Batch);

    /// Hears that a request is about to leave its queue, and says what is best read of the file now: the
    /// same request, or one with another note.
    fn choose(&mut self, volume: usize, request: Request) -> Request {
        let _ = volume;
        request
    }

    /// Hears that a disk's head is about to come by, and says what is best read of the file now:
    /// the same request, or one with another note.
    fn revise(&mut self, volume: usize, request: Request) -> Request {
        let _ = volume;
        request
    }
}

impl<D: FnMut(Request, &mut Batch)> Asker for D {
    fn describe(&mut self, request: Request, batch: &mut Batch) {
        self(request, batch);
    }
}

/// A request's end.
#[derive(Clone, Copy, Debug)]
pub struct Finished<D> {
    /// The request.
    pub request: Request,
    /// Volume it was read from.
    pub volume: usize,
    /// What came of it.
    pub result: Result<Answer<D>, Failure>,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<D> {
    /// It was read.
    Read {
        /// Digests of the spans.
        digests: [Option<D>; SPANS],
        /// Bytes read.
        bytes: u64,
        /// All of it was in the page cache.
        cached: bool,
    },
    /// It was compared with the others of its group.
    Compared {
        /// Number of the first file with the same content.
        with: u32,
        /// Bytes read.
        bytes: u64,
    },
    /// Its blocks were looked at; what stands for them, if they may be shared.
    Blocks(Option<PlacesDigest>),
    /// The group was too large for the descriptors there are; none of it was compared.
    NotCompared,
}

/// Who has a task, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Visit {
    /// The pools read it.
    Pooled,
    /// The random pool looks it up for a disk with a head.
    LookedUp,
    /// The disk's own thread reads it.
    Swept,
}

const BULK: u64 = 1 << 40;
const LOOKED_UP: u64 = 1 << 41;
const SWEPT: u64 = 1 << 42;

/// Puts everything that must come back into the ticket of the batch's last task.
pub(super) fn stamp(batch: &mut Batch, request: Request, volume: usize, visit: Visit) {
    if let Some(task) = batch.tasks.last_mut() {
        if visit == Visit::LookedUp && task.ask == Ask::Bytes {
            task.ask = Ask::BytesIfCached;
        }
        let visit = match visit {
            Visit::Pooled => 0,
            Visit::LookedUp => LOOKED_UP,
            Visit::Swept => SWEPT,
        };
        task.ticket = u64::from(request.id)
            | u64::from(request.note) << 32
            | if request.bulk { BULK } else { 0 }
            | visit
            | (volume as u64) << 48;
    }
}

/// The request, its volume, and who had it.
pub(in crate::read) fn read_stamp(ticket: u64) -> (Request, usize, Visit) {
    let request = Request {
        id: ticket as u32,
        note: (ticket >> 32) as u8,
        bulk: ticket & BULK != 0,
    };
    let visit = match (ticket & LOOKED_UP != 0, ticket & SWEPT != 0) {
        (true, _) => Visit::LookedUp,
        (false, true) => Visit::Swept,
        (false, false) => Visit::Pooled,
    };
    (request, (ticket >> 48) as usize, visit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::testing::{add_task, bytes, wanted};

    /// With one task.
    fn batch() -> Batch {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("f"), bytes(1, 10)).expect("written");
        let want = wanted(folder.path(), "f", [(0, 10), (0, 0)]);
        let mut batch = Batch::default();
        add_task(&mut batch, 0, "f", want.expect, want.spans);
        batch
    }

    #[test]
    fn a_ticket_brings_back_all_that_was_put_into_it() {
        let mut batch = batch();
        for visit in [Visit::Pooled, Visit::LookedUp, Visit::Swept] {
            for bulk in [false, true] {
                for (id, note, volume) in [(0, 0, 0), (1, 2, 3), (u32::MAX, u8::MAX, 0xffff)] {
                    let request = Request { id, note, bulk };
                    stamp(&mut batch, request, volume, visit);
                    let ticket = batch.tasks[0].ticket;
                    assert_eq!(read_stamp(ticket), (request, volume, visit));
                }
            }
        }
    }

    #[test]
    fn only_whoever_looks_for_bytes_takes_them_from_the_cache_alone() {
        let mut batch = batch();
        for (visit, ask, expected) in [
            (Visit::LookedUp, Ask::Bytes, Ask::BytesIfCached),
            (Visit::LookedUp, Ask::Blocks, Ask::Blocks),
            (Visit::Pooled, Ask::Bytes, Ask::Bytes),
            (Visit::Swept, Ask::Bytes, Ask::Bytes),
        ] {
            batch.tasks[0].ask = ask;
            let request = Request {
                id: 1,
                note: 0,
                bulk: false,
            };
            stamp(&mut batch, request, 0, visit);
            assert_eq!(batch.tasks[0].ask, expected);
        }
    }
}
