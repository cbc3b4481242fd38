//! Sets of files that are compared with each other, every byte, wherever they lie.

use std::collections::HashMap;

use crate::device::VolumeId;
use crate::read::elevator::Elevator;
use crate::read::fold::Fold;
use crate::read::task::{Batch, BatchKind, Ticket};

use super::Scheduler;
use super::job::{Asker, Job};
use super::under_way::{Handed, Visit};
use super::volume::{AHEAD, DiskIndex, VolumeQueues};

/// Who reads the files of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum By {
    /// The pool for whole files.
    Pool,
    /// That of a volume with pools of its own.
    OwnPool(VolumeId),
    /// A disk's executor.
    Disk(DiskIndex),
}

/// Files, each with its volume.
pub(super) type Set<W> = Vec<(VolumeId, Job<W>)>;

/// What waits, and what is under way.
pub(super) struct Sets<W> {
    waiting: HashMap<By, Elevator<Set<W>>>,
    /// By the ticket of a set's first file who reads it.
    under_way: HashMap<Ticket, By>,
}

impl<W> Default for Sets<W> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
            under_way: HashMap::new(),
        }
    }
}

impl<W> Sets<W> {
    /// Takes a set. Those with one reader come in the order of their positions.
    pub fn push(&mut self, by: By, position: u64, set: Set<W>) {
        self.waiting.entry(by).or_default().push(position, set);
    }

    /// Who has something to read.
    pub fn readers(&self) -> Vec<By> {
        let waiting = self.waiting.iter();
        let waiting = waiting.filter(|(_, sets)| !sets.is_empty());
        waiting.map(|(&by, _)| by).collect()
    }

    /// The next set for a reader that may have so many under way.
    pub fn next(&mut self, by: By, most: usize) -> Option<Set<W>> {
        if self.under_way.values().filter(|&&at| at == by).count() >= most {
            return None;
        }
        self.waiting.get_mut(&by)?.pop()
    }

    /// Takes note that a reader has a set, of which the first file has this ticket.
    pub fn begun(&mut self, first: Ticket, by: By) {
        self.under_way.insert(first, by);
    }

    /// Takes note that a file was compared.
    pub fn ended(&mut self, ticket: Ticket) {
        self.under_way.remove(&ticket);
    }

    /// How many files wait.
    pub fn waiting(&self) -> usize {
        let sets = self.waiting.values().flat_map(Elevator::iter);
        sets.map(Vec::len).sum()
    }

    /// Forgets all that waits.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

impl<F: Fold, W: Copy> Scheduler<F, W> {
    /// Takes jobs for files of one length, each with its volume, that are to be compared with the first of them,
    /// every byte. Disks with a head compare sets in the order of these positions.
    pub fn push_set(&mut self, position: u64, set: Vec<(VolumeId, Job<W>)>) {
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
            for (volume, job) in set {
                let task = asker.describe(job, &mut batch);
                let visit = Visit::Compared;
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
