//! Routes jobs to the readers of the device that their files lie on.
//!
//! Jobs wait here, in as few bytes as possible, and become tasks only when the device has room for them. The devices
//! thus bound the number of tasks in flight, however fast the scan finds files.
//!
//! A spinning disk's jobs first go to the random pool. This pool answers at once for files in the page cache, and
//! reports the disk position of all others. These others wait in the disk's elevator until the scan of the disk is
//! over, since the head can be in one place only. Then one thread serves them in sweeps, samples and whole files in the
//! order of their positions. Just before the head reaches a file, the asker may choose to have it read whole instead of
//! sampled.

mod disk;
mod give_up;
mod pace;
mod under_way;
mod volume;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::device::{Policy, VolumeId};

use super::pool::Pool;
use super::reader::ReadSettings;
use super::stream::Window;
use super::task::COMPLETIONS;
use super::task::{Completion, Outcome};
use super::worker::Shape;
use crate::hash::Fold;

use crate::read::pool::RANDOM_SLOT;
use disk::Disk;
use disk::Readers;
use under_way::{Describe, Handed, PoolIndex, RANDOM, SEQUENTIAL, UnderWay, Visit};
use volume::{DiskIndex, VolumeQueues};

pub use under_way::{Finished, Job};
pub use volume::Lane;

/// The router of all jobs.
pub struct Scheduler<W> {
    settings: ReadSettings,
    fold: Fold,
    volumes: Vec<VolumeQueues<W>>,
    /// The two pools of most volumes, then the pools of single volumes and of disks.
    readers: Vec<Readers<W>>,
    disks: Vec<Disk<W>>,
    disk_names: HashMap<Arc<str>, DiskIndex>,
    done: Sender<Vec<Completion>>,
    completions: Receiver<Vec<Completion>>,
    holding: bool,
    /// Disks that need not wait for the end of the scan.
    scanned: HashSet<Arc<str>>,
    under_way: UnderWay<W>,
    /// Jobs that ended without a reader.
    ended: VecDeque<Finished<W>>,
    began: Instant,
    /// Volumes whose disks turned out to have a head since they were last asked for.
    changes: Vec<(VolumeId, Duration)>,
}

impl<W: Copy> Scheduler<W> {
    /// A scheduler without volumes.
    pub fn new(settings: ReadSettings, fold: Fold) -> Self {
        let (done, completions) = unbounded();
        let mut scheduler = Self {
            readers: Vec::new(),
            volumes: Vec::new(),
            disks: Vec::new(),
            disk_names: HashMap::new(),
            done,
            completions,
            holding: true,
            scanned: HashSet::new(),
            under_way: UnderWay::new(settings.recalls.clone()),
            ended: VecDeque::new(),
            began: Instant::now(),
            changes: Vec::new(),
            settings,
            fold,
        };
        scheduler.add_pools(COMPLETIONS);
        scheduler
    }

    /// Adds a pool for scattered reads and one for whole files, of a thread each so far.
    fn add_pools(&mut self, completions: usize) -> [PoolIndex; 2] {
        let shape = Shape {
            completions,
            slots: 1,
            slot_size: RANDOM_SLOT,
            window: Window::NONE,
        };
        ["random", "sequential"].map(|name| self.add_pool(name, 1, shape))
    }

    fn add_pool(&mut self, name: &str, threads: usize, shape: Shape) -> PoolIndex {
        let (settings, fold, done) = (self.settings.clone(), self.fold.clone(), self.done.clone());
        let pool = Pool::new(name, threads, shape, settings, fold, done);
        self.readers.push(Readers::new(pool));
        PoolIndex(self.readers.len() - 1)
    }

    /// Adds a volume that lies on this device and returns its number.
    pub fn add_volume(&mut self, device: &Arc<str>, lane: Lane, policy: Policy) -> VolumeId {
        self.settings.access.budgets.add_volume(device);
        let volume = VolumeId(self.volumes.len() as u16);
        let pools = match lane {
            // What was read is not to wait in a thread that gets no answer about the next file.
            Lane::OwnPools => self.add_pools(1),
            Lane::Pools | Lane::Disk(_) => [RANDOM, SEQUENTIAL],
        };
        let disk = match lane {
            Lane::Pools | Lane::OwnPools => {
                let [random, sequential] = pools;
                let pool = &mut self.readers[random.0].pool;
                pool.widen(policy.random_threads, policy.depth);
                let pool = &mut self.readers[sequential.0].pool;
                pool.widen(policy.sequential_threads, 0);
                None
            }
            Lane::Disk(name) => Some(self.disk(name, policy)),
        };
        self.volumes.push(VolumeQueues::new(pools, disk, policy));
        volume
    }

    /// Sets how a volume is read if its disk, of this name, turns out to have a head.
    pub fn may_have_a_head(&mut self, volume: VolumeId, disk: Arc<str>, policy: Policy) {
        self.volumes[volume.at()].otherwise = Some((disk, policy));
    }

    /// Volumes whose disks turned out to have a head since the last call, and the time that each scattered read took.
    pub fn changes(&mut self) -> Vec<(VolumeId, Duration)> {
        std::mem::take(&mut self.changes)
    }

    fn has_a_head(&mut self, volume: VolumeId, each: Duration) {
        if let Some((name, policy)) = self.volumes[volume.at()].otherwise.take() {
            let disk = self.disk(name, policy);
            self.volumes[volume.at()].move_to(disk, policy);
            self.changes.push((volume, each));
        }
    }

    /// The disk of this name, with an executor of its own.
    fn disk(&mut self, name: Arc<str>, policy: Policy) -> DiskIndex {
        // Cached pages are looked for by the pool, whatever the disk behind them.
        self.readers[RANDOM.0].pool.widen(1, 1);
        if let Some(&known) = self.disk_names.get(&name) {
            return known;
        }
        let threads = policy.random_threads.max(policy.sequential_threads);
        let window = policy.disk_window();
        let shape = Shape {
            completions: COMPLETIONS,
            slots: 1,
            slot_size: 0,
            window,
        };
        let pool = self.add_pool(&name, threads, shape);
        self.disks.push(Disk::new(pool, threads * window.files));
        let disk = DiskIndex(self.disks.len() - 1);
        self.disk_names.insert(name, disk);
        disk
    }

    /// Takes a job.
    pub fn push(&mut self, job: Job<W>) {
        if let Some(job) = self.unless_given_up(job) {
            self.volumes[job.volume.at()].push(job);
        }
    }

    /// Tells the scheduler that the scan is over: disks may begin their sweeps.
    pub fn scan_done(&mut self) {
        self.holding = false;
        self.volumes.iter_mut().for_each(VolumeQueues::put_in_order);
    }

    /// Tells the scheduler that no walker lists folders on the disk of this name any more: it may begin its sweeps.
    pub fn scan_done_on(&mut self, disk: &Arc<str>) {
        self.scanned.insert(Arc::clone(disk));
    }

    /// The channel of completions, to wait for them together with other events.
    pub fn completions(&self) -> &Receiver<Vec<Completion>> {
        &self.completions
    }

    /// True if nothing waits and nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.outstanding() == 0
    }

    /// Bytes read so far of the files of a volume that are being read.
    pub fn in_progress(&self, volume: VolumeId) -> u64 {
        self.settings.access.in_progress.bytes(volume)
    }

    /// Hands over as many tasks as the devices have room for.
    pub fn dispatch(&mut self, describe: &mut Describe<'_, W>) {
        let under_way = &mut self.under_way;
        for volume in &mut self.volumes {
            for bulk in [false, true] {
                while let Some((pool, batch)) = volume.next_batch(bulk, describe, under_way) {
                    self.readers[pool.0].pool.send(batch);
                }
            }
        }
        for d in (0..self.disks.len()).map(DiskIndex) {
            if !self.may_sweep(d) {
                continue;
            }
            let (disk, volumes) = (&mut self.disks[d.0], &mut self.volumes);
            let mut own = volumes.iter().filter(|volume| volume.disk == Some(d));
            let is_ready = own.all(VolumeQueues::all_placed);
            let begun = |job: Job<W>| volumes[job.volume.at()].begun(job.bulk, 1);
            if let Some(batch) = disk.next_batch(is_ready, describe, &mut self.under_way, begun) {
                self.readers[disk.pool.0].pool.send(batch);
            }
        }
        for at in 0..self.readers.len() {
            if !self.readers[at].sets.is_empty() {
                self.dispatch_sets(PoolIndex(at), describe);
            }
        }
    }

    /// True if no walker lists folders on a disk any more.
    fn may_sweep(&self, disk: DiskIndex) -> bool {
        let pool = &self.readers[self.disks[disk.0].pool.0].pool;
        !self.holding || self.scanned.contains(pool.name())
    }

    /// Takes a completion; returns `None` if its job is not finished.
    pub fn completed(&mut self, completion: Completion) -> Option<Finished<W>> {
        let Completion { ticket, outcome } = completion;
        let Handed { job, visit, pool } = self.under_way.end(ticket)?;
        let volume = &mut self.volumes[job.volume.at()];
        volume.ended(job.bulk);
        match visit {
            Visit::LookedUp => {
                volume.placed();
                if let Outcome::NotCached { position } = outcome {
                    if let Some(disk) = volume.disk {
                        self.disks[disk.0].waiting.push(position, job);
                    }
                    return None;
                }
            }
            Visit::Swept => {
                if let Some(disk) = volume.disk {
                    self.disks[disk.0].ended();
                }
            }
            Visit::Compared { is_first, .. } => {
                self.readers[pool.0].comparing -= usize::from(is_first);
            }
            Visit::Pooled => {
                let is_watched = !job.bulk && volume.may_have_a_head();
                let each = match outcome {
                    Outcome::Read { cached: true, .. } if is_watched => {
                        volume.answered_from_memory();
                        None
                    }
                    Outcome::Read { bytes, .. } if is_watched => {
                        volume.paced(bytes, self.began.elapsed())
                    }
                    _ => None,
                };
                if let Some(each) = each {
                    self.has_a_head(job.volume, each);
                }
            }
        }
        Some(Finished { job, outcome })
    }

    /// The job that a reader has under this ticket.
    #[cfg(test)]
    pub fn job(&self, ticket: super::task::Ticket) -> Option<Job<W>> {
        self.under_way.get(ticket)
    }

    /// Jobs that wait, are in flight, or ended without a reader.
    pub fn outstanding(&self) -> usize {
        self.under_way.len() + self.waiting() + self.ended.len()
    }

    fn waiting(&self) -> usize {
        let volumes = self.volumes.iter().map(VolumeQueues::waiting);
        let disks = self.disks.iter().map(|disk| disk.waiting.len());
        let sets = self.readers.iter().flat_map(|readers| readers.sets.iter());
        volumes.chain(disks).chain(sets.map(Vec::len)).sum()
    }

    /// Ends all threads. Call it when no read is in flight.
    pub fn join(self) {
        self.readers
            .into_iter()
            .for_each(|readers| readers.pool.join());
    }
}
