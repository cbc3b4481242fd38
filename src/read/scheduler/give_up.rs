//! Ends jobs without a reader: those of volumes that do not answer, and those that an interrupted run waits for.

use std::collections::{BTreeMap, HashSet};

use rustix::io::Errno;

use crate::device::VolumeId;
use crate::read::task::Failure;

use super::Scheduler;
use super::under_way::{Finished, Handed, Job, PoolIndex, RANDOM, SEQUENTIAL, Visit};

impl<W: Copy> Scheduler<W> {
    /// Ends all jobs of volumes that do not answer as [`Failure::Unanswered`]: those that readers have, those that
    /// wait, and those that are pushed later.
    ///
    /// Call it when no reader has moved for long: threads that may never return hold the jobs of other volumes, too.
    /// Other threads get these jobs. Late answers belong to no job.
    pub fn give_up(&mut self, volumes: &[VolumeId]) {
        if volumes.is_empty() {
            return;
        }
        let recalled = self.recall();
        let mut lost: HashSet<PoolIndex> = recalled.iter().map(|handed| handed.pool).collect();
        lost.extend([RANDOM, SEQUENTIAL]);
        for &id in volumes {
            let volume = &mut self.volumes[id.at()];
            volume.is_given_up = true;
            if volume.is_apart() {
                lost.retain(|pool| ![volume.random, volume.sequential].contains(pool));
            }
            for job in volume.take_waiting() {
                self.ended
                    .push_back(Finished::failed(job, Failure::Unanswered));
            }
        }
        // In the place of each thread that is lost, another one reads.
        for pool in lost {
            self.readers[pool.0].pool.add_thread();
        }
        self.leave_elevators();
        let sets = self
            .readers
            .iter_mut()
            .flat_map(|readers| readers.sets.take_all());
        for (position, set) in sets.collect::<Vec<_>>() {
            self.push_set(position, set);
        }
        self.push_again(recalled);
    }

    /// True if the run gave up on a volume.
    pub fn has_given_up(&self, volume: VolumeId) -> bool {
        self.volumes[volume.at()].is_given_up
    }

    /// Ends the jobs that readers have as interrupted, whether or not the readers return.
    pub fn interrupt(&mut self) {
        for Handed { job, .. } in self.recall() {
            let failure = Failure::Refused(Errno::CANCELED);
            self.ended.push_back(Finished::failed(job, failure));
        }
    }

    /// Takes a job that ended without a reader.
    pub fn next_ended(&mut self) -> Option<Finished<W>> {
        self.ended.pop_front()
    }

    /// Takes all jobs from their readers.
    fn recall(&mut self) -> Vec<Handed<W>> {
        let recalled = self.under_way.recall();
        for Handed { job, visit, .. } in &recalled {
            let volume = &mut self.volumes[job.volume.at()];
            volume.ended(job.bulk);
            match visit {
                Visit::LookedUp => volume.placed(),
                Visit::Swept => {
                    if let Some(disk) = volume.disk {
                        self.disks[disk.0].ended();
                    }
                }
                Visit::Compared { .. } | Visit::Pooled => {}
            }
        }
        for readers in &mut self.readers {
            readers.comparing = 0;
        }
        recalled
    }

    /// Hands over jobs once more that were taken from their readers.
    fn push_again(&mut self, recalled: Vec<Handed<W>>) {
        let mut sets: BTreeMap<u32, Vec<Job<W>>> = BTreeMap::new();
        for Handed { job, visit, .. } in recalled {
            match visit {
                Visit::Compared { set, .. } => sets.entry(set).or_default().push(job),
                _ => self.push(job),
            }
        }
        // Their order among the sets on a disk is not known any more.
        sets.into_values().for_each(|set| self.push_set(0, set));
    }

    /// Ends the jobs of volumes that were given up and wait for the head of a disk.
    fn leave_elevators(&mut self) {
        for disk in &mut self.disks {
            for (position, job) in disk.waiting.take_all() {
                if self.volumes[job.volume.at()].is_given_up {
                    self.ended
                        .push_back(Finished::failed(job, Failure::Unanswered));
                } else {
                    disk.waiting.push(position, job);
                }
            }
        }
    }

    /// Ends a job at once if the run gave up on its volume; else returns the job.
    pub(super) fn unless_given_up(&mut self, job: Job<W>) -> Option<Job<W>> {
        if !self.has_given_up(job.volume) {
            return Some(job);
        }
        self.ended
            .push_back(Finished::failed(job, Failure::Unanswered));
        None
    }

    /// Drops all waiting jobs; jobs in flight still complete. Returns the number of jobs that were dropped.
    pub fn forget_waiting(&mut self) -> usize {
        let before = self.waiting();
        for volume in &mut self.volumes {
            drop(volume.take_waiting());
        }
        for disk in &mut self.disks {
            drop(disk.waiting.take_all());
        }
        for readers in &mut self.readers {
            drop(readers.sets.take_all());
        }
        before
    }

    /// Starts threads as substitutes for one that gets no answer from a volume.
    pub fn add_workers(&mut self, volume: VolumeId) {
        for pool in self.volumes[volume.at()].pools() {
            self.readers[pool.0].pool.add_thread();
        }
    }

    /// Ends the substitutes for a thread that got its answer, each after its batch.
    pub fn retire_workers(&mut self, volume: VolumeId) {
        for pool in self.volumes[volume.at()].pools() {
            self.readers[pool.0].pool.retire_thread();
        }
    }

    /// Starts threads that the system did not provide before.
    pub fn tend(&mut self) {
        for readers in &mut self.readers {
            readers.pool.start_wanted();
        }
    }
}
