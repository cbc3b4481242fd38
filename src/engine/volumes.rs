//! File systems that a run meets: the device below each of them, and the executor that serves it.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::device::{
    Class, DeviceMap, FilesystemKind, Override, Policy, SystemRoot, Volume, VolumeId,
};
use crate::file::DevIndex;
use crate::read::{Device, Lane, Scheduler, has_rings};
use crate::sys::{extents, process};

use super::config::{Config, Mechanism};
use super::limits::fitting_descriptors;

/// Whether two files on two volumes may be the same file, as far as the volumes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayBeOne {
    /// They are two.
    No,
    /// They may be one.
    Yes,
    /// They are one if they have one inode number.
    ByNumber,
}

/// The device map, and the volumes of a run. Their numbers are also those of the scheduler.
pub struct Volumes {
    device_map: DeviceMap,
    /// The volume of each device number in the file table. Subvolumes of one file system have several numbers.
    by_dev: Vec<VolumeId>,
    /// The volumes that the scheduler has.
    ready: Vec<Ready>,
    /// The executor that serves each disk, by the name of the disk.
    executors: HashMap<String, Arc<str>>,
    /// Maximum number of files that a thread has open at a time.
    open_files: usize,
    /// Scattered reads go through rings.
    rings: bool,
    /// Shared blocks of files are used.
    shared_blocks: bool,
    /// Data that is hardly read again bypasses the page cache.
    uses_past_cache: bool,
}

/// A volume that the scheduler has.
struct Ready {
    /// Names of the physical disks below, joined by `+`.
    disks: Arc<str>,
    /// Its files may be the same as those of another volume.
    shows_others: bool,
    /// Parts of its files may be shared with other files, which are not freed with them.
    shares_extents: bool,
    /// What readers have to know of it.
    device: Device,
    /// Files were found on it.
    is_in_use: bool,
}

impl Volumes {
    /// No volumes yet. A thread has at most this many files open at a time.
    pub fn new(config: &Config, open_files: usize) -> Self {
        let overrides = config.overrides.clone();
        Self {
            device_map: DeviceMap::new(SystemRoot::default(), overrides, process::cores()),
            by_dev: Vec::new(),
            ready: Vec::new(),
            executors: HashMap::new(),
            open_files,
            shared_blocks: config.uses(Mechanism::SharedBlocks),
            uses_past_cache: config.uses(Mechanism::PastCache),
            rings: config.uses(Mechanism::Ring) && has_rings(),
        }
    }

    /// The overrides for devices that no volume met so far lies on.
    pub fn unused_overrides(&self) -> impl Iterator<Item = &Override> {
        self.device_map.unused_overrides()
    }

    /// True if the volume of this device number is known.
    pub fn knows(&self, dev: DevIndex) -> bool {
        usize::from(dev) < self.by_dev.len()
    }

    /// Records the device number that got the file table's next number, and prepares its volume for reads. Returns true
    /// if reads from it cost seeks.
    pub fn place<W: Copy>(&mut self, dev: u64, path: &Path, scheduler: &mut Scheduler<W>) -> bool {
        let id = self.device_map.volume(dev, path);
        self.by_dev.push(id);
        while self.ready.len() <= id.at() {
            self.make_ready(VolumeId(self.ready.len() as u16), scheduler);
        }
        let (volume, ready) = (self.device_map.get(id), &mut self.ready[id.at()]);
        if !ready.is_in_use {
            ready.is_in_use = true;
            ready.device.shares_blocks = self.shared_blocks && shares_blocks(volume, path);
        }
        volume.policy.seeks()
    }

    /// Records the made-up device number of a file system that a catalog knows, with its name if it has one. No read of
    /// it is requested.
    pub fn place_unplugged<W: Copy>(
        &mut self,
        dev: u64,
        (catalog, name): (&Path, Option<&str>),
        scheduler: &mut Scheduler<W>,
    ) {
        let id = self.device_map.unplugged(dev, catalog, name);
        self.by_dev.push(id);
        while self.ready.len() <= id.at() {
            self.make_ready(VolumeId(self.ready.len() as u16), scheduler);
        }
        self.ready[id.at()].is_in_use = true;
    }

    /// True if the files with this device number are those of a catalog.
    pub fn is_unplugged(&self, dev: DevIndex) -> bool {
        self.device_map.get(self.of(dev)).is_unplugged()
    }

    /// Whether files with these device numbers may be the same, shown twice.
    pub fn may_be_one(&self, one: DevIndex, other: DevIndex) -> MayBeOne {
        let uuid = |dev| self.device_map.get(self.of(dev)).uuid.as_ref();
        let may_be = if self.is_unplugged(one) || self.is_unplugged(other) {
            match (uuid(one), uuid(other)) {
                // A catalog has the inode numbers of its disk.
                (Some(a), Some(b)) if a == b => return MayBeOne::ByNumber,
                (Some(_), Some(_)) => false,
                _ => true,
            }
        } else {
            self.may_show_others(one) || self.may_show_others(other)
        };
        if may_be { MayBeOne::Yes } else { MayBeOne::No }
    }

    /// Adds the next volume to the scheduler.
    fn make_ready<W: Copy>(&mut self, id: VolumeId, scheduler: &mut Scheduler<W>) {
        let volume = self.device_map.get(id);
        let disks: Arc<str> = volume.disks().into();
        let mut way = |policy: &Policy| {
            let wanted = fitting_descriptors(policy, self.open_files, self.rings);
            if policy.seeks() {
                let executor = executor_of(&mut self.executors, volume);
                return (Lane::Disk(executor), wanted);
            }
            match volume.class {
                Class::Network | Class::Fuse => (Lane::OwnPools, wanted),
                _ => (Lane::Pools, wanted),
            }
        };
        let (lane, policy) = way(&volume.policy);
        let added = scheduler.add_volume(&disks, lane, policy);
        debug_assert_eq!(added, id, "one numbering");
        if let Some((Lane::Disk(disk), policy)) = volume.otherwise.as_ref().map(way) {
            scheduler.may_have_a_head(id, disk, policy);
        }
        let mut device = Device::of(volume, id);
        device.may_go_past_cache &= self.uses_past_cache;
        self.ready.push(Ready {
            shows_others: FilesystemKind::of(&volume.filesystem).may_show_others()
                || self.is_reached_again(volume, &disks),
            shares_extents: matches!(volume.filesystem.as_str(), "btrfs" | "xfs" | "bcachefs"),
            disks,
            device,
            is_in_use: false,
        });
    }

    /// True if an earlier volume is the same file system, as far as is known: it has the same UUID and lies on the same
    /// disks, but is mounted from another device (an image through two loop devices).
    fn is_reached_again(&self, volume: &Volume, disks: &str) -> bool {
        let mut earlier = self.device_map.volumes().zip(&self.ready);
        let is_same = |other: &Volume, on: &str| other.uuid == volume.uuid && on == disks;
        volume.uuid.is_some() && earlier.any(|((_, other), ready)| is_same(other, &ready.disks))
    }

    /// Records that a volume turned out to lie on a disk with a head; returns the file table's numbers of its device
    /// numbers.
    pub fn has_a_head(&mut self, id: VolumeId) -> Vec<DevIndex> {
        let ready = &mut self.ready[id.at()];
        ready.device.has_head = true;
        ready.device.may_go_past_cache = false;
        let numbered = (0..).map(DevIndex).zip(&self.by_dev);
        let on_it = numbered.filter(|(_, of)| **of == id);
        on_it.map(|(dev, _)| dev).collect()
    }

    /// The number of device numbers that have a volume.
    pub fn numbers(&self) -> u16 {
        self.by_dev.len() as u16
    }

    /// The volume of files with this device number.
    pub fn of(&self, dev: DevIndex) -> VolumeId {
        self.by_dev[usize::from(dev)]
    }

    /// What readers have to know of a volume.
    pub fn device(&self, id: VolumeId) -> Device {
        self.ready[id.at()].device
    }

    /// Names of the physical disks below a volume, joined by `+`.
    pub fn disks(&self, id: VolumeId) -> &Arc<str> {
        &self.ready[id.at()].disks
    }

    /// A volume.
    pub fn get(&self, id: VolumeId) -> &Volume {
        self.device_map.get(id)
    }

    /// True if the files with this device number may be the same as those of another volume.
    pub fn may_show_others(&self, dev: DevIndex) -> bool {
        self.ready[self.of(dev).at()].shows_others
    }

    /// True if a file of another volume that is shown with this device number has its own modification time.
    pub fn keep_times(&self, dev: DevIndex) -> bool {
        self.device_map.get(self.of(dev)).keeps_times
    }

    /// The volume with this device number, if parts of its files may be shared with other files.
    pub fn sharing(&self, dev: DevIndex) -> Option<VolumeId> {
        let id = self.of(dev);
        self.ready[id.at()].shares_extents.then_some(id)
    }

    /// True if one of the volumes may show files of another one.
    pub fn any_may_show_others(&self) -> bool {
        self.in_use()
            .any(|(id, volume)| self.ready[id.at()].shows_others || volume.is_unplugged())
    }

    /// The volumes that files were found on.
    pub fn in_use(&self) -> impl Iterator<Item = (VolumeId, &Volume)> {
        let all = self.device_map.volumes().zip(&self.ready);
        all.filter(|(_, ready)| ready.is_in_use)
            .map(|(volume, _)| volume)
    }

    /// The mount point of a volume, for people.
    pub fn name(&self, id: VolumeId) -> String {
        self.get(id).mount_point.display().to_string()
    }

    /// Walkers that suit a volume, and the executor of its disk if that has a head.
    pub fn walkers(&mut self, dev: u64, path: &Path) -> (VolumeId, usize, Option<Arc<str>>) {
        let id = self.device_map.volume(dev, path);
        let volume = self.device_map.get(id);
        let disk = volume
            .policy
            .seeks()
            .then(|| executor_of(&mut self.executors, volume));
        (id, volume.policy.metadata_threads, disk)
    }
}

/// The executor of the disks below a volume. Volumes with a disk in common share one: all heads of a volume over
/// several disks are busy when it is read. A volume that joins two disks with an executor each goes to the executor of
/// the first disk.
fn executor_of(executors: &mut HashMap<String, Arc<str>>, volume: &Volume) -> Arc<str> {
    let known = volume.leaves.iter().find_map(|l| executors.get(&l.name));
    let executor = match known {
        Some(executor) => Arc::clone(executor),
        None => volume.disks().into(),
    };
    for leaf in &volume.leaves {
        executors
            .entry(leaf.name.clone())
            .or_insert_with(|| Arc::clone(&executor));
    }
    executor
}

/// True if two files of this volume lie in the same blocks where `FIEMAP` reports the same positions.
///
/// Positions on btrfs are those of an address space of its own that spans all its devices. bcachefs reports positions
/// on any of its devices, so one position may belong to two blocks.
fn shares_blocks(volume: &Volume, path: &Path) -> bool {
    match volume.filesystem.as_str() {
        "btrfs" => true,
        "xfs" => File::open(path).is_ok_and(extents::xfs_shares_blocks),
        _ => false,
    }
}
