//! A disk with an executor of its own: the jobs that wait for its head, and one reader.

use std::collections::BTreeMap;

use crate::read::pool::Pool;
use crate::read::task::{Batch, BatchKind};

use super::Scheduler;
use super::under_way::{Describe, Job, PoolIndex, SEQUENTIAL, UnderWay, Visit};
use super::volume::{AHEAD, DiskIndex, VolumeQueues};

/// A disk with its own executor.
pub(super) struct Disk<W> {
    /// Reads that wait for the head of the disk.
    pub waiting: Elevator<Job<W>>,
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

    /// True if nothing waits here, and nothing is being read.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight == 0
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
            if let Some(task) = batch.tasks.last_mut() {
                (task.position, _) = self.waiting.head;
            }
            self.in_flight += 1;
            begun(job);
        }
        (!batch.tasks.is_empty()).then_some(batch)
    }
}

/// Requests that wait for the head.
///
/// The order is C-SCAN rather than back and forth: files that lie close together are read in rising order, the order in
/// which the platter brings them.
#[derive(Debug)]
pub struct Elevator<T> {
    waiting: BTreeMap<(u64, u64), T>,
    /// The last target of the head.
    head: (u64, u64),
    /// Keeps requests for one position apart, in the order of arrival.
    count: u64,
}

impl<T> Default for Elevator<T> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            head: (0, 0),
            count: 0,
        }
    }
}

impl<T> Elevator<T> {
    /// Adds a request at a position on the disk, bytes.
    pub fn push(&mut self, position: u64, request: T) {
        self.count += 1;
        self.waiting.insert((position, self.count), request);
    }

    /// Takes the next request ahead of the head, or the first of all when the sweep is over.
    pub fn pop(&mut self) -> Option<T> {
        let ahead = self.waiting.range(self.head..).next();
        let (&at, _) = ahead.or_else(|| self.waiting.iter().next())?;
        self.head = at;
        self.waiting.remove(&at)
    }

    /// All requests that wait.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.waiting.values()
    }

    /// Takes all requests with their positions.
    pub fn take_all(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        let all = std::mem::take(&mut self.waiting).into_iter();
        all.map(|((position, _), request)| (position, request))
    }

    /// True if the next request lies ahead of the head: it belongs to the sweep under way.
    pub fn is_sweeping(&self) -> bool {
        self.head != (0, 0) && self.waiting.range(self.head..).next().is_some()
    }

    /// The number of waiting requests.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// A pool, and the sets of files that its threads compare.
pub(super) struct Readers<W> {
    pub pool: Pool,
    /// Sets that wait, by their positions.
    pub sets: Elevator<Vec<Job<W>>>,
    /// Number of sets that the threads have.
    pub comparing: usize,
}

impl<W> Readers<W> {
    /// A pool without sets.
    pub fn new(pool: Pool) -> Self {
        Self {
            pool,
            sets: Elevator::default(),
            comparing: 0,
        }
    }
}

impl<W: Copy> Scheduler<W> {
    /// Takes jobs for files of one length, to compare the files with each other. Sets with one reader come in the order
    /// of these positions.
    pub fn push_set(&mut self, position: u64, mut set: Vec<Job<W>>) {
        set.retain(|job| self.unless_given_up(*job).is_some());
        if set.is_empty() {
            return;
        }
        let mut volumes = set.iter().map(|job| &self.volumes[job.volume.at()]);
        let apart = volumes.clone().find(|volume| volume.is_apart());
        let disk = volumes.find_map(|volume| volume.disk);
        let readers = match (apart, disk) {
            (Some(volume), _) => volume.sequential,
            (None, Some(disk)) => self.disks[disk.0].pool,
            (None, None) => SEQUENTIAL,
        };
        self.readers[readers.0].sets.push(position, set);
    }

    /// Hands over sets as far as their readers have room for them.
    pub(super) fn dispatch_sets(&mut self, at: PoolIndex, describe: &mut Describe<'_, W>) {
        let threads = self.readers[at.0].pool.threads();
        let most = match self.disks.iter().position(|disk| disk.pool == at) {
            Some(disk) if !self.has_ended_sweeps(DiskIndex(disk)) => 0,
            Some(_) => AHEAD,
            None if at == SEQUENTIAL => threads * AHEAD,
            None => threads,
        };
        let readers = &mut self.readers[at.0];
        while readers.comparing < most
            && let Some(set) = readers.sets.pop()
        {
            readers.comparing += 1;
            let number = self.under_way.begin_set();
            let mut batch = Batch {
                kind: BatchKind::Compare,
                ..Batch::default()
            };
            for (nth, job) in set.into_iter().enumerate() {
                let visit = Visit::Compared {
                    set: number,
                    is_first: nth == 0,
                };
                self.under_way.begin(job, (visit, at), describe, &mut batch);
                self.volumes[job.volume.at()].begun(job.bulk, 1);
            }
            readers.pool.send(batch);
        }
    }

    /// True if a disk has nothing else to read, and nothing else is on its way there.
    fn has_ended_sweeps(&self, disk: DiskIndex) -> bool {
        let mut own = self
            .volumes
            .iter()
            .filter(|volume| volume.disk == Some(disk));
        self.may_sweep(disk) && self.disks[disk.0].is_idle() && own.all(VolumeQueues::all_placed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(elevator: &mut Elevator<u64>) -> Vec<u64> {
        std::iter::from_fn(|| elevator.pop()).collect()
    }

    #[test]
    fn a_sweep_goes_up_whatever_the_order_of_arrival() {
        let mut elevator = Elevator::default();
        for at in [50, 10, 40, 20, 30] {
            elevator.push(at, at);
        }
        assert_eq!(order(&mut elevator), [10, 20, 30, 40, 50]);
    }

    #[test]
    fn what_comes_behind_the_head_waits_for_the_next_sweep() {
        let mut elevator = Elevator::default();
        for at in [10, 20, 30] {
            elevator.push(at, at);
        }
        assert_eq!(elevator.pop(), Some(10));
        assert_eq!(elevator.pop(), Some(20));
        elevator.push(5, 5);
        elevator.push(25, 25);
        assert_eq!(order(&mut elevator), [25, 30, 5]);
    }
}
