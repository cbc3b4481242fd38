//! Jobs for readers, and their results.

use crate::device::VolumeId;
use crate::file::FileIndex;
use crate::read::task::{Batch, Failure, Outcome, Task};

/// A part of a file to be read. It waits here, and returns unchanged with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job<W> {
    /// The file.
    pub file: FileIndex,
    /// The request, in the terms of the caller.
    pub want: W,
    /// It has more bytes than a random read should have: for the sequential pool.
    pub bulk: bool,
}

/// A job, and the volume of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnVolume<W> {
    /// The volume.
    pub volume: VolumeId,
    /// The job.
    pub job: Job<W>,
}

/// The owner of the jobs.
pub trait Asker<W> {
    /// The task of a job, with its name added to the batch. The scheduler sets its ticket.
    fn describe(&mut self, job: Job<W>, batch: &mut Batch) -> Task;

    /// Called when a job is about to leave its queue. Returns the best read of the file now: the same job, or another
    /// one.
    fn choose(&mut self, volume: VolumeId, job: Job<W>) -> Job<W> {
        let _ = volume;
        job
    }

    /// Called when a disk's head is about to reach a file. Returns the best read of the file now: the same job, or
    /// another one.
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

/// The end of a job.
#[derive(Clone, Copy, Debug)]
pub struct Finished<W, D> {
    /// The job.
    pub job: Job<W>,
    /// Volume it was read from.
    pub volume: VolumeId,
    /// The outcome.
    pub outcome: Outcome<D>,
}

impl<W, D> Finished<W, D> {
    /// A job that ended without a reader.
    pub(super) fn failed(volume: VolumeId, job: Job<W>, failure: Failure) -> Self {
        let outcome = Outcome::Failed(failure);
        Self {
            job,
            volume,
            outcome,
        }
    }
}
