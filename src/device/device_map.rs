//! All volumes met so far, each looked up once.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::SystemRoot;
use super::anonymous::keeps_times;
use super::filesystem::FilesystemKind;
use super::leaf::{Leaf, LeafKind};
use super::mountinfo::{DeviceNumber, Mount, Mounts};
use super::mounts::uuid_of_mounted;
use super::overrides::{Override, Overrides, Selector, Told, meant};
use super::policy::Policy;
use super::rules::{Class, Facts, Rule};
use super::sysfs::Sysfs;
use super::topology::{Survey, Surveyor};
use super::volume::{UNPLUGGED, Volume};

/// Names a volume of one [`DeviceMap`].
#[derive(Copy, Clone, Default, Eq, PartialEq, Hash, Debug)]
pub struct VolumeId(pub u16);

impl VolumeId {
    /// All that there may be, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u16::MAX).map(Self)
    }

    /// Its place in a list of volumes.
    pub fn at(self) -> usize {
        self.0.into()
    }
}

/// All volumes met so far.
///
/// Only what is asked for is looked up, in two text files and a few folders of sysfs; no other
/// mount is touched.
#[derive(Debug)]
pub struct DeviceMap {
    mountinfo: PathBuf,
    is_live: bool,
    sysfs: Sysfs,
    cores: usize,
    overrides: Overrides,
    /// For each row of the overrides the name of the device that it means.
    devices: Vec<Option<String>>,
    mounts: Mounts,
    volumes: Vec<Volume>,
    by_st_dev: HashMap<u64, VolumeId>,
    by_mount: HashMap<DeviceNumber, VolumeId>,
}

impl DeviceMap {
    /// An empty device map of this system, for `cores` processors.
    pub fn new(system: SystemRoot, overrides: Overrides, cores: usize) -> Self {
        let sysfs = Sysfs::at(&system.sysfs);
        let device = |row: &Override| match &row.selector {
            Selector::Device(name) => meant(&sysfs, name).map(|device| device.name),
            Selector::Class(_) | Selector::Default => None,
        };
        Self {
            devices: overrides.rows.iter().map(device).collect(),
            mountinfo: system.mountinfo,
            is_live: system.is_live,
            sysfs,
            cores,
            overrides,
            mounts: Mounts::default(),
            volumes: Vec::new(),
            by_st_dev: HashMap::new(),
            by_mount: HashMap::new(),
        }
    }

    /// The volume behind this `st_dev`, looked up when it is first met. `path` is any existing
    /// path on it.
    ///
    /// All subvolumes of one file system are one volume. After 65,536 volumes the last one stands
    /// for all that follow.
    pub fn volume(&mut self, st_dev: u64, path: &Path) -> VolumeId {
        if let Some(&known) = self.by_st_dev.get(&st_dev) {
            return known;
        }
        let number = DeviceNumber::of(st_dev);
        let mount = self.mount_of(number, path);
        let home = mount.as_ref().map_or(number, |mount| mount.device);
        let id = self.known(home, mount, self.is_live);
        self.by_st_dev.insert(st_dev, id);
        id
    }

    /// A volume that only a catalog at this path knows, with its UUID or another name if it has one.
    pub fn unplugged(&mut self, st_dev: u64, catalog: &Path, name: Option<&str>) -> VolumeId {
        let number = DeviceNumber::of(st_dev);
        let id = self.known(number, None, false);
        let volume = &mut self.volumes[id.at()];
        volume.st_dev = st_dev;
        volume.mount_point = catalog.to_owned();
        UNPLUGGED.clone_into(&mut volume.filesystem);
        volume.otherwise = None;
        volume.uuid = name.map(str::to_owned);
        let disk = name.map_or_else(|| catalog.display().to_string(), str::to_owned);
        volume.leaves = vec![Leaf::named(LeafKind::Disk, disk)];
        self.by_st_dev.insert(st_dev, id);
        id
    }

    /// All file systems that are mounted where they can be seen, each once, in the order in which
    /// they were mounted.
    ///
    /// None of them is touched, so no automount wakes and no dead server is waited for.
    ///
    /// # Errors
    /// If the list of mounts cannot be read.
    pub fn mounted(&mut self) -> io::Result<Vec<VolumeId>> {
        self.mounts = Mounts::listed_in(&self.mountinfo)?;
        let seen: Vec<_> = self.mounts.visible().cloned().collect();
        let mut ids = Vec::new();
        for mount in seen {
            let id = self.known(mount.device, Some(mount), false);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// The device with this number (`st_rdev`), or what is mounted from it. No mount is touched.
    pub fn device(&mut self, st_rdev: u64) -> VolumeId {
        let home = DeviceNumber::of(st_rdev);
        self.mounts = Mounts::listed_in(&self.mountinfo).unwrap_or_default();
        let mount = self.mounts.visible().find(|mount| mount.device == home);
        self.known(home, mount.cloned(), false)
    }

    /// A volume by its id.
    ///
    /// # Panics
    /// If the id is from another device_map.
    pub fn get(&self, id: VolumeId) -> &Volume {
        &self.volumes[id.at()]
    }

    /// All volumes, in the order in which they were met.
    pub fn volumes(&self) -> impl Iterator<Item = (VolumeId, &Volume)> {
        VolumeId::all().zip(&self.volumes)
    }

    /// The `dev:` overrides that no volume met so far lies on: probably not what the user meant.
    pub fn unused_overrides(&self) -> impl Iterator<Item = &Override> {
        let rows = self.overrides.rows.iter().zip(&self.devices);
        rows.filter(|(row, device)| {
            let is_device = matches!(row.selector, Selector::Device(_));
            is_device
                && !self
                    .volumes
                    .iter()
                    .any(|volume| lies_on(volume, device.as_deref()))
        })
        .map(|(row, _)| row)
    }

    /// The mount that has this device number, or if files of the mount above the path may carry
    /// numbers that no mount has, that one. The table is read again if a number is not in it:
    /// crossing an automount point makes a new mount.
    ///
    /// If the file system is mounted once, the path is not looked at: a server or a daemon may not answer any more.
    fn mount_of(&mut self, number: DeviceNumber, path: &Path) -> Option<Mount> {
        if self.mounts.of_device(number).next().is_none() {
            self.mounts = Mounts::listed_in(&self.mountinfo).unwrap_or_default();
        }
        let mut mounts = self.mounts.of_device(number);
        if let (Some(only), None) = (mounts.next(), mounts.next()) {
            return Some(only.clone());
        }
        let path = fs::canonicalize(path)
            .or_else(|_| std::path::absolute(path))
            .unwrap_or_else(|_| path.to_owned());
        let fits = |mount: &&Mount| {
            mount.device == number
                || number.is_anonymous()
                    && FilesystemKind::of(&mount.filesystem).has_unlisted_devices()
        };
        self.mounts.find(number, &path).filter(fits).cloned()
    }

    /// The volume with this number, looked up if it was not met before. With `may_ask` the file system itself is asked
    /// for its UUID.
    fn known(&mut self, home: DeviceNumber, mount: Option<Mount>, may_ask: bool) -> VolumeId {
        if let Some(&known) = self.by_mount.get(&home) {
            return known;
        }
        let Ok(index) = u16::try_from(self.volumes.len()) else {
            return VolumeId(u16::MAX);
        };
        let mut volume = self.look_up(home, mount);
        if may_ask && volume.uuid.is_none() {
            let (place, st_dev) = (&volume.mount_point, volume.st_dev);
            volume.uuid = uuid_of_mounted(place, &volume.filesystem, st_dev);
        }
        self.believe(&mut volume);
        self.obey(&mut volume);
        volume.otherwise = self.otherwise(&volume);
        self.volumes.push(volume);
        self.by_mount.insert(home, VolumeId(index));
        VolumeId(index)
    }

    fn look_up(&self, home: DeviceNumber, mount: Option<Mount>) -> Volume {
        let surveyor = Surveyor {
            sysfs: &self.sysfs,
            mounts: &self.mounts,
        };
        let (survey, keeps_times, filesystem, mount_point) = match mount {
            Some(mount) => (
                surveyor.mounted(&mount),
                keeps_times(&mount, &self.mounts, &self.sysfs),
                mount.filesystem,
                mount.mount_point,
            ),
            None => {
                let place = PathBuf::from(format!("device {home}"));
                (surveyor.numbered(home), true, "unknown".to_owned(), place)
            }
        };
        let Survey {
            stack,
            leaves,
            arrays,
            notes,
            uuid,
            ..
        } = survey;
        let facts = Facts {
            filesystem: &filesystem,
            leaves: &leaves,
            arrays: &arrays,
        };
        let rule = Rule::first_match(&facts);
        Volume {
            st_dev: home.st_dev(),
            mount_point,
            policy: Policy::of(rule.class, &facts, self.cores),
            filesystem,
            keeps_times,
            uuid,
            stack,
            leaves,
            arrays,
            notes,
            class: rule.class,
            rule: rule.name,
            why: rule.why.to_owned(),
            otherwise: None,
            told: Vec::new(),
        }
    }

    /// Takes the volume for what the user says that it is, if anything.
    ///
    /// What is said of all volumes is meant for those on disks: no word makes memory spin.
    fn believe(&self, volume: &mut Volume) {
        let is_class = |row: &Override| matches!(row.told, Told::As(_));
        let on_disk = DISKS.contains(&volume.class)
            || volume.leaves.iter().all(|leaf| leaf.kind == LeafKind::Disk);
        let row = self.row_for(volume, is_class);
        let row = row.filter(|row| on_disk || row.selector != Selector::Default);
        if let Some((row, Told::As(class))) = row.map(|row| (row, row.told)) {
            volume.policy = Policy::of(class, &volume.facts(), self.cores);
            volume.class = class;
            volume.rule = "told";
            volume.why = "set by the user".to_owned();
            volume.told.push(row.to_string());
        }
    }

    /// The policy of a spinning disk, where the flag of a disk may lie. A flag that says 1 is believed.
    fn otherwise(&self, volume: &Volume) -> Option<Policy> {
        let on_disks = volume.leaves.iter().all(|leaf| leaf.kind == LeafKind::Disk);
        if volume.is_settled() || !on_disks {
            return None;
        }
        let is_read_like_flash = matches!(volume.class, Class::SolidState | Class::Unknown);
        is_read_like_flash.then(|| Policy::of(Class::Rotational, &volume.facts(), self.cores))
    }

    /// The row of `--threads` that counts for this volume, of those that are of this sort.
    fn row_for(&self, volume: &Volume, sort: fn(&Override) -> bool) -> Option<&Override> {
        let rows = self.overrides.rows.iter().zip(&self.devices);
        let rows = || rows.clone().rev().filter(|(row, _)| sort(row));
        let on_device = rows().find(|(_, device)| lies_on(volume, device.as_deref()));
        let of_class = || rows().find(|(row, _)| row.selector == Selector::Class(volume.class));
        let default = || rows().find(|(row, _)| row.selector == Selector::Default);
        let row = on_device.or_else(of_class).or_else(default);
        row.map(|(row, _)| row)
    }

    /// Applies what the user said about this volume, if anything.
    fn obey(&self, volume: &mut Volume) {
        let row = self.row_for(volume, is_number);
        if let Some((row, Told::Threads { random, sequential })) = row.map(|row| (row, row.told)) {
            volume.policy = volume.policy.with_threads(random, sequential);
            volume.told.push(row.to_string());
        }
        let has_queue = volume.class != Class::Memory;
        if let Some(depth) = self
            .overrides
            .depth_random
            .filter(|&depth| depth > 0 && has_queue)
        {
            volume.policy = volume.policy.with_depth(depth);
            volume.told.push(format!("depth {depth}"));
        }
    }
}

/// The classes of volumes on disks that no program stands before.
const DISKS: [Class; 3] = [Class::SolidState, Class::Rotational, Class::Unknown];

fn is_number(row: &Override) -> bool {
    matches!(row.told, Told::Threads { .. })
}

fn lies_on(volume: &Volume, device: Option<&str>) -> bool {
    device.is_some_and(|name| volume.stack.iter().any(|layer| layer == name))
}
