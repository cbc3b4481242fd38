//! Changes the way in which a volume is read, once its device turns out to be of another class.

use crate::device::{Policy, VolumeId};
use crate::read::fold::Fold;

use super::Scheduler;
use super::evidence::Evidence;
use super::volume::{DiskIndex, Lane};

/// A volume that is read in another way from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The volume.
    pub volume: VolumeId,
    /// The evidence.
    pub evidence: Evidence,
}

impl<F: Fold, W: Copy> Scheduler<F, W> {
    /// Sets the other way in which a volume is read if its device turns out to be of another class.
    pub fn may_change(&mut self, volume: VolumeId, lane: Lane, policy: Policy) {
        let volume = &mut self.volumes[volume.at()];
        volume.otherwise = Some((lane, policy));
        if let Some(d) = volume.disk {
            self.disks[d.0].begin_trial();
        }
    }

    /// Volumes that are read in another way since the last call.
    pub fn changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Switches volumes to their other way.
    pub(super) fn change(&mut self, volumes: &[VolumeId], evidence: Evidence) {
        for &volume in volumes {
            if let Some((lane, policy)) = self.volumes[volume.at()].otherwise.take() {
                let pools = self.volumes[volume.at()].pools();
                let disk = self.make_ready(pools, lane, policy);
                let before = self.volumes[volume.at()].change(disk, policy);
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
                let volume = &mut self.volumes[waiting.volume.at()];
                match volume.disk == Some(DiskIndex(d)) {
                    true => self.disks[d].push(position, waiting),
                    false => volume.push(waiting.job),
                }
            }
        }
    }

    /// Acts on evidence about a disk with an executor of its own.
    pub(super) fn change_disk(&mut self, disk: DiskIndex, evidence: Evidence) {
        let numbered = VolumeId::all().zip(&self.volumes);
        let on_it = numbered.filter(|(_, volume)| volume.disk == Some(disk));
        let on_it: Vec<VolumeId> = on_it.map(|(id, _)| id).collect();
        match evidence.has_head {
            // The flag was right: no further look is needed.
            true => on_it
                .iter()
                .for_each(|id| self.volumes[id.at()].otherwise = None),
            false => self.change(&on_it, evidence),
        }
    }
}
