//! From a mount or a device number down to the leaves: partitions, dm, md, loop, btrfs, layers.

use std::path::Path;

use super::anonymous;
use super::filesystem::FilesystemKind;
use super::leaf::{Array, Leaf, LeafKind};
use super::mountinfo::{DeviceNumber, Mount, Mounts};
use super::sysfs::{BlockDevice, Sysfs};

/// More layers than any machine has; what claims more is not believed.
const MOST_LAYERS: usize = 256;

/// Loop devices over files on loop devices over files …: so deep and no deeper.
const MOST_NESTED_FILES: usize = 4;

/// All that was met on the way down.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Names of block devices, from top to bottom, each once.
    pub stack: Vec<String>,
    /// Where it ended.
    pub leaves: Vec<Leaf>,
    /// The arrays on the way.
    pub arrays: Vec<Array>,
    /// Further notes on the layers.
    pub notes: Vec<String>,
    /// UUID of the file system, where sysfs has it.
    pub uuid: Option<String>,
    mounts: Vec<DeviceNumber>,
    nested: usize,
}

/// The tables to look things up in.
#[derive(Clone, Copy)]
pub(super) struct Surveyor<'a> {
    /// The block devices.
    pub sysfs: &'a Sysfs,
    /// The mounts.
    pub mounts: &'a Mounts,
}

impl Surveyor<'_> {
    /// Surveys what lies under a mounted file system.
    pub fn mounted(self, mount: &Mount) -> Survey {
        let mut survey = Survey::default();
        self.mount(&mut survey, mount);
        if survey.leaves.is_empty() {
            // Layers in a circle: no kernel makes them, but a damaged tree may show them.
            let source = mount.source.to_string_lossy();
            survey.end(named_by(LeafKind::Unseen, mount, &source));
        }
        survey
    }

    /// Surveys what lies under a device number whose mount is not known.
    pub fn numbered(self, number: DeviceNumber) -> Survey {
        let mut survey = Survey::default();
        match self.sysfs.by_number(number) {
            Some(device) => self.device(&mut survey, &device),
            None => survey.end(Leaf::named(LeafKind::Unseen, format!("device {number}"))),
        }
        survey
    }

    fn mount(self, survey: &mut Survey, mount: &Mount) {
        if survey.mounts.contains(&mount.device) {
            return;
        }
        survey.mounts.push(mount.device);
        let source = mount.source.to_string_lossy();
        match FilesystemKind::of(&mount.filesystem) {
            FilesystemKind::Disk => self.disks(survey, mount),
            FilesystemKind::Btrfs => self.btrfs(survey, mount),
            FilesystemKind::Layered => self.layers(survey, mount),
            FilesystemKind::Memory | FilesystemKind::Pseudo => {
                survey.end(Leaf::named(LeafKind::Memory, "memory"))
            }
            FilesystemKind::Network => {
                let server = anonymous::server(&source);
                survey.end(Leaf::named(LeafKind::Server, server));
            }
            FilesystemKind::Fuse => survey.end(named_by(LeafKind::Program, mount, &source)),
            FilesystemKind::Zfs => {
                let pool = source.split('/').next().unwrap_or_default();
                survey.notes.push(format!(
                    "ZFS does not tell the kernel which disks the pool {pool} is on"
                ));
                survey.end(named_by(LeafKind::Unseen, mount, pool));
            }
        }
    }

    /// The device that the number names; for a made-up number the devices that the mount names
    /// (bcachefs joins several with colons).
    fn disks(self, survey: &mut Survey, mount: &Mount) {
        let source = mount.source.to_string_lossy();
        let mut devices: Vec<_> = self.sysfs.by_number(mount.device).into_iter().collect();
        if devices.is_empty() && mount.device.is_anonymous() {
            let paths = source.split(':').filter(|path| path.starts_with("/dev/"));
            devices = paths.filter_map(|path| self.sysfs.by_path(path)).collect();
        }
        if devices.is_empty() {
            survey.end(named_by(LeafKind::Unseen, mount, &source));
        }
        for device in devices {
            self.device(survey, &device);
        }
    }

    fn btrfs(self, survey: &mut Survey, mount: &Mount) {
        let (uuid, members) = anonymous::btrfs(self.sysfs, mount);
        survey.uuid = survey.uuid.take().or(uuid);
        if members.is_empty() {
            let source = mount.source.to_string_lossy();
            survey.end(named_by(LeafKind::Unseen, mount, &source));
        }
        for member in members {
            self.device(survey, &member);
        }
    }

    /// In a container the paths of the layers are those of another mount namespace; then they
    /// seem to lie on the layered file system itself.
    fn layers(self, survey: &mut Survey, mount: &Mount) {
        let folders = anonymous::layer_folders(mount);
        let mut below: Vec<_> = folders
            .iter()
            .filter_map(|folder| self.mounts.above(folder))
            .filter(|layer| layer.device != mount.device)
            .collect();
        below.dedup();
        if below.is_empty() {
            survey.notes.push(format!(
                "the folders under this {} are not visible from here",
                mount.filesystem
            ));
            survey.end(named_by(
                LeafKind::Unseen,
                mount,
                &mount.source.to_string_lossy(),
            ));
        }
        for layer in below {
            self.mount(survey, layer);
        }
    }

    fn device(self, survey: &mut Survey, device: &BlockDevice) {
        if survey.stack.contains(&device.name) || survey.stack.len() >= MOST_LAYERS {
            return;
        }
        survey.stack.push(device.name.clone());
        if let Some(disk) = device.whole_disk() {
            return self.device(survey, &disk);
        }
        if let Some(file) = device.attribute("loop/backing_file") {
            return self.file_backed(survey, device, &file);
        }
        let members = self.sysfs.devices_in(&device.slaves());
        survey.note_mapper(device);
        survey.arrays.extend(Array::of_md(device, &members));
        if members.is_empty() {
            survey.end(Leaf::disk(self.sysfs, device));
        }
        for member in &members {
            self.device(survey, member);
        }
    }

    /// A loop device stands for the disk that its file lies on. It stands for itself if that is
    /// not known, or if its flag says that it rotates and nothing under it does: then somebody
    /// has said so who knows better.
    fn file_backed(self, survey: &mut Survey, device: &BlockDevice, file: &str) {
        let own = Leaf::disk(self.sysfs, device);
        survey
            .notes
            .push(format!("{} is the file {file}", device.name));
        let path = Path::new(file.strip_suffix(" (deleted)").unwrap_or(file));
        let below = self
            .mounts
            .above(path)
            .filter(|_| survey.nested < MOST_NESTED_FILES);
        let mut under = Survey {
            nested: survey.nested + 1,
            ..Survey::default()
        };
        if let Some(mount) = below {
            self.mount(&mut under, mount);
        }
        let known = |leaf: &Leaf| matches!(leaf.kind, LeafKind::Disk | LeafKind::Memory);
        let rotates = |leaf: &Leaf| leaf.rotational == Some(true);
        let believed = !under.leaves.is_empty()
            && under.leaves.iter().all(known)
            && (!rotates(&own) || under.leaves.iter().any(rotates));
        if believed {
            survey.absorb(under);
        } else {
            survey.end(own);
        }
    }
}

impl Survey {
    fn end(&mut self, leaf: Leaf) {
        if !self.leaves.iter().any(|known| known.name == leaf.name) {
            self.leaves.push(leaf);
        }
    }

    fn absorb(&mut self, under: Survey) {
        for name in under.stack {
            if !self.stack.contains(&name) {
                self.stack.push(name);
            }
        }
        under.leaves.into_iter().for_each(|leaf| self.end(leaf));
        self.arrays.extend(under.arrays);
        for note in under.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    fn note_mapper(&mut self, device: &BlockDevice) {
        let Some(name) = device.attribute("dm/name") else {
            return;
        };
        let uuid = device.attribute("dm/uuid").unwrap_or_default();
        // The part before the first dash names the maker: LVM, CRYPT, mpath, part1-mpath, …
        let maker = uuid.split('-').next().filter(|maker| !maker.is_empty());
        let maker = maker.unwrap_or("device mapper");
        self.notes
            .push(format!("{} is {name} ({maker})", device.name));
    }
}

fn named_by(kind: LeafKind, mount: &Mount, source: &str) -> Leaf {
    Leaf::named(kind, format!("{}:{source}", mount.filesystem))
}
