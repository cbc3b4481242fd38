//! The queues of a file system, and its policy on reads in flight.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::device::Policy;
use crate::read::task::{Batch, BatchKind};

use super::pace::Pace;
use super::under_way::{Describe, Job, PoolIndex, RANDOM, UnderWay, Visit};

/// Tasks in a batch: enough to make the channel's cost small, few enough to share out.
const BATCH: usize = 64;

/// Number of tasks that may wait in a pool's queue for each task in progress.
pub(super) const AHEAD: usize = 2;

/// The reader of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The pools, in order of arrival.
    Pools,
    /// Pools of its own, in order of arrival: a server or a daemon that does not answer must not delay other volumes.
    OwnPools,
    /// An executor of its own for the disk of this name, in order of position.
    Disk(Arc<str>),
}

/// A disk's number in the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DiskIndex(pub usize);

/// The waiting reads of a file system, and the number in flight.
#[derive(Debug)]
pub(super) struct VolumeQueues<W> {
    /// The disk with an executor of its own; `None` if the pools read the volume.
    pub disk: Option<DiskIndex>,
    /// The name of its disk, and how that is read if it turns out to have a head.
    pub otherwise: Option<(Arc<str>, Policy)>,
    pace: Pace,
    policy: Policy,
    /// It does not answer, and the run gave up on it: its jobs fail.
    pub is_given_up: bool,
    /// The pool for its scattered reads, and for lookups of files on a disk.
    pub random: PoolIndex,
    /// The pool for its whole files.
    pub sequential: PoolIndex,
    scattered: Queue<W>,
    bulk: Queue<W>,
    /// Number of jobs whose position on the disk is being queried.
    looked_for: usize,
}

/// Jobs of one kind in the order of arrival, in eight bytes each if the request takes one.
#[derive(Debug)]
struct Queue<W> {
    waiting: VecDeque<Job<W>>,
    in_flight: usize,
}

impl<W> Default for Queue<W> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            in_flight: 0,
        }
    }
}

/// Jobs for which a queue always has room.
const ROOM: usize = 4096;

impl<W> Queue<W> {
    /// Frees memory once three quarters of it are unused: the number of waiting jobs is highest in the middle of a run,
    /// and the tables are largest at its end.
    fn give_back(&mut self) {
        let waiting = &mut self.waiting;
        if waiting.capacity() > ROOM && waiting.len() < waiting.capacity() / 4 {
            waiting.shrink_to(ROOM.max(waiting.capacity() / 2));
        }
    }
}

impl<W: Copy> VolumeQueues<W> {
    /// The queues of a volume without jobs.
    pub fn new(
        [random, sequential]: [PoolIndex; 2],
        disk: Option<DiskIndex>,
        policy: Policy,
    ) -> Self {
        Self {
            disk,
            otherwise: None,
            pace: Pace::default(),
            policy,
            is_given_up: false,
            random,
            sequential,
            scattered: Queue::default(),
            bulk: Queue::default(),
            looked_for: 0,
        }
    }

    /// True if it has pools of its own: a thread takes one task at a time, so that no task waits behind one without an
    /// answer.
    pub fn is_apart(&self) -> bool {
        self.random != RANDOM
    }

    /// From now on a disk with an executor of its own reads it.
    pub fn move_to(&mut self, disk: DiskIndex, policy: Policy) {
        (self.disk, self.policy) = (Some(disk), policy);
    }

    /// The pools that read it unless a disk does.
    pub fn pools(&self) -> [PoolIndex; 2] {
        [self.random, self.sequential]
    }

    /// Records a short read by the pools that was not in the page cache. If many of them show that the device has a
    /// head, it returns the time that each took.
    pub fn paced(&mut self, bytes: u64, now: Duration) -> Option<Duration> {
        self.pace.read(bytes, now, self.scattered.in_flight)
    }

    /// Records a short read by the pools that the page cache answered.
    pub fn answered_from_memory(&mut self) {
        self.pace.answered_from_memory();
    }

    /// Takes a job.
    pub fn push(&mut self, job: Job<W>) {
        self.queue(job.bulk).waiting.push_back(job);
    }

    /// The number of jobs that wait here.
    pub fn waiting(&self) -> usize {
        self.scattered.waiting.len() + self.bulk.waiting.len()
    }

    /// True if the position of every file is known.
    pub fn all_placed(&self) -> bool {
        self.waiting() == 0 && self.looked_for == 0
    }

    /// True if the pools read it, and its disk would get a thread of its own if it had a head.
    pub fn may_have_a_head(&self) -> bool {
        self.otherwise.is_some()
    }

    /// Records that the position of a file is known, or no longer needed.
    pub fn placed(&mut self) {
        self.looked_for -= 1;
    }

    /// Sorts the jobs that wait for the pools into the order of the scan, so that a folder is opened for all of its
    /// files, and neighbouring inodes are requested together.
    pub fn put_in_order(&mut self) {
        for queue in [&mut self.scattered, &mut self.bulk] {
            let waiting = queue.waiting.make_contiguous();
            waiting.sort_unstable_by_key(|job| job.file);
        }
    }

    /// Takes all waiting jobs.
    pub fn take_waiting(&mut self) -> impl Iterator<Item = Job<W>> + use<W> {
        let queues = [&mut self.scattered, &mut self.bulk];
        let jobs = queues.map(|queue| std::mem::take(&mut queue.waiting));
        jobs.into_iter().flatten()
    }

    /// Records that this many jobs are in flight.
    pub fn begun(&mut self, bulk: bool, count: usize) {
        self.queue(bulk).in_flight += count;
    }

    /// Records that a job is no longer in flight.
    pub fn ended(&mut self, bulk: bool) {
        self.queue(bulk).in_flight -= 1;
    }

    /// The next tasks of one queue with their pool, if there is room for them.
    pub fn next_batch(
        &mut self,
        bulk: bool,
        describe: &mut Describe<'_, W>,
        under_way: &mut UnderWay<W>,
    ) -> Option<(PoolIndex, Batch)> {
        let on_disk = self.disk.is_some();
        // Should it have a head, whole files are best left to its own thread.
        let is_awaited = self.may_have_a_head() && self.pace.is_awaited(self.scattered.in_flight);
        if bulk && is_awaited {
            return None;
        }
        let policy = self.policy;
        let (window, most) = match (on_disk, bulk) {
            // They are only looked up.
            (true, _) => (4 * BATCH, BATCH),
            (false, false) => {
                let window = policy.random_threads * policy.depth * AHEAD;
                // Shared out evenly when there are few.
                let most = if self.is_apart() {
                    1
                } else {
                    (window / policy.random_threads.max(1) / 2).clamp(1, BATCH)
                };
                (window, most)
            }
            (false, true) => (policy.sequential_threads * AHEAD, 1),
        };
        let pool = if bulk && !on_disk {
            self.sequential
        } else {
            self.random
        };
        let queue = self.queue(bulk);
        // A few tasks wait for more to come as long as the readers have work.
        let few = queue.waiting.len() < most / 2 && queue.in_flight > window / 4;
        let room = window.saturating_sub(queue.in_flight);
        let count = most.min(room).min(queue.waiting.len());
        if few || count == 0 {
            return None;
        }
        let mut batch = Batch {
            kind: if bulk && !on_disk {
                BatchKind::Bulk
            } else {
                BatchKind::Scattered
            },
            ..Batch::default()
        };
        let visit = if on_disk {
            Visit::LookedUp
        } else {
            Visit::Pooled
        };
        for job in queue.waiting.drain(..count) {
            under_way.begin(job, (visit, pool), describe, &mut batch);
        }
        queue.give_back();
        self.begun(bulk, count);
        if on_disk {
            self.looked_for += count;
        }
        Some((pool, batch))
    }

    fn queue(&mut self, bulk: bool) -> &mut Queue<W> {
        if bulk {
            &mut self.bulk
        } else {
            &mut self.scattered
        }
    }
}
