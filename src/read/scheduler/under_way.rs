//! Jobs, and those in the hands of readers. Each of these has a ticket, which the reader returns with the result.

use crate::device::VolumeId;
use crate::file::FileIndex;
use crate::read::task::{Ask, Batch, Failure, Outcome, Recalls, Task, Ticket};

/// A pool's number in the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PoolIndex(pub usize);

/// The pool for scattered reads of all volumes without pools of their own.
pub(super) const RANDOM: PoolIndex = PoolIndex(0);

/// The pool for whole files of all volumes without pools of their own.
pub(super) const SEQUENTIAL: PoolIndex = PoolIndex(1);

/// A part of a file to be read. It waits here, and returns with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job<W> {
    /// The file.
    pub file: FileIndex,
    /// The volume of the file.
    pub volume: VolumeId,
    /// The request, in the terms of the caller.
    pub want: W,
    /// It has more bytes than a random read should have: for the sequential pool.
    pub bulk: bool,
}

/// The caller's description of a job that is about to be read: its task, with its name added to the batch. The caller
/// may replace the request by a better one; it is told whether the head of a disk is about to reach the file. The
/// scheduler sets the ticket.
pub type Describe<'d, W> = dyn FnMut(&mut Job<W>, bool, &mut Batch) -> Task + 'd;

/// The end of a job.
#[derive(Clone, Copy, Debug)]
pub struct Finished<W> {
    /// The job.
    pub job: Job<W>,
    /// The outcome.
    pub outcome: Outcome,
}

impl<W> Finished<W> {
    /// A job that ended without a reader.
    pub(super) fn failed(job: Job<W>, failure: Failure) -> Self {
        let outcome = Outcome::Failed(failure);
        Self { job, outcome }
    }
}

/// A job that a reader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handed<W> {
    /// The job.
    pub job: Job<W>,
    /// The purpose of the read.
    pub visit: Visit,
    /// The readers that have it.
    pub pool: PoolIndex,
}

/// The purpose of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// The pools read it.
    Pooled,
    /// The random pool looks it up for a disk with a head.
    LookedUp,
    /// The disk's own thread reads it.
    Swept,
    /// A comparison reads it together with others.
    Compared {
        /// The number of the comparison.
        set: u32,
        /// It is the first file of the comparison.
        is_first: bool,
    },
}

/// The jobs that readers have, by ticket.
#[derive(Debug)]
pub(super) struct UnderWay<W> {
    jobs: Vec<Option<Handed<W>>>,
    free: Vec<u32>,
    /// The first ticket in use. Lower ones belong to jobs that were taken from their readers.
    first: u32,
    recalls: Recalls,
    /// The number of comparisons so far.
    sets: u32,
}

impl<W: Copy> UnderWay<W> {
    /// No jobs. Readers with these recalls drop what is taken from them.
    pub fn new(recalls: Recalls) -> Self {
        Self {
            jobs: Vec::new(),
            free: Vec::new(),
            first: 0,
            recalls,
            sets: 0,
        }
    }

    /// Adds a job's task to a batch for a reader.
    pub fn begin(
        &mut self,
        mut job: Job<W>,
        (visit, pool): (Visit, PoolIndex),
        describe: &mut Describe<'_, W>,
        batch: &mut Batch,
    ) {
        let mut task = describe(&mut job, visit == Visit::Swept, batch);
        task.only_cached =
            visit == Visit::LookedUp && matches!(task.ask, Ask::Bytes | Ask::Shown(_));
        let handed = Handed { job, visit, pool };
        let ticket = match self.free.pop() {
            Some(free) => free,
            None => {
                self.jobs.push(None);
                self.jobs.len() as u32 - 1
            }
        };
        self.jobs[ticket as usize] = Some(handed);
        task.ticket = Ticket(self.first.wrapping_add(ticket));
        batch.recalls = self.recalls.count();
        batch.tasks.push(task);
    }

    /// The job of a returned ticket; `None` if no reader has it.
    pub fn end(&mut self, ticket: Ticket) -> Option<Handed<W>> {
        let at = ticket.0.wrapping_sub(self.first);
        let ended = self.jobs.get_mut(at as usize)?.take();
        if ended.is_some() {
            self.free.push(at);
        }
        ended
    }

    /// Takes all jobs from their readers. The tickets are not used again, so late answers belong to no job.
    pub fn recall(&mut self) -> Vec<Handed<W>> {
        self.recalls.add();
        self.first = self.first.wrapping_add(self.jobs.len() as u32);
        self.free.clear();
        std::mem::take(&mut self.jobs)
            .into_iter()
            .flatten()
            .collect()
    }

    /// The number of a new comparison.
    pub fn begin_set(&mut self) -> u32 {
        self.sets = self.sets.wrapping_add(1);
        self.sets
    }

    /// The job of a ticket.
    #[cfg(test)]
    pub fn get(&self, ticket: Ticket) -> Option<Job<W>> {
        let at = ticket.0.wrapping_sub(self.first);
        let handed = self.jobs.get(at as usize)?.as_ref()?;
        Some(handed.job)
    }

    /// The number of jobs that readers have.
    pub fn len(&self) -> usize {
        self.jobs.len() - self.free.len()
    }
}
