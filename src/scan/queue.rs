//! The queue of jobs of the walkers: mostly folders that wait to be listed.
//!
//! Each disk with a head has a group of walkers for itself. Two walkers never list such a disk at a time, and it is
//! never idle because its walker is busy on another disk. All other devices share one group.
//!
//! The queue is last in, first out. Few folders then wait (one path's siblings instead of one level's), and a folder's
//! parent is likely to be still open. Of siblings, the one with the lowest inode number comes first. Walkers wait for
//! more until the queue is stopped.

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
    is_stopped: bool,
}

struct QueueGroup<T> {
    waiting: Vec<T>,
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
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.at_work == 0
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(QueueState {
                groups: Vec::new(),
                substitutes: 0,
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
        self.lock().groups.push(QueueGroup {
            waiting: Vec::new(),
            at_work: 0,
            allowed: first.max(1),
            most: most.max(1),
        });
    }

    /// Adds jobs, each with its group. The first is taken first.
    pub fn add(&self, jobs: impl DoubleEndedIterator<Item = (usize, T)>) {
        let mut state = self.lock();
        for (group, job) in jobs.rev() {
            if let Some(group) = state.groups.get_mut(group) {
                group.waiting.push(job);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// True if no job waits, and at most this many walkers are at work.
    pub fn is_left_to(&self, walkers: usize) -> bool {
        let state = self.lock();
        let at_work: usize = state.groups.iter().map(|group| group.at_work).sum();
        at_work <= walkers && state.groups.iter().all(|group| group.waiting.is_empty())
    }

    /// Takes a job and the number of its group; `None` when the walker is to end. `wait` is called if there is none
    /// now, and says whether to wait for one.
    pub fn take(&self, wait: impl FnOnce() -> bool) -> Option<(usize, T)> {
        let mut state = self.lock();
        let mut wait = Some(wait);
        loop {
            if state.is_stopped {
                return None;
            }
            let substitutes = state.substitutes;
            for (number, group) in state.groups.iter_mut().enumerate() {
                if group.at_work < group.allowed + substitutes
                    && let Some(job) = group.waiting.pop()
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
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds what was found by a job, and marks that job as done.
    pub fn done(&self, group: usize, found: &mut Vec<T>) -> Left {
        let mut state = self.lock();
        let news = found.len();
        let of_group = &mut state.groups[group];
        of_group.at_work -= 1;
        found.reverse();
        of_group.waiting.append(found);
        let left = Left {
            in_group: !of_group.is_done(),
            anywhere: !state.groups.iter().all(QueueGroup::is_done),
        };
        drop(state);
        if news > 1 {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
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
            .flat_map(|group| std::mem::take(&mut group.waiting))
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
        let take = || queue.take(|| false);
        assert_eq!(take(), Some((0, "a")), "the first comes first");
        assert_eq!(take(), Some((1, "c")), "the first group is complete");
        assert!(!queue.allow_more(0) && queue.allow_more(1));
        assert_eq!(queue.walkers(0..), 3);
        assert_eq!(take(), Some((1, "d")), "only the second may grow");
        assert!(
            queue.done(1, &mut Vec::new()).in_group,
            "another is at work there"
        );
        let left = queue.done(1, &mut Vec::new());
        assert!(!left.in_group && left.anywhere && !queue.is_left_to(1));
        queue.done(0, &mut vec!["a1", "a2"]);
        for expected in ["a1", "a2", "b"] {
            assert_eq!(take(), Some((0, expected)));
            let left = queue.done(0, &mut Vec::new());
            assert_eq!(left.anywhere, expected != "b");
        }
        assert_eq!(take(), None);
        assert!(queue.is_left_to(0));
    }

    #[test]
    fn a_substitute_works_in_the_place_of_another_walker() {
        let queue = Queue::default();
        queue.add_group(1, 1);
        queue.add([(0, "a"), (0, "b"), (0, "c")].into_iter());
        let take = || queue.take(|| false);
        assert_eq!((take(), take()), (Some((0, "a")), None));
        queue.substitute(1);
        assert_eq!((take(), take()), (Some((0, "b")), None));
        queue.substitute(0);
        queue.done(0, &mut Vec::new());
        assert_eq!(
            (take(), queue.walkers(0..)),
            (None, 1),
            "the other one goes on"
        );
        queue.done(0, &mut Vec::new());
        assert_eq!(take(), Some((0, "c")));
        queue.stop();
        assert_eq!(queue.take(|| true), None);
    }
}
