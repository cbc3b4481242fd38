//! Ends jobs without a reader: those of volumes that do not answer, and those that an interrupted run waits for.

use std::collections::BTreeMap;

use rustix::io::Errno;

use crate::device::VolumeId;
use crate::read::fold::Fold;
use crate::read::pool::Pool;
use crate::read::task::{Failure, Outcome};

use super::Scheduler;
use super::disk::Disk;
use super::job::{Finished, Job};
use super::sets::{By, Set};
use super::under_way::{Handed, Visit};
use super::volume::VolumeQueues;

/// A job that ended without a reader.
pub(super) struct Ended<W> {
    volume: VolumeId,
    job: Job<W>,
    failure: Failure,
}

impl<F: Fold, W: Copy> Scheduler<F, W> {
    /// Ends all jobs of volumes that do not answer as [`Failure::Unanswered`]: those that readers have, those that wait,
    /// and those that are pushed later.
    ///
    /// Call it when no reader has moved for long: threads that may never return hold the jobs of other volumes, too.
    /// Other threads get these jobs. Late answers belong to no job.
    pub fn give_up(&mut self, volumes: &[VolumeId]) {
        if volumes.is_empty() {
            return;
        }
        for volume in volumes {
            self.volumes[volume.at()].is_given_up = true;
        }
        let mut readers = self.sets.take_under_way();
        let recalled = self.recall();
        readers.insert(By::Pool);
        readers.extend(recalled.iter().filter_map(|handed| self.reader_of(handed)));
        for &volume in volumes {
            let waiting = self.volumes[volume.at()].take_waiting();
            let ended = waiting.map(|job| Ended::unanswered(volume, job));
            self.ended.extend(ended);
        }
        self.leave_elevators();
        for (position, set) in self.sets.take_all() {
            self.push_set(position, set);
        }
        // In the place of each thread that is lost, another one reads.
        for by in readers {
            self.add_threads(by);
        }
        self.push_again(recalled);
    }

    /// Ends the jobs that readers have as interrupted, whether or not the readers return.
    pub fn interrupt(&mut self) {
        for Handed { job, volume, .. } in self.recall() {
            let failure = Failure::Refused(Errno::CANCELED);
            self.ended.push_back(Ended {
                volume,
                job,
                failure,
            });
        }
    }

    /// Takes a job that ended without a reader.
    pub fn next_ended(&mut self) -> Option<Finished<W, F::Digest>> {
        let Ended {
            volume,
            job,
            failure,
        } = self.ended.pop_front()?;
        Some(Finished {
            job,
            volume,
            outcome: Outcome::Failed(failure),
        })
    }

    /// Takes all jobs from their readers.
    fn recall(&mut self) -> Vec<Handed<W>> {
        let recalled = self.under_way.recall();
        for Handed { job, volume, visit } in &recalled {
            let volume = &mut self.volumes[volume.at()];
            volume.ended(job.bulk);
            match visit {
                Visit::LookedUp { .. } => volume.placed(),
                Visit::Swept => {
                    if let Some(disk) = volume.home {
                        // What was not read is no evidence.
                        self.disks[disk.0].ended(false);
                    }
                }
                Visit::Compared { .. } | Visit::Pooled => {}
            }
        }
        recalled
    }

    /// The reader of a job, if it is not one of the common pools.
    fn reader_of(&self, handed: &Handed<W>) -> Option<By> {
        let volume = &self.volumes[handed.volume.at()];
        match handed.visit {
            Visit::Swept => volume.home.map(By::Disk),
            Visit::Pooled | Visit::LookedUp { .. } | Visit::Compared { .. } => {
                let is_own = self.own.contains_key(&handed.volume) && !volume.is_given_up;
                is_own.then_some(By::OwnPool(handed.volume))
            }
        }
    }

    fn add_threads(&mut self, by: By) {
        match by {
            By::Pool => {
                self.random.add_thread();
                self.sequential.add_thread();
            }
            By::OwnPool(volume) => {
                let (random, sequential) = self.own_pools(volume);
                random.add_thread();
                sequential.add_thread();
            }
            By::Disk(disk) => self.disks[disk.0].pool.add_thread(),
        }
    }

    /// Hands over jobs once more that were taken from their readers.
    fn push_again(&mut self, recalled: Vec<Handed<W>>) {
        let mut sets: BTreeMap<u32, Set<W>> = BTreeMap::new();
        for Handed { job, volume, visit } in recalled {
            match visit {
                Visit::Compared { set } => sets.entry(set).or_default().push((volume, job)),
                _ => self.push(volume, job, None),
            }
        }
        // Their order among the sets on a disk is not known any more.
        sets.into_values().for_each(|set| self.push_set(0, set));
    }

    /// Ends the jobs of volumes that were given up and wait for the head of a disk.
    fn leave_elevators(&mut self) {
        for disk in &mut self.disks {
            for (position, waiting) in disk.take_all() {
                if self.volumes[waiting.volume.at()].is_given_up {
                    let ended = Ended::unanswered(waiting.volume, waiting.job);
                    self.ended.push_back(ended);
                } else {
                    disk.push(position, waiting);
                }
            }
        }
    }

    /// Ends a job at once if the run gave up on its volume; else returns the job.
    pub(super) fn unless_given_up(&mut self, volume: VolumeId, job: Job<W>) -> Option<Job<W>> {
        if !self.volumes[volume.at()].is_given_up {
            return Some(job);
        }
        self.ended.push_back(Ended::unanswered(volume, job));
        None
    }

    /// Drops all waiting jobs; jobs in flight still complete. Comparisons of every byte end as interrupted. Returns the
    /// number of jobs.
    pub fn forget_waiting(&mut self) -> usize {
        let before = self.waiting();
        self.volumes.iter_mut().for_each(VolumeQueues::clear);
        self.disks.iter_mut().for_each(Disk::clear);
        for (_, set) in self.sets.take_all() {
            self.ended
                .extend(set.into_iter().map(|(volume, job)| Ended {
                    volume,
                    job,
                    failure: Failure::Refused(Errno::CANCELED),
                }));
        }
        before
    }

    /// Starts threads as substitutes for one that gets no answer from a volume.
    pub fn add_workers(&mut self, volume: VolumeId) {
        self.add_threads(By::OwnPool(volume));
    }

    /// Ends the substitutes for a thread that got its answer, each after its batch.
    pub fn retire_workers(&mut self, volume: VolumeId) {
        let (random, sequential) = self.own_pools(volume);
        random.retire_thread();
        sequential.retire_thread();
    }

    /// Starts threads that the system did not provide before.
    pub fn tend(&mut self) {
        let own = self.own.values_mut();
        let pools = own.flat_map(|(random, sequential)| [random, sequential]);
        let pools = pools.chain([&mut self.random, &mut self.sequential]);
        let pools = pools.chain(self.disks.iter_mut().map(|disk| &mut disk.pool));
        pools.for_each(Pool::start_wanted);
    }

    /// The pools that read a volume without a disk's executor.
    fn own_pools(&mut self, volume: VolumeId) -> (&mut Pool<F>, &mut Pool<F>) {
        match self.own.get_mut(&volume) {
            Some((random, sequential)) => (random, sequential),
            None => (&mut self.random, &mut self.sequential),
        }
    }
}

impl<W> Ended<W> {
    fn unanswered(volume: VolumeId, job: Job<W>) -> Self {
        Self {
            volume,
            job,
            failure: Failure::Unanswered,
        }
    }
}
