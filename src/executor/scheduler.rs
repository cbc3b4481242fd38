//! Routes requests to whoever reads the device that they lie on.
//!
//! Requests wait here, in as few bytes as possible, and become tasks only when the device has room
//! for them: what is in flight is bounded by the devices, however fast the scan finds files.
//!
//! A spinning disk's requests first go to the random pool, which answers at once for what is in
//! the page cache and tells where on the disk the rest lies. The rest waits in the disk's elevator
//! until the scan is over (the head can be in one place only), then one thread serves it in sweeps:
//! all samples first, since they decide which files must be read as a whole.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::elevator::Elevator;
use super::fold::Fold;
use super::pool::Pool;
use super::reader::{PIECE, Settings};
use super::stream::Window;
use super::task::{Batch, Completion, Failure, Kind, Outcome, SPANS};
use super::worker::Shape;

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
    /// The group was too large for the descriptors there are; none of it was compared.
    NotCompared,
}

/// Who reads a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The pools, in order of arrival.
    Pools,
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
    /// Files under way for each.
    pub sequential_depth: usize,
}

/// A file system as the scheduler sees it.
#[derive(Debug)]
struct Volume {
    lane: Lane,
    limits: Limits,
    random: Queue,
    bulk: Queue,
    /// Files that are to be compared with each other.
    groups: VecDeque<Vec<Request>>,
    /// Since when something is in flight.
    busy_since: Option<Instant>,
    busy: Duration,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(u32, u8)>,
    in_flight: usize,
}

/// A disk with its own executor.
struct Disk<F: Fold> {
    samples: Elevator<(u16, Request)>,
    bulk: Elevator<(u16, Request)>,
    in_flight: usize,
    window: usize,
    pool: Pool<F>,
}

/// Bytes of a slot for random reads: a file that fits is read with one request to the kernel.
const RANDOM_SLOT: usize = 32 << 10;

/// Bytes announced ahead for each whole file that a thread is to have under way. Cold, on a network
/// SSD, 2.7 GB of photos took 1.6 s with 2 MiB ahead a thread and 1.4 s with 16 MiB.
const ANNOUNCED: u64 = 4 << 20;

/// Tasks in a batch: enough to make the channel's cost small, few enough to share out.
const BATCH: usize = 64;

/// Tasks that may wait in a pool's queue for each that is being done.
const AHEAD: usize = 2;

/// Files open ahead for each whole file that a thread is to have under way, where they are short.
const OPENED: usize = 8;

fn window(limits: Limits) -> Window {
    Window {
        bytes: limits.sequential_depth as u64 * ANNOUNCED,
        files: limits.sequential_depth * OPENED,
    }
}

/// Routes requests.
pub struct Scheduler<F: Fold> {
    settings: Settings,
    fold: F,
    volumes: Vec<Volume>,
    random: Pool<F>,
    sequential: Pool<F>,
    disks: Vec<Disk<F>>,
    disk_names: HashMap<Arc<str>, usize>,
    done: Sender<Vec<Completion<F::Digest>>>,
    completions: Receiver<Vec<Completion<F::Digest>>>,
    holding: bool,
    in_flight: usize,
}

impl<F: Fold> Scheduler<F> {
    /// A scheduler without volumes.
    pub fn new(settings: Settings, fold: F) -> Self {
        let (done, completions) = unbounded();
        let pool = |name, slots| {
            let shape = Shape {
                slots,
                slot_size: RANDOM_SLOT,
                window: Window { bytes: 0, files: 0 },
            };
            Pool::new(name, 1, shape, settings.clone(), fold.clone(), done.clone())
        };
        Self {
            random: pool("random", 1),
            sequential: pool("sequential", 1),
            volumes: Vec::new(),
            disks: Vec::new(),
            disk_names: HashMap::new(),
            done,
            completions,
            holding: true,
            in_flight: 0,
            settings,
            fold,
        }
    }

    /// Adds a volume and returns its number.
    pub fn add_volume(&mut self, lane: Lane, limits: Limits) -> usize {
        match &lane {
            Lane::Pools => {
                self.random.widen(limits.random_threads, limits.depth);
                self.sequential.widen(limits.sequential_threads, 0);
                self.sequential.look_ahead(window(limits));
            }
            Lane::Disk(name) => {
                // Cached pages are looked for by the pool, whatever the disk behind them.
                self.random.widen(1, 1);
                if !self.disk_names.contains_key(name) {
                    self.disk_names.insert(Arc::clone(name), self.disks.len());
                    self.add_disk(name, limits);
                }
            }
        }
        self.volumes.push(Volume {
            lane,
            limits,
            random: Queue::default(),
            bulk: Queue::default(),
            groups: VecDeque::new(),
            busy_since: None,
            busy: Duration::ZERO,
        });
        self.volumes.len() - 1
    }

    fn add_disk(&mut self, name: &str, limits: Limits) {
        let threads = limits.random_threads.max(limits.sequential_threads);
        let shape = Shape {
            slots: limits.depth.max(2),
            slot_size: PIECE,
            window: window(limits),
        };
        let (settings, fold, done) = (self.settings.clone(), self.fold.clone(), self.done.clone());
        self.disks.push(Disk {
            samples: Elevator::default(),
            bulk: Elevator::default(),
            in_flight: 0,
            window: threads * shape.slots * AHEAD,
            pool: Pool::new(name, threads, shape, settings, fold, done),
        });
    }

    /// Takes a request for a file on a volume.
    pub fn push(&mut self, volume: usize, request: Request) {
        let volume = &mut self.volumes[volume];
        let queue = match request.bulk {
            true => &mut volume.bulk,
            false => &mut volume.random,
        };
        queue.waiting.push_back((request.id, request.note));
    }

    /// Takes requests for whole files of one length that are to be compared with each other. The
    /// volume must be read by the pools.
    pub fn push_group(&mut self, volume: usize, group: Vec<Request>) {
        self.volumes[volume].groups.push_back(group);
    }

    /// Says that the scan is over: disks may begin their sweeps.
    pub fn scan_done(&mut self) {
        self.holding = false;
    }

    /// Where completions arrive, to wait for them together with other things.
    pub fn completions(&self) -> &Receiver<Vec<Completion<F::Digest>>> {
        &self.completions
    }

    /// True if nothing waits and nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
            && self.volumes.iter().all(|v| {
                v.random.waiting.is_empty() && v.bulk.waiting.is_empty() && v.groups.is_empty()
            })
            && self
                .disks
                .iter()
                .all(|d| d.samples.is_empty() && d.bulk.is_empty())
    }

    /// Forgets all that waits; what is in flight still completes.
    pub fn forget_waiting(&mut self) {
        for volume in &mut self.volumes {
            volume.random.waiting.clear();
            volume.bulk.waiting.clear();
            volume.groups.clear();
        }
        for disk in &mut self.disks {
            disk.samples.clear();
            disk.bulk.clear();
        }
    }

    /// Time during which something of the volume was in flight.
    pub fn busy(&self, volume: usize) -> Duration {
        let volume = &self.volumes[volume];
        volume.busy
            + volume
                .busy_since
                .map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Hands over as much as the devices have room for. `describe` adds a request's task (with any
    /// ticket) to a batch.
    pub fn dispatch(&mut self, describe: &mut dyn FnMut(Request, &mut Batch)) {
        for v in 0..self.volumes.len() {
            for bulk in [false, true] {
                self.dispatch_queue(v, bulk, describe);
            }
            self.dispatch_groups(v, describe);
        }
        if !self.holding {
            for d in 0..self.disks.len() {
                self.dispatch_disk(d, describe);
            }
        }
    }

    fn dispatch_groups(&mut self, v: usize, describe: &mut dyn FnMut(Request, &mut Batch)) {
        let volume = &mut self.volumes[v];
        let most = volume.limits.sequential_threads * window(volume.limits).files * AHEAD;
        while volume.bulk.in_flight < most
            && let Some(group) = volume.groups.pop_front()
        {
            let mut batch = Batch {
                kind: Kind::Compare,
                ..Batch::default()
            };
            for &request in &group {
                describe(request, &mut batch);
                stamp(&mut batch, request, v, false);
            }
            volume.bulk.in_flight += group.len();
            self.in_flight += group.len();
            volume.busy_since.get_or_insert_with(Instant::now);
            self.sequential.send(batch);
        }
    }

    fn dispatch_queue(
        &mut self,
        v: usize,
        bulk: bool,
        describe: &mut dyn FnMut(Request, &mut Batch),
    ) {
        let volume = &mut self.volumes[v];
        let on_disk = volume.lane != Lane::Pools;
        let limits = volume.limits;
        let (queue, window, most) = match (on_disk, bulk) {
            (true, false) => (&mut volume.random, 4 * BATCH, BATCH),
            (true, true) => (&mut volume.bulk, 4 * BATCH, BATCH),
            (false, false) => {
                let window = limits.random_threads * limits.depth * AHEAD;
                // Shared out evenly when there are few.
                let most = (window / limits.random_threads.max(1) / 2).clamp(1, BATCH);
                (&mut volume.random, window, most)
            }
            (false, true) => {
                let files = limits.sequential_threads * window(limits).files;
                (&mut volume.bulk, files * AHEAD, 1)
            }
        };
        // A few tasks wait for more to come as long as the readers have work.
        if queue.waiting.len() < most / 2 && queue.in_flight > window / 4 {
            return;
        }
        while queue.in_flight < window && !queue.waiting.is_empty() {
            let count = most.min(window - queue.in_flight).min(queue.waiting.len());
            let mut batch = Batch {
                kind: match bulk && !on_disk {
                    true => Kind::Bulk,
                    false => Kind::Scattered,
                },
                ..Batch::default()
            };
            for (id, note) in queue.waiting.drain(..count) {
                let request = Request { id, note, bulk };
                describe(request, &mut batch);
                stamp(&mut batch, request, v, on_disk);
            }
            queue.in_flight += count;
            self.in_flight += count;
            volume.busy_since.get_or_insert_with(Instant::now);
            match batch.kind == Kind::Bulk {
                true => self.sequential.send(batch),
                false => self.random.send(batch),
            }
        }
    }

    fn dispatch_disk(&mut self, d: usize, describe: &mut dyn FnMut(Request, &mut Batch)) {
        let disk = &mut self.disks[d];
        if disk.in_flight > disk.window / 2 {
            return;
        }
        let mut batch = Batch::default();
        while disk.in_flight < disk.window {
            let next = match batch.tasks.is_empty() || batch.kind == Kind::Scattered {
                true => disk.samples.pop(),
                false => None,
            };
            let next = next.or_else(
                || match batch.tasks.is_empty() || batch.kind == Kind::Bulk {
                    true => disk.bulk.pop(),
                    false => None,
                },
            );
            let Some((v, request)) = next else {
                break;
            };
            batch.kind = match request.bulk {
                true => Kind::Bulk,
                false => Kind::Scattered,
            };
            describe(request, &mut batch);
            stamp(&mut batch, request, v.into(), false);
            disk.in_flight += 1;
            self.in_flight += 1;
            let volume = &mut self.volumes[usize::from(v)];
            volume.busy_since.get_or_insert_with(Instant::now);
            match request.bulk {
                true => volume.bulk.in_flight += 1,
                false => volume.random.in_flight += 1,
            }
        }
        if !batch.tasks.is_empty() {
            disk.pool.send(batch);
        }
    }

    /// Takes a completion; `None` if the request has a further way to go.
    pub fn completed(&mut self, completion: Completion<F::Digest>) -> Option<Finished<F::Digest>> {
        let (request, v, looked_up) = read_stamp(completion.ticket);
        self.in_flight -= 1;
        let volume = &mut self.volumes[v];
        match request.bulk {
            true => volume.bulk.in_flight -= 1,
            false => volume.random.in_flight -= 1,
        }
        if volume.random.in_flight + volume.bulk.in_flight == 0
            && let Some(since) = volume.busy_since.take()
        {
            volume.busy += since.elapsed();
        }
        let disk = match &volume.lane {
            Lane::Disk(name) => self.disk_names.get(name).map(|&d| &mut self.disks[d]),
            Lane::Pools => None,
        };
        let result = match (completion.outcome, disk) {
            (Outcome::NotCached { position }, Some(disk)) => {
                let elevator = match request.bulk {
                    true => &mut disk.bulk,
                    false => &mut disk.samples,
                };
                elevator.push(position, (v as u16, request));
                return None;
            }
            (outcome, disk) => {
                if let (Some(disk), false) = (disk, looked_up) {
                    disk.in_flight -= 1;
                }
                match outcome {
                    Outcome::Read {
                        digests,
                        bytes,
                        cached,
                    } => Ok(Answer::Read {
                        digests,
                        bytes,
                        cached,
                    }),
                    Outcome::Compared { with, bytes } => Ok(Answer::Compared {
                        with: read_stamp(with).0.id,
                        bytes,
                    }),
                    Outcome::NotCompared => Ok(Answer::NotCompared),
                    Outcome::Failed(failure) => Err(failure),
                    Outcome::NotCached { .. } => Err(Failure::Changed),
                }
            }
        };
        Some(Finished {
            request,
            volume: v,
            result,
        })
    }

    /// Ends all threads. Call it when nothing is in flight.
    pub fn join(self) {
        self.random.join();
        self.sequential.join();
        for disk in self.disks {
            disk.pool.join();
        }
        self.settings.behind.join();
    }
}

const BULK: u64 = 1 << 40;
const LOOKED_UP: u64 = 1 << 41;

/// Puts everything that must come back into the ticket of the batch's last task.
fn stamp(batch: &mut Batch, request: Request, volume: usize, look_up: bool) {
    if let Some(task) = batch.tasks.last_mut() {
        task.only_if_cached = look_up;
        task.ticket = u64::from(request.id)
            | u64::from(request.note) << 32
            | if request.bulk { BULK } else { 0 }
            | if look_up { LOOKED_UP } else { 0 }
            | (volume as u64) << 48;
    }
}

fn read_stamp(ticket: u64) -> (Request, usize, bool) {
    let request = Request {
        id: ticket as u32,
        note: (ticket >> 32) as u8,
        bulk: ticket & BULK != 0,
    };
    (request, (ticket >> 48) as usize, ticket & LOOKED_UP != 0)
}
