//! Sets of files that are compared with each other, wherever the files lie.

use crate::read::elevator::Elevator;
use crate::read::fold::Fold;
use crate::read::pool::Pool;
use crate::read::task::{Batch, BatchKind};

use super::Scheduler;
use super::under_way::{Describe, Job, PoolIndex, SEQUENTIAL, Visit};
use super::volume::{AHEAD, DiskIndex, VolumeQueues};

/// A pool, and the sets of files that its threads compare.
pub(super) struct Readers<F: Fold, W> {
    pub pool: Pool<F>,
    /// Sets that wait, by their positions.
    pub sets: Elevator<Vec<Job<W>>>,
    /// Number of sets that the threads have.
    pub comparing: usize,
}

impl<F: Fold, W> Readers<F, W> {
    /// A pool without sets.
    pub fn new(pool: Pool<F>) -> Self {
        Self {
            pool,
            sets: Elevator::default(),
            comparing: 0,
        }
    }
}

impl<F: Fold, W: Copy> Scheduler<F, W> {
    /// Takes jobs for files of one length, to compare the files with each other. Sets with one reader come in the order
    /// of these positions.
    pub fn push_set(&mut self, position: u64, mut set: Vec<Job<W>>) {
        set.retain(|job| self.unless_given_up(*job).is_some());
        if set.is_empty() {
            return;
        }
        let mut volumes = set.iter().map(|job| &self.volumes[job.volume.at()]);
        let apart = volumes.clone().find(|volume| volume.is_apart());
        let disk = volumes.find_map(|volume| volume.disk);
        let readers = match (apart, disk) {
            (Some(volume), _) => volume.sequential,
            (None, Some(disk)) => self.disks[disk.0].pool,
            (None, None) => SEQUENTIAL,
        };
        self.readers[readers.0].sets.push(position, set);
    }

    /// Hands over sets as far as their readers have room for them.
    pub(super) fn dispatch_sets(&mut self, at: PoolIndex, describe: &mut Describe<'_, W>) {
        let threads = self.readers[at.0].pool.threads();
        let most = match self.disks.iter().position(|disk| disk.pool == at) {
            Some(disk) if !self.has_ended_sweeps(DiskIndex(disk)) => 0,
            Some(_) => AHEAD,
            None if at == SEQUENTIAL => threads * AHEAD,
            None => threads,
        };
        let readers = &mut self.readers[at.0];
        while readers.comparing < most
            && let Some(set) = readers.sets.pop()
        {
            readers.comparing += 1;
            let number = self.under_way.begin_set();
            let mut batch = Batch {
                kind: BatchKind::Compare,
                ..Batch::default()
            };
            for (nth, job) in set.into_iter().enumerate() {
                let visit = Visit::Compared {
                    set: number,
                    is_first: nth == 0,
                };
                self.under_way
                    .begin(job, (visit, at), describe, &mut batch);
                self.volumes[job.volume.at()].begun(job.bulk, 1);
            }
            readers.pool.send(batch);
        }
    }

    /// True if a disk has nothing else to read, and nothing else is on its way there.
    fn has_ended_sweeps(&self, disk: DiskIndex) -> bool {
        let mut own = self
            .volumes
            .iter()
            .filter(|volume| volume.disk == Some(disk));
        self.may_sweep(disk) && self.disks[disk.0].is_idle() && own.all(VolumeQueues::all_placed)
    }
}
