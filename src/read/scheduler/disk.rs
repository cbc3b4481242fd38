//! A disk with an executor of its own: the jobs that wait for its head, and one reader.

use crate::read::elevator::Elevator;
use crate::read::task::{Batch, BatchKind};

use super::under_way::{Describe, Job, PoolIndex, UnderWay, Visit};
use super::volume::AHEAD;

/// A disk with its own executor.
pub(super) struct Disk<W> {
    /// Reads that wait for the head of the disk.
    waiting: Elevator<Job<W>>,
    in_flight: usize,
    window: usize,
    /// The pool that reads the disk.
    pub pool: PoolIndex,
}

impl<W: Copy> Disk<W> {
    /// A disk that keeps this many reads in flight.
    pub fn new(pool: PoolIndex, reads: usize) -> Self {
        Self {
            waiting: Elevator::default(),
            in_flight: 0,
            window: reads * AHEAD,
            pool,
        }
    }

    /// Takes a job for data at this position.
    pub fn push(&mut self, position: u64, job: Job<W>) {
        self.waiting.push(position, job);
    }

    /// The number of jobs that wait here.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// True if nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// True if nothing waits here, and nothing is being read.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight == 0
    }

    /// Drops all waiting jobs.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Takes all waiting jobs, with their positions.
    pub fn take_all(&mut self) -> impl Iterator<Item = (u64, Job<W>)> + use<W> {
        self.waiting.take_all()
    }

    /// Records that a read has ended.
    pub fn ended(&mut self) {
        self.in_flight -= 1;
    }

    /// The next tasks in the order of the disk, if there is room for them. `is_ready` says that no job is on its way
    /// here; `begun` gets each job that begins.
    pub fn next_batch(
        &mut self,
        is_ready: bool,
        describe: &mut Describe<'_, W>,
        under_way: &mut UnderWay<W>,
        mut begun: impl FnMut(Job<W>),
    ) -> Option<Batch> {
        if self.in_flight > self.window / 2 {
            return None;
        }
        // A sweep begins when all it could meet is in its place: one more would cost a turn of
        // the disk for each job that came late.
        if !is_ready && !self.waiting.is_sweeping() {
            return None;
        }
        let mut batch = Batch {
            kind: BatchKind::Bulk,
            ..Batch::default()
        };
        while self.in_flight < self.window
            && let Some(job) = self.waiting.pop()
        {
            let visit = (Visit::Swept, self.pool);
            under_way.begin(job, visit, describe, &mut batch);
            self.in_flight += 1;
            begun(job);
        }
        (!batch.tasks.is_empty()).then_some(batch)
    }
}
