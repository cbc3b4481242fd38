//! Jobs for readers, and their results.

use crate::device::VolumeId;
use crate::file::FileIndex;
use crate::read::task::{Batch, Outcome, Task};

/// Something to be read of a file. It waits here, and comes back with the answer, as it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job<W> {
    /// The file.
    pub file: FileIndex,
    /// The request, in the terms of the caller.
    pub want: W,
    /// More bytes than a random read should have: for the sequential pool.
    pub bulk: bool,
}

/// Whose jobs they are.
pub trait Asker<W> {
    /// The task of a job, with its name added to the batch. Ticket and volume are set by the scheduler.
    fn describe(&mut self, job: Job<W>, batch: &mut Batch) -> Task;

    /// Hears that a job is about to leave its queue, and says what is best read of the file now: the
    /// same, or something else.
    fn choose(&mut self, volume: VolumeId, job: Job<W>) -> Job<W> {
        let _ = volume;
        job
    }

    /// Hears that a disk's head is about to come by, and says what is best read of the file now:
    /// the same, or something else.
    fn revise(&mut self, volume: VolumeId, job: Job<W>) -> Job<W> {
        let _ = volume;
        job
    }
}

impl<W, D: FnMut(Job<W>, &mut Batch) -> Task> Asker<W> for D {
    fn describe(&mut self, job: Job<W>, batch: &mut Batch) -> Task {
        self(job, batch)
    }
}

/// A job's end.
#[derive(Clone, Copy, Debug)]
pub struct Finished<W, D> {
    /// The job.
    pub job: Job<W>,
    /// Volume it was read from.
    pub volume: VolumeId,
    /// The outcome.
    pub outcome: Outcome<D>,
}
