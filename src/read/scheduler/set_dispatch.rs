//! Chooses the pool that compares a set of files, and the time of the comparison.

use crate::device::VolumeId;
use crate::read::fold::Fold;
use crate::read::task::{Batch, BatchKind};

use super::Scheduler;
use super::job::{Asker, Job};
use super::sets::{By, Set};
use super::under_way::{Handed, Visit};
use super::volume::{AHEAD, VolumeQueues};

impl<F: Fold, W: Copy> Scheduler<F, W> {
    /// Takes jobs for files of one length, each with its volume. Every byte of them is compared with the first file.
    /// Disks with a head compare sets in the order of these positions.
    pub fn push_set(&mut self, position: u64, set: Vec<(VolumeId, Job<W>)>) {
        let set = set.into_iter();
        let set: Set<W> = set
            .filter_map(|(volume, job)| Some((volume, self.unless_given_up(volume, job)?)))
            .collect();
        if set.is_empty() {
            return;
        }
        let mut volumes = set.iter().map(|&(volume, _)| volume);
        let disks = set.iter().find_map(|&(v, _)| self.volumes[v.at()].disk);
        let by = match (volumes.find(|v| self.own.contains_key(v)), disks) {
            (Some(volume), _) => By::OwnPool(volume),
            (None, Some(disk)) => By::Disk(disk),
            (None, None) => By::Pool,
        };
        self.sets.push(by, position, set);
    }

    /// Hands over sets as far as their reader has room for them.
    pub(super) fn dispatch_sets(&mut self, by: By, asker: &mut dyn Asker<W>) {
        let (pool, most) = match by {
            By::Pool => {
                let threads = self.sequential.threads();
                (&mut self.sequential, threads * AHEAD)
            }
            By::OwnPool(volume) => {
                let Some((_, sequential)) = self.own.get_mut(&volume) else {
                    return;
                };
                let threads = sequential.threads();
                (sequential, threads)
            }
            By::Disk(d) => {
                let disk = &mut self.disks[d.0];
                let is_held = self.holding && !self.scanned.contains(disk.pool.name());
                let mut own = self.volumes.iter().filter(|volume| volume.disk == Some(d));
                // The sweeps come first.
                if is_held || !disk.is_idle() || !own.all(VolumeQueues::all_placed) {
                    return;
                }
                (&mut disk.pool, AHEAD)
            }
        };
        while let Some(set) = self.sets.next(by, most) {
            let mut batch = Batch {
                kind: BatchKind::Compare,
                ..Batch::default()
            };
            let visit = Visit::Compared {
                set: self.under_way.begin_set(),
            };
            for (volume, job) in set {
                let task = asker.describe(job, &mut batch);
                self.under_way
                    .begin(Handed { job, volume, visit }, task, &mut batch);
                self.volumes[volume.at()].begun(job.bulk, 1);
            }
            if let Some(first) = batch.tasks.first() {
                self.sets.begun(first.ticket, by);
                pool.send(batch);
            }
        }
    }
}
