//! A file system's queues, and how much of it may be under way.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::read::reader::PIECE;
use crate::read::stream::Window;
use crate::read::task::{Batch, Kind};

use super::evidence::{Evidence, Pace};
use super::fragments::Fragments;
use super::request::{Asker, Request, Visit, stamp};

/// Bytes of a slot for random reads: a file that fits is read with one request to the kernel.
pub(super) const RANDOM_SLOT: usize = 32 << 10;

/// Bytes announced ahead on a disk with a head. On a simulated disk of 7,200 turns a minute, 353
/// photos took 9.4 s with 128 or 256 KiB, 9.6 s with 512 and 11.4 s with 1 or 2 MiB: the drive then
/// goes back and forth between the end of one file and the next.
const SWEPT: u64 = 256 << 10;

/// Tasks in a batch: enough to make the channel's cost small, few enough to share out.
const BATCH: usize = 64;

/// Tasks that may wait in a pool's queue for each that is being done.
pub(super) const AHEAD: usize = 2;

/// Who reads a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The pools, in order of arrival.
    Pools,
    /// Pools of its own, in order of arrival: a server or a daemon that does not answer must keep nobody else waiting.
    OwnPools,
    /// An executor of its own for the disk of this name, in order of position.
    Disk(Arc<str>),
}

/// How much of a volume may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Threads for random reads.
    pub random_threads: usize,
    /// Reads in flight for each.
    pub depth: usize,
    /// Threads for sequential reads.
    pub sequential_threads: usize,
    /// Files under way for each, on a disk with a head.
    pub sequential_depth: usize,
}

impl Limits {
    /// Of a pool that serves no volume yet.
    pub const NOTHING: Self = Self {
        random_threads: 0,
        depth: 0,
        sequential_threads: 0,
        sequential_depth: 0,
    };

    /// What pools come to that serve volumes with these limits and with others.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            random_threads: self.random_threads.max(other.random_threads),
            depth: self.depth.max(other.depth),
            sequential_threads: self.sequential_threads.max(other.sequential_threads),
            sequential_depth: self.sequential_depth.max(other.sequential_depth),
        }
    }

    /// Bytes that pools of this shape take at most: their buffers. What the kernel reads ahead of whole files
    /// is page cache, which it takes back when memory is wanted.
    pub fn bytes_in_flight(self) -> u64 {
        self.scattered_bytes() + self.sequential_bytes()
    }

    fn scattered_bytes(self) -> u64 {
        self.random_threads as u64 * (PIECE + self.depth * RANDOM_SLOT) as u64
    }

    fn sequential_bytes(self) -> u64 {
        self.sequential_threads as u64 * PIECE as u64
    }

    /// About half as much of what takes most; none if it is the least already.
    pub fn less(self) -> Option<Self> {
        let halved = |number: usize| number.div_ceil(2);
        let scattered = |limits: Self| match limits {
            Self { depth: 2.., .. } => Some(Self {
                depth: halved(limits.depth),
                ..limits
            }),
            Self {
                random_threads: 2..,
                ..
            } => Some(Self {
                random_threads: halved(limits.random_threads),
                ..limits
            }),
            _ => None,
        };
        let sequential = |limits: Self| match limits {
            Self {
                sequential_threads: 2..,
                ..
            } => Some(Self {
                sequential_threads: halved(limits.sequential_threads),
                ..limits
            }),
            _ => None,
        };
        match self.sequential_bytes() > self.scattered_bytes() {
            true => sequential(self).or_else(|| scattered(self)),
            false => scattered(self).or_else(|| sequential(self)),
        }
    }

    /// How far the thread of a disk with a head looks ahead: so many short files that the drive has
    /// a choice, but of long ones hardly more than the next piece.
    pub(super) fn disk_window(self) -> Window {
        Window {
            bytes: self.sequential_depth as u64 * SWEPT,
            files: self.depth,
        }
    }
}

/// A file system as the scheduler sees it.
#[derive(Debug)]
pub(super) struct Volume {
    /// The disk with an executor of its own; none if the pools read it.
    pub disk: Option<usize>,
    /// The disk that has read it, if any.
    pub home: Option<usize>,
    /// How it is read if it turns out to be something else than was thought.
    pub otherwise: Option<(Lane, Limits)>,
    pace: Pace,
    limits: Limits,
    /// It has pools of its own: a thread takes one task at a time, so that no other waits behind one that gets no
    /// answer.
    is_apart: bool,
    random: Queue,
    bulk: Queue,
    /// Requests whose place on the disk is being asked for.
    looked_for: usize,
    /// Files that are to be compared with each other.
    groups: VecDeque<Vec<Request>>,
    /// How the files lay that were read as a whole.
    pub fragments: Fragments,
    /// Since when something is in flight.
    busy_since: Option<Instant>,
    busy: Duration,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(u32, u8)>,
    in_flight: usize,
}

/// Requests for which a queue always has room.
const ROOM: usize = 4096;

impl Queue {
    /// Gives memory back once three quarters of it are free: what waits is most in the middle of a
    /// run, and the tables are largest at its end.
    fn give_back(&mut self) {
        let waiting = &mut self.waiting;
        if waiting.capacity() > ROOM && waiting.len() < waiting.capacity() / 4 {
            waiting.shrink_to(ROOM.max(waiting.capacity() / 2));
        }
    }
}

impl Volume {
    /// A volume of which nothing is wanted yet.
    pub fn new(disk: Option<usize>, limits: Limits, is_apart: bool) -> Self {
        Self {
            disk,
            home: disk,
            otherwise: None,
            pace: Pace::default(),
            limits,
            is_apart,
            random: Queue::default(),
            bulk: Queue::default(),
            looked_for: 0,
            groups: VecDeque::new(),
            fragments: Fragments::default(),
            busy_since: None,
            busy: Duration::ZERO,
        }
    }

    /// Has it read in another way from now on; returns how much could be under way before.
    pub fn change(&mut self, disk: Option<usize>, limits: Limits) -> Limits {
        self.disk = disk;
        self.home = self.home.or(disk);
        std::mem::replace(&mut self.limits, limits)
    }

    /// Takes note of a short read by the pools that was not in the page cache; what many of them
    /// show about the device.
    pub fn paced(&mut self, bytes: u64, now: Duration) -> Option<Evidence> {
        self.pace.read(bytes, now, self.random.in_flight)
    }

    /// Takes note of a short read by the pools that the page cache answered.
    pub fn answered_from_memory(&mut self) {
        self.pace.answered_from_memory();
    }

    /// Takes a request.
    pub fn push(&mut self, request: Request) {
        let waiting = &mut self.queue(request.bulk).waiting;
        waiting.push_back((request.id, request.note));
    }

    /// Takes requests for files that are to be compared with each other.
    pub fn push_group(&mut self, group: Vec<Request>) {
        self.groups.push_back(group);
    }

    /// How many requests wait here.
    pub fn waiting(&self) -> usize {
        let groups: usize = self.groups.iter().map(Vec::len).sum();
        self.random.waiting.len() + self.bulk.waiting.len() + groups
    }

    /// True if nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.random.waiting.is_empty() && self.bulk.waiting.is_empty() && self.groups.is_empty()
    }

    /// True if the place of every request is known.
    pub fn all_placed(&self) -> bool {
        self.is_empty() && self.looked_for == 0
    }

    /// True if nothing waits here, and nothing is being read.
    pub fn is_quiet(&self) -> bool {
        self.is_empty() && self.random.in_flight + self.bulk.in_flight == 0
    }

    /// True if the pools read it, and its disk would get a thread of its own if it had a head.
    pub fn may_have_a_head(&self) -> bool {
        self.disk.is_none() && matches!(self.otherwise, Some((Lane::Disk(_), _)))
    }

    /// Takes note that the place of a request is known, or no longer needed.
    pub fn placed(&mut self) {
        self.looked_for -= 1;
    }

    /// Puts what waits for the pools in the order in which the scan met it, so that a folder is opened for
    /// all of its files, and inodes that lie side by side are wanted together.
    pub fn put_in_order(&mut self) {
        for queue in [&mut self.random, &mut self.bulk] {
            queue.waiting.make_contiguous().sort_unstable();
        }
    }

    /// Forgets all that waits.
    pub fn clear(&mut self) {
        self.random.waiting.clear();
        self.bulk.waiting.clear();
        self.groups.clear();
    }

    /// Takes note that so many requests are under way.
    pub fn begun(&mut self, bulk: bool, count: usize) {
        self.queue(bulk).in_flight += count;
        self.busy_since.get_or_insert_with(Instant::now);
    }

    /// Takes note that a request is no longer under way.
    pub fn ended(&mut self, bulk: bool) {
        self.queue(bulk).in_flight -= 1;
        if self.random.in_flight + self.bulk.in_flight == 0
            && let Some(since) = self.busy_since.take()
        {
            self.busy += since.elapsed();
        }
    }

    /// Time during which something was in flight.
    pub fn busy(&self) -> Duration {
        let now = self.busy_since.map(|since| since.elapsed());
        self.busy + now.unwrap_or_default()
    }

    /// The next tasks of one queue, if there is room for them; `v` is this volume's number.
    pub fn next_batch(&mut self, v: usize, bulk: bool, asker: &mut dyn Asker) -> Option<Batch> {
        let on_disk = self.disk.is_some();
        // Should it have a head, whole files are best left to its own thread.
        let is_awaited = self.may_have_a_head() && self.pace.is_awaited(self.random.in_flight);
        if bulk && is_awaited {
            return None;
        }
        let limits = self.limits;
        let (window, most) = match (on_disk, bulk) {
            // They are only looked up.
            (true, _) => (4 * BATCH, BATCH),
            (false, false) => {
                let window = limits.random_threads * limits.depth * AHEAD;
                // Shared out evenly when there are few.
                let most = match self.is_apart {
                    true => 1,
                    false => (window / limits.random_threads.max(1) / 2).clamp(1, BATCH),
                };
                (window, most)
            }
            (false, true) => (limits.sequential_threads * AHEAD, 1),
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
            kind: match bulk && !on_disk {
                true => Kind::Bulk,
                false => Kind::Scattered,
            },
            ..Batch::default()
        };
        let visit = match on_disk {
            true => Visit::LookedUp,
            false => Visit::Pooled,
        };
        for (id, note) in queue.waiting.drain(..count) {
            let request = asker.choose(v, Request { id, note, bulk });
            asker.describe(request, &mut batch);
            stamp(&mut batch, request, v, visit);
        }
        queue.give_back();
        self.begun(bulk, count);
        if on_disk {
            self.looked_for += count;
        }
        Some(batch)
    }

    /// The next group to be compared, if there is room for it.
    pub fn next_group(&mut self, v: usize, asker: &mut dyn Asker) -> Option<Batch> {
        if self.bulk.in_flight >= self.limits.sequential_threads * AHEAD {
            return None;
        }
        let group = self.groups.pop_front()?;
        let mut batch = Batch {
            kind: Kind::Compare,
            ..Batch::default()
        };
        for &request in &group {
            asker.describe(request, &mut batch);
            stamp(&mut batch, request, v, Visit::Pooled);
        }
        self.begun(true, group.len());
        Some(batch)
    }

    fn queue(&mut self, bulk: bool) -> &mut Queue {
        match bulk {
            true => &mut self.bulk,
            false => &mut self.random,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        random_threads: 4,
        depth: 8,
        sequential_threads: 3,
        sequential_depth: 5,
    };

    #[test]
    fn each_thread_has_a_piece_and_each_read_in_flight_a_slot() {
        let piece = PIECE as u64;
        let scattered = 4 * (piece + 8 * RANDOM_SLOT as u64);
        assert_eq!(LIMITS.bytes_in_flight(), scattered + 3 * piece);
        assert_eq!(Limits::NOTHING.bytes_in_flight(), 0);
        let window = LIMITS.disk_window();
        assert_eq!((window.bytes, window.files), (5 * SWEPT, 8));
    }

    #[test]
    fn what_takes_most_is_halved_until_nothing_can_be() {
        let halvings = |limits: Limits| -> Vec<[usize; 3]> {
            std::iter::successors(limits.less(), |limits| limits.less())
                .map(|now| [now.random_threads, now.depth, now.sequential_threads])
                .collect()
        };
        let scattered_first = [
            [4, 4, 3],
            [4, 2, 3],
            [4, 1, 3],
            [2, 1, 3],
            [2, 1, 2],
            [1, 1, 2],
            [1, 1, 1],
        ];
        assert_eq!(halvings(LIMITS), scattered_first);
        let readers = Limits {
            random_threads: 1,
            depth: 1,
            ..LIMITS
        };
        assert_eq!(halvings(readers), [[1, 1, 2], [1, 1, 1]]);
        let only_scattered = Limits {
            depth: 2,
            sequential_threads: 1,
            random_threads: 1,
            ..LIMITS
        };
        assert_eq!(halvings(only_scattered), [[1, 1, 1]]);
        assert_eq!(Limits::NOTHING.less(), None);
    }

    #[test]
    fn a_queue_that_has_run_empty_gives_its_memory_back() {
        let mut queue = Queue::default();
        queue.waiting.extend((0..100_000).map(|id| (id, 0)));
        let full = queue.waiting.capacity();
        // As long as a quarter waits, it may grow again.
        queue.waiting.drain(..full.min(100_000) - full / 4);
        queue.give_back();
        assert_eq!(queue.waiting.capacity(), full);
        queue.waiting.pop_front();
        queue.give_back();
        let half = queue.waiting.capacity();
        assert!(
            (full / 4..=full / 2 + 1).contains(&half),
            "{half} of {full}"
        );
        assert_eq!(queue.waiting.len(), full / 4 - 1, "nothing is lost");
        assert_eq!(queue.waiting.back(), Some(&(99_999, 0)));
        queue.waiting.clear();
        for _ in 0..20 {
            queue.give_back();
        }
        let least = queue.waiting.capacity();
        assert!((ROOM..2 * ROOM).contains(&least), "{least}");
    }
}
