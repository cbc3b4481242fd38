//! Jobs in the hands of readers. Each has a ticket, which the reader returns with the result.

use crate::device::VolumeId;
use crate::read::task::{Ask, Batch, Task, Ticket};
use crate::sys::extents::Pieces;

use super::job::Job;

/// A job that a reader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handed<W> {
    /// The job.
    pub job: Job<W>,
    /// Its volume.
    pub volume: VolumeId,
    /// The reader of the job, and its purpose.
    pub visit: Visit,
}

/// The reader of a job, and its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// The pools read it.
    Pooled,
    /// The random pool looks it up for a disk with a head.
    LookedUp {
        /// Offset of its first byte in the file.
        offset: u64,
    },
    /// The disk's own thread reads it.
    Swept {
        /// Number of pieces of its file, if it is known.
        pieces: Option<Pieces>,
        /// Bytes of its file.
        size: u64,
    },
    /// The comparison of its set reads it, wherever the files lie.
    Compared,
}

/// The jobs that readers have, by ticket.
#[derive(Debug)]
pub(super) struct UnderWay<W> {
    jobs: Vec<Option<Handed<W>>>,
    free: Vec<u32>,
}

impl<W> Default for UnderWay<W> {
    fn default() -> Self {
        Self {
            jobs: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<W> UnderWay<W> {
    /// Adds a job's task to a batch for a reader.
    pub fn begin(&mut self, handed: Handed<W>, task: Task, batch: &mut Batch) {
        let ask = match (handed.visit, task.ask) {
            (Visit::LookedUp { .. }, Ask::Bytes) => Ask::BytesIfCached,
            (_, ask) => ask,
        };
        let volume = handed.volume;
        let ticket = match self.free.pop() {
            Some(free) => free,
            None => {
                self.jobs.push(None);
                self.jobs.len() as u32 - 1
            }
        };
        self.jobs[ticket as usize] = Some(handed);
        let ticket = Ticket(ticket);
        batch.tasks.push(Task {
            ticket,
            volume,
            ask,
            ..task
        });
    }

    /// The job of a returned ticket; `None` if no reader has it.
    pub fn end(&mut self, ticket: Ticket) -> Option<Handed<W>> {
        let ended = self.jobs.get_mut(ticket.0 as usize)?.take();
        if ended.is_some() {
            self.free.push(ticket.0);
        }
        ended
    }

    /// The job of a ticket.
    #[cfg(test)]
    pub fn get(&self, ticket: Ticket) -> Option<Job<W>>
    where
        W: Copy,
    {
        let handed = self.jobs.get(ticket.0 as usize)?.as_ref()?;
        Some(handed.job)
    }

    /// The number of jobs that readers have.
    pub fn len(&self) -> usize {
        self.jobs.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FileIndex;
    use crate::read::testing::{bytes, task, wanted};

    fn a_task() -> Task {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("f"), bytes(1, 10)).expect("written");
        let want = wanted(folder.path(), "f", [(0, 10), (0, 0)]);
        task(&mut Batch::default(), 0, "f", want.expect, want.spans)
    }

    fn handed(file: u32, visit: Visit) -> Handed<&'static str> {
        let job = Job {
            file: FileIndex(file),
            want: "its head",
            bulk: file.is_multiple_of(2),
        };
        let volume = VolumeId(file as u16 + 7);
        Handed { job, volume, visit }
    }

    #[test]
    fn a_ticket_brings_its_job_back_once() {
        let (mut under_way, mut batch) = (UnderWay::default(), Batch::default());
        let pieces = Pieces {
            seen: 3,
            or_more: true,
        };
        let size = 1 << 40;
        let visits = [
            Visit::Pooled,
            Visit::LookedUp { offset: 7 },
            Visit::Compared,
            Visit::Swept { pieces: None, size },
            Visit::Swept {
                pieces: Some(pieces),
                size,
            },
        ];
        for round in 0..3 {
            for (file, visit) in (round..).zip(visits) {
                under_way.begin(handed(file, visit), a_task(), &mut batch);
            }
            assert_eq!(under_way.len(), visits.len());
            for (task, (file, visit)) in batch.tasks.drain(..).zip((round..).zip(visits)) {
                assert_eq!(task.volume, VolumeId(file as u16 + 7));
                assert_eq!(under_way.end(task.ticket), Some(handed(file, visit)));
                assert_eq!(under_way.end(task.ticket), None);
            }
            assert_eq!(under_way.len(), 0);
        }
        assert_eq!(under_way.jobs.len(), visits.len(), "tickets are used again");
        assert_eq!(under_way.end(Ticket(99)), None);
    }

    #[test]
    fn only_whoever_looks_for_bytes_takes_them_from_the_cache_alone() {
        let mut under_way = UnderWay::default();
        let looked_up = Visit::LookedUp { offset: 0 };
        let swept = Visit::Swept {
            pieces: None,
            size: 10,
        };
        for (visit, ask, expected) in [
            (looked_up, Ask::Bytes, Ask::BytesIfCached),
            (looked_up, Ask::Blocks, Ask::Blocks),
            (Visit::Pooled, Ask::Bytes, Ask::Bytes),
            (swept, Ask::Bytes, Ask::Bytes),
        ] {
            let mut batch = Batch::default();
            let task = Task { ask, ..a_task() };
            under_way.begin(handed(1, visit), task, &mut batch);
            assert_eq!(batch.tasks[0].ask, expected);
        }
    }
}
