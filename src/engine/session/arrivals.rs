//! Handles the files that arrive from the scan.

use std::collections::HashSet;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::cache::CacheFolder;
use crate::decide::ClassId;
use crate::device::VolumeId;
use crate::event::{LeftOut, Notice};
use crate::file::{DevIndex, DirId, Naming};
use crate::heartbeat::current;
use crate::scan::{FoundBatch, Group, Stamp};
use crate::sys::process;
use crate::tree::Unseen;

use super::Session;

/// The state of the scan: what is known of the roots, and how far it is.
#[derive(Default)]
pub struct Arrivals {
    pub scan_done: bool,
    /// Files were not listed, since memory was nearly used up.
    pub listing_ended: bool,
    /// Set for the walkers to list no more files.
    pub full: Arc<AtomicBool>,
    /// Folders and their times when they were listed, if every file counts.
    pub listed: Vec<(DirId, Stamp)>,
    /// The executors of the disks that groups of walkers walk, by the number of the group; `None` for a group without
    /// such a disk.
    walked_disks: Vec<Option<Arc<str>>>,
    /// Device numbers of the roots.
    at_roots: HashSet<u64>,
    /// Volumes of which the user was told how they are read.
    introduced: HashSet<VolumeId>,
    /// Room for the classes of the files of a batch.
    classes: Vec<Option<ClassId>>,
}

impl Session<'_> {
    /// The walkers for the devices of these roots: a group for each disk with a head, and one for all other devices.
    pub fn groups(&mut self, devices: &[(u64, usize)]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut others = Group::default();
        let mut known = HashSet::new();
        let before = self.arrivals.walked_disks.len();
        for &(dev, root) in devices {
            if !self.arrivals.at_roots.insert(dev) {
                continue;
            }
            let Some(root) = self.config.roots.get(root) else {
                continue;
            };
            let _call = current::call(&root.path);
            let (id, walkers, disk) = self.reads.volumes.walkers(dev, &root.path);
            self.introduce(id);
            let of_disk = disk.as_ref().and_then(|disk| {
                let named = |name: &Option<Arc<str>>| name.as_ref() == Some(disk);
                self.arrivals.walked_disks.iter().position(named)
            });
            match (disk, of_disk) {
                // If the group is older, its disk is also walked by the others' group.
                (_, Some(at)) => {
                    if let Some(group) = at.checked_sub(before).and_then(|at| groups.get_mut(at)) {
                        group.devices.push(dev);
                    }
                }
                (Some(disk), None) => {
                    self.arrivals.walked_disks.push(Some(disk));
                    groups.push(Group {
                        devices: vec![dev],
                        first: 1,
                        most: walkers.clamp(1, self.share.walkers),
                    });
                }
                (None, None) => {
                    others.devices.push(dev);
                    others.most += if known.insert(id) { walkers } else { 0 };
                }
            }
        }
        if before + groups.len() == 0 || others.most > 0 {
            self.arrivals.walked_disks.push(None);
            others.most = others.most.clamp(1, self.share.walkers);
            others.first = process::cores().min(others.most);
            groups.push(others);
        }
        groups
    }

    /// Called when a group has listed all of its folders: its disk need not wait for the others.
    pub fn walked(&mut self, group: usize) {
        if let Some(Some(disk)) = self.arrivals.walked_disks.get(group) {
            self.reads.scheduler.scan_done_on(disk);
        }
    }

    pub fn found(&mut self, batch: &FoundBatch) {
        let mut classes = mem::take(&mut self.arrivals.classes);
        self.machine.look_up_sizes(&batch.files, &mut classes);
        let (mut files, mut names) = (batch.files.iter().zip(&classes), &batch.names[..]);
        for run in &batch.runs {
            let volume = self.volume(run.place.dev, run.place.dir);
            if let Some(numbering) = run.numbering {
                self.machine.trust_numbers(volume, numbering);
            }
            let numbering = self.machine.file_table().numbering(volume);
            let may_be_met_again = !numbering.tells_folders();
            let is_cache = self.is_cache(run.place.dir);
            for (file, &class) in files.by_ref().take(run.files as usize) {
                let (name, rest) = names.split_at(usize::from(file.name_len));
                names = rest;
                if is_cache && CacheFolder::is_name_of_kept(name) {
                    continue;
                }
                if may_be_met_again && self.is_met_again(file, name, run.place.dir, volume) {
                    continue;
                }
                if !file.is_entry() {
                    // The name is not the file's own.
                    self.account
                        .unseen(run.place.dir, name, Unseen::MountedFile);
                }
                let naming =
                    self.machine
                        .found(file, name, run.place.dir, run.place.root, volume, class);
                match naming {
                    Naming::First => {
                        self.sets.deliverer.summary.files += 1;
                        let present = &mut self.sets.deliverer.summary.bytes_present;
                        *present = present.saturating_add(file.size);
                        if let Some(inventory) = &mut self.inventory {
                            inventory.found(file.size);
                        }
                    }
                    Naming::Further => self.sets.deliverer.summary.extra_names += 1,
                    Naming::Known => {}
                }
            }
        }
        self.arrivals.classes = classes;
    }

    fn is_cache(&self, dir: DirId) -> bool {
        let identity = || self.dirs.read().identity(dir);
        self.cached
            .cache
            .as_ref()
            .is_some_and(|cache| cache.is_in(identity()))
    }

    /// The file table's number of a device number. Prepares its volume for reads when it is first met.
    fn volume(&mut self, dev: u64, dir: DirId) -> DevIndex {
        let number = self.machine.volume_number(dev);
        if !self.reads.volumes.knows(number) {
            let path = crate::scan::path_of(&self.dirs, dir, None);
            let path = if path.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                path
            };
            let _call = current::call(&path);
            if let Some(cache) = &mut self.cached.cache {
                cache.place(dev, &path);
            }
            if self
                .reads
                .volumes
                .place(dev, &path, &mut self.reads.scheduler)
            {
                self.machine.seeks_cost(number);
            }
            let id = self.reads.volumes.of(number);
            if self.reads.volumes.device(id).shares_blocks {
                self.machine.blocks_are_shared_on(number);
            }
            self.introduce(id);
        }
        number
    }

    /// Tells how a volume is read when it is first met.
    fn introduce(&mut self, id: VolumeId) {
        if self.arrivals.introduced.insert(id) {
            for line in self.reads.volumes.get(id).explain().lines() {
                self.observer.notice(Notice(line.to_owned()));
            }
        }
    }

    /// Records volumes whose disks turned out to have a head.
    pub fn heed_changes(&mut self) {
        for (volume, each) in self.reads.scheduler.changes() {
            for number in self.reads.volumes.has_a_head(volume) {
                self.machine.seeks_cost(number);
            }
            let name = self.reads.volumes.name(volume);
            let each = each.as_secs_f64() * 1e3;
            self.observer.notice(Notice(format!(
                "{name}: scattered reads took {each:.1} ms each with many in flight, as on a spinning disk: read as a \
                spinning disk from now on"
            )));
        }
    }

    pub fn scanned(&mut self, folders: u64, left_out: &LeftOut) {
        self.arrivals.scan_done = true;
        self.sets.deliverer.summary.folders += folders;
        self.sets.deliverer.summary.scan_time = self.started.elapsed();
        self.sets.deliverer.summary.left_out.add(left_out);
        for row in self.reads.volumes.unused_overrides() {
            let said = format!("{row}: no given path is on this device");
            self.observer.notice(Notice(said));
        }
        self.machine.scan_done();
        self.reads.scheduler.scan_done();
    }
}
