//! Routes requests to whoever reads the device that they lie on.
//!
//! Requests wait here, in as few bytes as possible, and become tasks only when the device has room
//! for them: what is in flight is bounded by the devices, however fast the scan finds files.
//!
//! A spinning disk's requests first go to the random pool, which answers at once for what is in
//! the page cache and tells where on the disk the rest lies. The rest waits in the disk's elevator
//! until its scan is over (the head can be in one place only), then one thread serves it in sweeps,
//! samples and whole files as they lie. Just before the head comes by, whoever asked may choose to
//! have a file read whole instead of sampled.

mod disk;
mod evidence;
mod fragments;
mod request;
mod volume;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::fold::Fold;
use super::parts::Team;
use super::pool::Pool;
use super::reader::Settings;
use super::source::COMPLETIONS;
use super::stream::Window;
use super::task::{Completion, Failure, Kind, Outcome};
use super::worker::Shape;

use disk::{Disk, Waiting};
use request::Visit;
use volume::{RANDOM_SLOT, Volume};

use evidence::Evidence;
pub use fragments::Fragments;
pub(super) use request::read_stamp;
pub use request::{Answer, Asker, Finished, Request};
pub use volume::{Lane, Limits};

/// Routes requests.
pub struct Scheduler<F: Fold> {
    settings: Settings,
    fold: F,
    volumes: Vec<Volume>,
    random: Pool<F>,
    sequential: Pool<F>,
    /// Random and sequential pools of single volumes.
    own: HashMap<usize, (Pool<F>, Pool<F>)>,
    disks: Vec<Disk<F>>,
    disk_names: HashMap<Arc<str>, usize>,
    done: Sender<Vec<Completion<F::Digest>>>,
    completions: Receiver<Vec<Completion<F::Digest>>>,
    holding: bool,
    /// Disks that need not wait for the end of the scan.
    scanned: HashSet<Arc<str>>,
    in_flight: usize,
    began: Instant,
    changes: Vec<Change>,
}

/// A volume that is read in another way from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number.
    pub volume: usize,
    /// What was seen.
    pub evidence: Evidence,
}

impl<F: Fold> Scheduler<F> {
    /// A scheduler without volumes.
    pub fn new(settings: Settings, fold: F) -> Self {
        let (done, completions) = unbounded();
        let (random, sequential) = pools(&settings, &fold, &done, COMPLETIONS);
        Self {
            random,
            sequential,
            own: HashMap::new(),
            volumes: Vec::new(),
            disks: Vec::new(),
            disk_names: HashMap::new(),
            done,
            completions,
            holding: true,
            scanned: HashSet::new(),
            in_flight: 0,
            began: Instant::now(),
            changes: Vec::new(),
            settings,
            fold,
        }
    }

    /// Adds a volume that lies on this device and returns its number.
    pub fn add_volume(&mut self, device: &Arc<str>, lane: Lane, limits: Limits) -> usize {
        self.settings.budgets.add_volume(device);
        if lane == Lane::OwnPools {
            // What was read is not to wait in a thread that gets no answer about the next file.
            let (mut random, mut sequential) = pools(&self.settings, &self.fold, &self.done, 1);
            random.widen(limits.random_threads, limits.depth);
            sequential.widen(limits.sequential_threads, 0);
            self.own.insert(self.volumes.len(), (random, sequential));
        }
        let is_apart = lane == Lane::OwnPools;
        let disk = self.make_ready(lane, limits);
        self.volumes.push(Volume::new(disk, limits, is_apart));
        self.volumes.len() - 1
    }

    /// Lets a volume be read in this other way, should it turn out to be something else than was
    /// thought.
    pub fn may_change(&mut self, volume: usize, lane: Lane, limits: Limits) {
        let volume = &mut self.volumes[volume];
        volume.otherwise = Some((lane, limits));
        if let Some(d) = volume.disk {
            self.disks[d].trial();
        }
    }

    /// Volumes that are read in another way since the last call.
    pub fn changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Makes sure that there is somebody to read so; the disk with an executor of its own, if it is
    /// to be one.
    fn make_ready(&mut self, lane: Lane, limits: Limits) -> Option<usize> {
        match lane {
            Lane::OwnPools => None,
            Lane::Pools => {
                self.random.widen(limits.random_threads, limits.depth);
                self.sequential.widen(limits.sequential_threads, 0);
                None
            }
            Lane::Disk(name) => {
                // Cached pages are looked for by the pool, whatever the disk behind them.
                self.random.widen(1, 1);
                let known = self.disk_names.get(&name).copied();
                Some(known.unwrap_or_else(|| self.add_disk(name, limits)))
            }
        }
    }

    /// Has volumes read in their other way.
    fn change(&mut self, volumes: &[usize], evidence: Evidence) {
        for &volume in volumes {
            if let Some((lane, limits)) = self.volumes[volume].otherwise.take() {
                let disk = self.make_ready(lane, limits);
                let before = self.volumes[volume].change(disk, limits);
                self.changes.push(Change { volume, evidence });
                if evidence.has_head {
                    // A device that others keep busy, or that is held up for a moment, looks like one with
                    // a head from afar. Lone reads will show.
                    self.may_change(volume, Lane::Pools, before);
                }
            }
        }
        for d in 0..self.disks.len() {
            for (position, waiting) in self.disks[d].take_all() {
                let volume = &mut self.volumes[usize::from(waiting.volume)];
                match volume.disk == Some(d) {
                    true => self.disks[d].push(position, waiting),
                    false => volume.push(waiting.request),
                }
            }
        }
    }

    /// Follows evidence about a disk with an executor of its own.
    fn change_disk(&mut self, d: usize, evidence: Evidence) {
        let on_it = self
            .volumes
            .iter()
            .enumerate()
            .filter(|(_, volume)| volume.disk == Some(d));
        let on_it: Vec<usize> = on_it.map(|(v, _)| v).collect();
        match evidence.has_head {
            // As was thought: nobody need look again.
            true => on_it.iter().for_each(|&v| self.volumes[v].otherwise = None),
            false => self.change(&on_it, evidence),
        }
    }

    fn add_disk(&mut self, name: Arc<str>, limits: Limits) -> usize {
        let threads = limits.random_threads.max(limits.sequential_threads);
        let window = limits.disk_window();
        let shape = Shape {
            completions: COMPLETIONS,
            slots: 1,
            slot_size: 0,
            window,
        };
        let (settings, fold, done) = (self.settings.clone(), self.fold.clone(), self.done.clone());
        let pool = Pool::new(&name, threads, shape, settings, fold, done);
        self.disks.push(Disk::new(pool, threads * window.files));
        self.disk_names.insert(name, self.disks.len() - 1);
        self.disks.len() - 1
    }

    /// Takes a request for a file on a volume.
    pub fn push(&mut self, volume: usize, request: Request) {
        self.volumes[volume].push(request);
    }

    /// Takes requests for whole files of one length that are to be compared with each other. The
    /// volume must be read by the pools.
    pub fn push_group(&mut self, volume: usize, group: Vec<Request>) {
        self.volumes[volume].push_group(group);
    }

    /// Says that the scan is over: disks may begin their sweeps.
    pub fn scan_done(&mut self) {
        self.holding = false;
        self.volumes.iter_mut().for_each(Volume::put_in_order);
    }

    /// Says that nobody lists folders on the disk of this name any more: it may begin its sweeps.
    pub fn scan_done_on(&mut self, disk: &Arc<str>) {
        self.scanned.insert(Arc::clone(disk));
    }

    /// Where completions arrive, to wait for them together with other things.
    pub fn completions(&self) -> &Receiver<Vec<Completion<F::Digest>>> {
        &self.completions
    }

    /// True if nothing waits and nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
            && self.volumes.iter().all(Volume::is_empty)
            && self.disks.iter().all(Disk::is_empty)
    }

    /// Forgets all that waits; what is in flight still completes.
    pub fn forget_waiting(&mut self) {
        self.volumes.iter_mut().for_each(Volume::clear);
        self.disks.iter_mut().for_each(Disk::clear);
    }

    /// Time during which something of the volume was in flight.
    pub fn busy(&self, volume: usize) -> Duration {
        self.volumes[volume].busy()
    }

    /// How the files of a volume lay that its disk's sweeps read as a whole.
    pub fn fragments(&self, volume: usize) -> Fragments {
        self.volumes[volume].fragments
    }

    /// Hands over as much as the devices have room for.
    pub fn dispatch(&mut self, asker: &mut dyn Asker) {
        for (v, volume) in self.volumes.iter_mut().enumerate() {
            let (random, sequential) = match self.own.get_mut(&v) {
                Some((random, sequential)) => (random, sequential),
                None => (&mut self.random, &mut self.sequential),
            };
            for bulk in [false, true] {
                while let Some(batch) = volume.next_batch(v, bulk, asker) {
                    self.in_flight += batch.tasks.len();
                    match batch.kind == Kind::Bulk {
                        true => sequential.send(batch),
                        false => random.send(batch),
                    }
                }
            }
            while let Some(batch) = volume.next_group(v, asker) {
                self.in_flight += batch.tasks.len();
                sequential.send(batch);
            }
        }
        for (d, disk) in self.disks.iter_mut().enumerate() {
            if self.holding && !self.scanned.contains(disk.pool.name()) {
                continue;
            }
            let volumes = &mut self.volumes;
            let mut own = volumes.iter().filter(|volume| volume.disk == Some(d));
            // Lone reads are to be alone, and a sweep to meet all that it could.
            let is_ready = match disk.is_tasting() {
                true => own.all(Volume::is_quiet),
                false => own.all(Volume::all_placed),
            };
            let begun = |v, request: Request| volumes[usize::from(v)].begun(request.bulk, 1);
            if let Some(batch) = disk.next_batch(is_ready, asker, begun) {
                self.in_flight += batch.tasks.len();
                disk.pool.send(batch);
            }
        }
    }

    /// Takes a completion; `None` if the request has a further way to go.
    pub fn completed(&mut self, completion: Completion<F::Digest>) -> Option<Finished<F::Digest>> {
        let (request, v, visit) = read_stamp(completion.ticket);
        self.in_flight -= 1;
        let volume = &mut self.volumes[v];
        volume.ended(request.bulk);
        match (visit, completion.outcome) {
            (Visit::LookedUp, outcome) => {
                volume.placed();
                if let Outcome::NotCached { position, pieces } = outcome {
                    let waiting = Waiting {
                        volume: v as u16,
                        pieces,
                        request,
                    };
                    match volume.disk {
                        Some(d) => self.disks[d].push(position, waiting),
                        // It was found to have no head meanwhile.
                        None => volume.push(request),
                    }
                    return None;
                }
            }
            (Visit::Swept, _) => {
                if let Some(d) = volume.home {
                    let ended = self.disks[d].ended(&completion);
                    if let Some(pieces) = ended.pieces {
                        volume.fragments.read(pieces);
                    }
                    if let Some(evidence) = ended.evidence {
                        self.change_disk(d, evidence);
                    }
                }
            }
            (Visit::Pooled, _) => {
                let is_watched = !request.bulk && volume.may_have_a_head();
                let evidence = match completion.outcome {
                    Outcome::Read { cached: true, .. } if is_watched => {
                        volume.answered_from_memory();
                        None
                    }
                    Outcome::Read { bytes, .. } if is_watched => {
                        volume.paced(bytes, self.began.elapsed())
                    }
                    _ => None,
                };
                if let Some(evidence) = evidence {
                    self.change(&[v], evidence);
                }
            }
        }
        let result = match completion.outcome {
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
            Outcome::Blocks { places } => Ok(Answer::Blocks(places)),
            Outcome::Failed(failure) => Err(failure),
            Outcome::NotCached { .. } => Err(Failure::Changed),
        };
        Some(Finished {
            request,
            volume: v,
            result,
        })
    }

    /// Requests that wait or are in flight.
    pub fn outstanding(&self) -> usize {
        let waiting = self.volumes.iter().map(Volume::waiting).sum::<usize>();
        self.in_flight + waiting + self.disks.iter().map(Disk::waiting).sum::<usize>()
    }

    /// Has others work in the place of a thread that gets no answer from a volume.
    pub fn add_workers(&mut self, volume: usize) {
        let (random, sequential) = match self.own.get_mut(&volume) {
            Some((random, sequential)) => (random, sequential),
            None => (&mut self.random, &mut self.sequential),
        };
        random.add_hand();
        sequential.add_hand();
    }

    /// Leaves all threads to themselves: they end when they have what they wait for.
    pub fn leave(self) {}

    /// Ends all threads. Call it when nothing is in flight.
    pub fn join(self) {
        self.random.join();
        self.sequential.join();
        for (random, sequential) in self.own.into_values() {
            random.join();
            sequential.join();
        }
        for disk in self.disks {
            disk.pool.join();
        }
        self.settings.behind.join();
    }
}

/// A pool for scattered reads and one for whole files, of a thread each so far.
fn pools<F: Fold>(
    settings: &Settings,
    fold: &F,
    done: &Sender<Vec<Completion<F::Digest>>>,
    completions: usize,
) -> (Pool<F>, Pool<F>) {
    let pool = |name, slots| {
        let shape = Shape {
            completions,
            slots,
            slot_size: RANDOM_SLOT,
            window: Window::NONE,
        };
        Pool::new(name, 1, shape, settings.clone(), fold.clone(), done.clone())
    };
    let team = settings.part.map(Team::new);
    (pool("random", 1), pool("sequential", 1).with_team(team))
}
