//! File systems met during a run: what device lies below, and which executor serves it.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::device::{Class, Cost, DeviceMap, Kind, Order, Policy, Volume, VolumeId};
use crate::event::{Problem, ProblemKind};
use crate::read::{Fold, Lane, Limits, Scheduler};
use crate::sys::{ring, xfs};

use super::memory::Memory;

/// The device map, and each of its volumes' place in the scheduler.
pub struct Volumes {
    device_map: DeviceMap,
    /// By the file table's volume number.
    by_number: Vec<(VolumeId, usize)>,
    /// By the file table's volume number: the space in which shared blocks have their numbers.
    spaces: Vec<Option<u16>>,
    /// By the file table's volume number: long reads from it may go past the page cache.
    past_cache: Vec<bool>,
    /// By the file table's volume number: its files may be those of another volume.
    show_others: Vec<bool>,
    placed: HashMap<VolumeId, usize>,
    /// What seeks cost, by place in the scheduler.
    costs: Vec<Option<Cost>>,
    /// Names of the physical disks, by the file table's volume number.
    disks: Vec<Arc<str>>,
    /// By a disk's name the name of the executor that serves it.
    executors: HashMap<String, Arc<str>>,
    /// Files that a thread may have open at a time.
    open_files: usize,
    /// What all of them may have in flight.
    memory: Memory,
    /// Scattered reads go through rings.
    rings: bool,
    /// Blocks that files share are to be made use of.
    shared_blocks: bool,
    /// What is hardly wanted again is to go past the page cache.
    uses_past_cache: bool,
}

impl Volumes {
    pub fn new(
        device_map: DeviceMap,
        open_files: usize,
        memory: Memory,
        shared_blocks: bool,
        uses_past_cache: bool,
        rings: bool,
    ) -> Self {
        Self {
            device_map,
            by_number: Vec::new(),
            spaces: Vec::new(),
            past_cache: Vec::new(),
            show_others: Vec::new(),
            placed: HashMap::new(),
            costs: Vec::new(),
            disks: Vec::new(),
            executors: HashMap::new(),
            open_files,
            memory,
            shared_blocks,
            uses_past_cache,
            rings: rings && ring::is_available(),
        }
    }

    /// The last parts of mount points behind which a program or another machine answers, or does not.
    pub fn remote_names(&mut self) -> HashSet<Vec<u8>> {
        self.device_map.remote_names()
    }

    /// True if the file table's volume of this number has been placed.
    pub fn knows(&self, number: u16) -> bool {
        usize::from(number) < self.by_number.len()
    }

    /// Places the volume that the file table gave the next number to. Returns true if reads from it
    /// cost seeks.
    pub fn place<F: Fold>(&mut self, dev: u64, path: &Path, scheduler: &mut Scheduler<F>) -> bool {
        let id = self.device_map.volume(dev, path);
        let volume = self.device_map.get(id);
        let seeks = seeks_in(&volume.policy);
        let shares = self.shared_blocks && shares_blocks(volume, path);
        self.past_cache
            .push(self.uses_past_cache && volume.may_go_past_cache());
        self.show_others
            .push(Kind::of(&volume.filesystem).may_show_others());
        let names: Vec<&str> = volume
            .leaves
            .iter()
            .map(|leaf| leaf.name.as_str())
            .collect();
        let disks: Arc<str> = names.join("+").into();
        self.disks.push(Arc::clone(&disks));
        let place = match self.placed.get(&id) {
            Some(&place) => place,
            None => {
                let mut way = |policy: &Policy| {
                    let wanted = limits(policy, self.open_files, self.rings);
                    if seeks_in(policy) {
                        let executor = executor_of(&mut self.executors, volume);
                        return (Lane::Disk(executor), wanted);
                    }
                    match volume.class {
                        Class::Network | Class::Fuse => {
                            (Lane::OwnPools, self.memory.fit_apart(wanted))
                        }
                        _ => (Lane::Pools, self.memory.fit(wanted)),
                    }
                };
                let (lane, limits) = way(&volume.policy);
                self.costs.push(volume.cost());
                let place = scheduler.add_volume(&disks, lane, limits);
                if let Some((lane, limits)) = volume.otherwise.as_ref().map(way) {
                    scheduler.may_change(place, lane, limits);
                }
                place
            }
        };
        self.placed.insert(id, place);
        self.by_number.push((id, place));
        self.spaces.push(shares.then_some(id.0));
        seeks
    }

    /// Takes note that seeks at a place in the scheduler turned out to cost something, or nothing;
    /// returns the file table's numbers of the volumes there.
    pub fn seeks_turned_out(&mut self, place: usize, cost: Option<Cost>) -> Vec<u16> {
        if let Some(known) = self.costs.get_mut(place) {
            *known = cost;
        }
        let numbered = (0..).zip(&self.by_number);
        numbered
            .filter(|(_, (_, at))| *at == place)
            .map(|(number, _)| number)
            .collect()
    }

    /// Place in the scheduler of the file table's volume of this number.
    pub fn lane(&self, number: u16) -> usize {
        self.by_number[usize::from(number)].1
    }

    /// The space in which blocks of the file table's volume of this number have their numbers, if its
    /// files may share them: one for all subvolumes of a file system.
    pub fn space(&self, number: u16) -> Option<u16> {
        self.spaces.get(usize::from(number)).copied().flatten()
    }

    /// True if all files of the file table's volume of this number lie in memory, which not all kernels tell of a
    /// read (`RWF_NOWAIT` on tmpfs).
    pub fn is_in_memory(&self, number: u16) -> bool {
        self.volume(number).class == Class::Memory
    }

    /// True if long reads from the file table's volume of this number may go past the page cache.
    pub fn go_past_cache(&self, number: u16) -> bool {
        self.past_cache[usize::from(number)] && self.cost(self.lane(number)).is_none()
    }

    /// True if seeks cost anything anywhere.
    pub fn cost_seeks(&self) -> bool {
        self.costs.iter().any(Option::is_some)
    }

    /// What seeks cost at a place in the scheduler, where they cost anything.
    pub fn cost(&self, place: usize) -> Option<Cost> {
        self.costs.get(place).copied().flatten()
    }

    /// Names of the physical disks below, joined by `+`.
    pub fn disk(&self, number: u16) -> &Arc<str> {
        &self.disks[usize::from(number)]
    }

    /// What is known of the file table's volume of this number.
    pub fn volume(&self, number: u16) -> &Volume {
        self.device_map.get(self.by_number[usize::from(number)].0)
    }

    /// True if the files of the file table's volume of this number may be those of another one.
    pub fn may_show_others(&self, number: u16) -> bool {
        self.show_others[usize::from(number)]
    }

    /// True if one of the volumes may show files of another one.
    pub fn any_may_show_others(&self) -> bool {
        self.show_others.contains(&true)
    }

    /// The volumes in use with their places in the scheduler, each once.
    pub fn in_use(&self) -> impl Iterator<Item = (&Volume, usize)> {
        let mut all: Vec<_> = self.placed.iter().collect();
        all.sort_unstable_by_key(|&(_, &place)| place);
        all.into_iter()
            .map(|(&id, &place)| (self.device_map.get(id), place))
    }

    /// The saved profiles that could not be used, each told once.
    pub fn complaints(&mut self) -> impl Iterator<Item = Problem> + use<> {
        self.device_map.take_complaints().into_iter().map(|error| {
            let (path, cause) = error.into_parts();
            Problem {
                path,
                kind: ProblemKind::BadProfile,
                cause: Some(cause),
            }
        })
    }

    /// Walkers that suit a volume, and the executor of its disk if that has a head.
    pub fn walkers(&mut self, dev: u64, path: &Path) -> (VolumeId, usize, Option<Arc<str>>) {
        let id = self.device_map.volume(dev, path);
        let volume = self.device_map.get(id);
        let disk = seeks_in(&volume.policy).then(|| executor_of(&mut self.executors, volume));
        (id, volume.policy.metadata_threads, disk)
    }
}

/// The executor of the disks below a volume. Volumes with a disk in common share one: the heads
/// of a volume over several disks are all busy when it is read. A volume that joins two disks
/// which have an executor each goes to the first one's; `docs/devices.md` says why.
fn executor_of(executors: &mut HashMap<String, Arc<str>>, volume: &Volume) -> Arc<str> {
    let known = volume.leaves.iter().find_map(|l| executors.get(&l.name));
    let executor = match known {
        Some(executor) => Arc::clone(executor),
        None => {
            let names: Vec<&str> = volume.leaves.iter().map(|l| l.name.as_str()).collect();
            names.join("+").into()
        }
    };
    for leaf in &volume.leaves {
        executors
            .entry(leaf.name.clone())
            .or_insert_with(|| Arc::clone(&executor));
    }
    executor
}

/// True if reads are best done in order of position.
fn seeks_in(policy: &Policy) -> bool {
    policy.order == Order::Physical
}

/// Threads that stand in for rings. In a prototype, cold, 64 threads took 3.1 s for the prefixes of 250,000 files
/// that two rings with 64 reads in flight each took 2.7 s for, and 8 threads up to 3.9 s.
const MOST_THREADS: usize = 64;

/// True if two files of this volume lie in the same blocks where `FIEMAP` names the same positions.
///
/// Positions on btrfs are those of an address space of its own that spans all its devices. bcachefs names
/// positions on any of its devices, so the same one may be two.
fn shares_blocks(volume: &Volume, path: &Path) -> bool {
    match volume.filesystem.as_str() {
        "btrfs" => true,
        "xfs" => File::open(path).is_ok_and(xfs::shares_blocks),
        _ => false,
    }
}

/// How much of a volume may be under way. A disk with a head has so little in flight that there is
/// nothing to cut.
pub fn fitting(policy: &Policy, open_files: usize, rings: bool, memory: &mut Memory) -> Limits {
    let wanted = limits(policy, open_files, rings);
    match seeks_in(policy) {
        true => wanted,
        false => memory.fit(wanted),
    }
}

/// How much of a volume may be under way, by its policy and by what can be open.
pub fn limits(policy: &Policy, open_files: usize, rings: bool) -> Limits {
    // Without rings what is in flight is threads.
    let (threads, depth) = match rings || seeks_in(policy) {
        true => (policy.random_threads, policy.depth),
        false => ((policy.random_threads * policy.depth).min(MOST_THREADS), 1),
    };
    let random_threads = threads.clamp(1, open_files.max(1));
    let sequential_threads = policy.sequential_threads.clamp(1, open_files.max(1));
    Limits {
        random_threads,
        depth: depth.clamp(1, (open_files / random_threads).max(1)),
        sequential_threads,
        sequential_depth: policy
            .sequential_depth
            .clamp(1, (open_files / sequential_threads).max(1)),
    }
}
