//! A disk with an executor of its own: the jobs that wait for its head, and one reader.

use std::time::Instant;

use crate::read::elevator::Elevator;
use crate::read::task::{Batch, BatchKind};

use super::evidence::{Evidence, FAR, TRIALS, Trial};
use super::job::{Asker, OnVolume};
use super::under_way::{Handed, PoolIndex, UnderWay, Visit};
use super::volume::AHEAD;

/// A disk with its own executor.
pub(super) struct Disk<W> {
    /// Reads that wait for the head of the disk.
    waiting: Elevator<OnVolume<W>>,
    in_flight: usize,
    window: usize,
    /// `Some` while it is not known whether the disk has a head.
    trying: Option<Trying>,
    /// The pool that reads the disk.
    pub pool: PoolIndex,
}

/// Single reads from distant positions, before the first sweep.
#[derive(Default)]
struct Trying {
    trial: Trial,
    /// The next position to read, and the distance from there to the position after it; `None` before the first read.
    next: Option<(u64, u64)>,
    /// The time at which the read in flight was handed over.
    since: Option<Instant>,
}

impl<W: Copy> Disk<W> {
    /// A disk that keeps this many reads in flight.
    pub fn new(pool: PoolIndex, reads: usize) -> Self {
        Self {
            waiting: Elevator::default(),
            in_flight: 0,
            window: reads * AHEAD,
            trying: None,
            pool,
        }
    }

    /// Takes a job for data at this position.
    pub fn push(&mut self, position: u64, waiting: OnVolume<W>) {
        self.waiting.push(position, waiting);
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

    /// Starts the trial: the first reads find out whether the disk has a head.
    pub fn begin_trial(&mut self) {
        self.trying = Some(Trying::default());
    }

    /// True while it is not known whether the disk has a head.
    pub fn is_in_trial(&self) -> bool {
        self.trying.is_some()
    }

    /// Takes all waiting jobs, with their positions.
    pub fn take_all(&mut self) -> impl Iterator<Item = (u64, OnVolume<W>)> + use<W> {
        self.waiting.take_all()
    }

    /// Records that a read has ended, and whether it was one from the disk; returns the evidence about the disk, if
    /// any.
    pub fn ended(&mut self, was_read: bool) -> Option<Evidence> {
        self.in_flight -= 1;
        let evidence = self.tried(was_read);
        if evidence.is_some() {
            self.trying = None;
        }
        evidence
    }

    /// The evidence of a finished single read, if it was one.
    fn tried(&mut self, was_read: bool) -> Option<Evidence> {
        let trying = self.trying.as_mut()?;
        let took = trying.since.take()?.elapsed();
        was_read.then(|| trying.trial.read(took)).flatten()
    }

    /// The next job of the trial, which is read alone; `None` when no more evidence is available.
    fn next_trial(&mut self) -> Option<OnVolume<W>> {
        let (first, last) = self.waiting.span()?;
        let trying = self.trying.as_mut()?;
        let step = (last - first) / TRIALS as u64;
        let (place, step) = trying.next.unwrap_or((first, step));
        let waiting = (step >= FAR)
            .then(|| self.waiting.pop_from(place))
            .flatten();
        trying.next = Some((place + step, step));
        trying.since = waiting.is_some().then(Instant::now);
        waiting
    }

    /// The next tasks in the order of the disk, if there is room for them. `is_ready` says that no job is on its way
    /// here and, for single reads, that no other thread reads; `begun` gets each job that begins.
    pub fn next_batch(
        &mut self,
        is_ready: bool,
        asker: &mut dyn Asker<W>,
        under_way: &mut UnderWay<W>,
        mut begun: impl FnMut(OnVolume<W>),
    ) -> Option<Batch> {
        if self.in_flight > self.window / 2 {
            return None;
        }
        // A sweep begins when all it could meet is in its place: one more would cost a turn of
        // the disk for each job that came late.
        if !is_ready && (self.is_in_trial() || !self.waiting.is_sweeping()) {
            return None;
        }
        let mut batch = Batch {
            kind: BatchKind::Bulk,
            ..Batch::default()
        };
        if self.is_in_trial() {
            if self.in_flight > 0 {
                return None;
            }
            if let Some(waiting) = self.next_trial() {
                self.begin(waiting, asker, under_way, &mut batch);
                begun(waiting);
                return Some(batch);
            }
            if !self.waiting.is_empty() {
                self.trying = None;
            }
        }
        while self.in_flight < self.window
            && let Some(mut waiting) = self.waiting.pop()
        {
            waiting.job = asker.revise(waiting.volume, waiting.job);
            self.begin(waiting, asker, under_way, &mut batch);
            begun(waiting);
        }
        (!batch.tasks.is_empty()).then_some(batch)
    }

    fn begin(
        &mut self,
        waiting: OnVolume<W>,
        asker: &mut dyn Asker<W>,
        under_way: &mut UnderWay<W>,
        batch: &mut Batch,
    ) {
        let OnVolume { volume, job } = waiting;
        let task = asker.describe(job, batch);
        let handed = Handed {
            job,
            volume,
            visit: Visit::Swept,
            pool: self.pool,
        };
        under_way.begin(handed, task, batch);
        self.in_flight += 1;
    }
}
