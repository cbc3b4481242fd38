//! The queue of jobs of the walkers: mostly folders that wait to be listed.
//!
//! Each disk with a head has a group of walkers for itself. Two walkers never list such a disk at a time, and it is
//! never idle because its walker is busy on another disk. All other devices share one group.
//!
//! A walker takes what it found last. Few folders then wait (one path's siblings instead of one level's), and it has a
//! folder's parent still open. Of siblings, the one with the lowest inode number comes first. A walker that found
//! nothing more takes what waits longest, which leads to most. Walkers wait for more until the queue is stopped.

use std::collections::VecDeque;
use std::ops::RangeFrom;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::lock::locked;

/// The queue.
pub struct Queue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

struct QueueState<T> {
    groups: Vec<QueueGroup<T>>,
    /// Walkers that may work in each group as substitutes for others.
    substitutes: usize,
    /// Walkers that wait for a job. To wake nobody is a system call, too.
    idle: usize,
    is_stopped: bool,
}

struct QueueGroup<T> {
    /// What each of the walkers found, as many as may work here, and at last what others added.
    waiting: Vec<VecDeque<T>>,
    /// Walkers that may still add jobs.
    at_work: usize,
    /// Walkers that are allowed to work here.
    allowed: usize,
    most: usize,
}

/// What is left after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its group has more to do.
    pub in_group: bool,
    /// Any group has.
    pub anywhere: bool,
}

impl<T> QueueGroup<T> {
    /// Takes a job of another walker only if there is none of its own.
    fn next(&mut self, walker: usize) -> Option<T> {
        let own = self.waiting[walker % self.most].pop_back();
        own.or_else(|| self.waiting.iter_mut().rev().find_map(VecDeque::pop_front))
    }

    fn waits(&self) -> bool {
        self.waiting.iter().any(|jobs| !jobs.is_empty())
    }

    fn is_done(&self) -> bool {
        self.at_work == 0 && !self.waits()
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(QueueState {
                groups: Vec::new(),
                substitutes: 0,
                idle: 0,
                is_stopped: false,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        locked(&self.state)
    }

    /// Adds a group of this many walkers at first, and at most.
    pub fn add_group(&self, first: usize, most: usize) {
        let most = most.max(1);
        let waiting = (0..=most).map(|_| VecDeque::new()).collect();
        self.lock().groups.push(QueueGroup {
            waiting,
            at_work: 0,
            allowed: first.max(1),
            most,
        });
    }

    /// Adds jobs, each with its group. The first is taken first.
    pub fn add(&self, jobs: impl Iterator<Item = (usize, T)>) {
        let mut state = self.lock();
        for (group, job) in jobs {
            if let Some(group) = state.groups.get_mut(group) {
                group.waiting[group.most].push_back(job);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// True if no job waits, and at most this many walkers are at work.
    pub fn is_left_to(&self, walkers: usize) -> bool {
        let state = self.lock();
        let at_work: usize = state.groups.iter().map(|group| group.at_work).sum();
        at_work <= walkers && !state.groups.iter().any(QueueGroup::waits)
    }

    /// Takes a job and the number of its group; `None` when the walker with this number is to end. `wait` is called if
    /// there is no job now, and says whether to wait for one.
    pub fn take(&self, walker: usize, wait: impl FnOnce() -> bool) -> Option<(usize, T)> {
        let mut state = self.lock();
        let mut wait = Some(wait);
        loop {
            if state.is_stopped {
                return None;
            }
            let substitutes = state.substitutes;
            for (number, group) in state.groups.iter_mut().enumerate() {
                if group.at_work < group.allowed + substitutes
                    && let Some(job) = group.next(walker)
                {
                    group.at_work += 1;
                    return Some((number, job));
                }
            }
            if let Some(wait) = wait.take() {
                drop(state);
                if !wait() {
                    return None;
                }
                state = self.lock();
                continue;
            }
            state.idle += 1;
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Adds what a walker found by a job, and marks that job as done.
    pub fn done(&self, walker: usize, group: usize, found: &mut Vec<T>) -> Left {
        let mut state = self.lock();
        let news = found.len();
        let of_group = &mut state.groups[group];
        of_group.at_work -= 1;
        let of_walker = &mut of_group.waiting[walker % of_group.most];
        of_walker.extend(found.drain(..).rev());
        let left = Left {
            in_group: !of_group.is_done(),
            anywhere: !state.groups.iter().all(QueueGroup::is_done),
        };
        let idle = state.idle;
        drop(state);
        match (idle, news) {
            (0, _) => {}
            (_, ..2) => self.changed.notify_one(),
            _ => self.changed.notify_all(),
        }
        left
    }

    /// Lets one more walker work in a group, up to its maximum. True if it may.
    pub fn allow_more(&self, group: usize) -> bool {
        let mut state = self.lock();
        let group = state.groups.get_mut(group);
        let Some(group) = group.filter(|group| group.allowed < group.most) else {
            return false;
        };
        group.allowed += 1;
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Walkers that may work at the same time in these groups.
    pub fn walkers(&self, groups: RangeFrom<usize>) -> usize {
        let state = self.lock();
        let allowed: usize = state.groups[groups].iter().map(|group| group.allowed).sum();
        allowed + state.substitutes
    }

    /// Lets so many more walkers work in each group, as substitutes for those that wait for a file system.
    pub fn substitute(&self, substitutes: usize) {
        let before = std::mem::replace(&mut self.lock().substitutes, substitutes);
        if before < substitutes {
            self.changed.notify_all();
        }
    }

    /// Takes the jobs that no walker took.
    pub fn take_left(&self) -> Vec<T> {
        let mut state = self.lock();
        let groups = state.groups.iter_mut();
        groups
            .flat_map(|group| group.waiting.iter_mut().flat_map(|jobs| jobs.drain(..)))
            .collect()
    }

    /// Makes all walkers end as soon as they have finished their current jobs.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_works_on_its_own_jobs_only() {
        let queue = Queue::default();
        queue.add_group(1, 1);
        queue.add_group(1, 2);
        queue.add([(0, "a"), (1, "c"), (0, "b"), (1, "d")].into_iter());
        let take = || queue.take(0, || false);
        assert_eq!(take(), Some((0, "a")), "the first comes first");
        assert_eq!(take(), Some((1, "c")), "the first group is complete");
        assert!(!queue.allow_more(0) && queue.allow_more(1));
        assert_eq!(queue.walkers(0..), 3);
        assert_eq!(take(), Some((1, "d")), "only the second may grow");
        assert!(
            queue.done(0, 1, &mut Vec::new()).in_group,
            "another is at work there"
        );
        let left = queue.done(0, 1, &mut Vec::new());
        assert!(!left.in_group && left.anywhere && !queue.is_left_to(1));
        queue.done(0, 0, &mut vec!["a1", "a2"]);
        for expected in ["a1", "a2", "b"] {
            assert_eq!(take(), Some((0, expected)));
            let left = queue.done(0, 0, &mut Vec::new());
            assert_eq!(left.anywhere, expected != "b");
        }
        assert_eq!(take(), None);
        assert!(queue.is_left_to(0));
    }

    #[test]
    fn a_walker_takes_what_it_found_last_and_then_what_waits_longest() {
        let queue = Queue::default();
        queue.add_group(2, 2);
        queue.add([(0, "a"), (0, "b")].into_iter());
        let take = |walker| queue.take(walker, || false);
        assert_eq!((take(0), take(1)), (Some((0, "a")), Some((0, "b"))));
        queue.done(0, 0, &mut vec!["a1", "a2", "a3"]);
        queue.done(1, 0, &mut vec!["b1"]);
        for (walker, expected) in [(0, "a1"), (1, "b1")] {
            assert_eq!(take(walker), Some((0, expected)));
            queue.done(walker, 0, &mut Vec::new());
        }
        assert_eq!((take(1), take(0)), (Some((0, "a3")), Some((0, "a2"))));
    }

    #[test]
    fn a_substitute_works_in_the_place_of_another_walker() {
        let queue = Queue::default();
        queue.add_group(1, 1);
        queue.add([(0, "a"), (0, "b"), (0, "c")].into_iter());
        let take = || queue.take(0, || false);
        assert_eq!((take(), take()), (Some((0, "a")), None));
        queue.substitute(1);
        assert_eq!((take(), take()), (Some((0, "b")), None));
        queue.substitute(0);
        queue.done(0, 0, &mut Vec::new());
        assert_eq!(
            (take(), queue.walkers(0..)),
            (None, 1),
            "the other one goes on"
        );
        queue.done(0, 0, &mut Vec::new());
        assert_eq!(take(), Some((0, "c")));
        queue.stop();
        assert_eq!(queue.take(0, || true), None);
    }
}
