//! The queue of folders that wait to be listed, shared by the walkers.
//!
//! Each disk with a head has a group of walkers for itself. Two walkers never list such a disk at a time, and it is
//! never idle because its walker is busy on another disk. All other devices share one group.
//!
//! The queue is last in, first out. Few folders then wait (one path's siblings instead of one level's), and a folder's
//! parent is likely to be still open. Of siblings, the one with the lowest inode number comes first. The queue ends
//! when no folder waits and no walker is listing one, for only a walker at work can add folders.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::lock::locked;

/// The queue.
pub struct Queue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

struct QueueState<T> {
    groups: Vec<QueueGroup<T>>,
    stopped: bool,
    /// Walkers that are to end after their folder.
    surplus: usize,
}

struct QueueGroup<T> {
    waiting: Vec<T>,
    /// Walkers that may still add folders.
    at_work: usize,
    /// Walkers that are allowed to work here.
    allowed: usize,
    most: usize,
}

impl<T> QueueGroup<T> {
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.at_work == 0
    }
}

impl<T> Queue<T> {
    /// A queue with no folders for groups of this many walkers at first, and at most.
    pub fn new(sizes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let groups = sizes.into_iter().map(|(first, most)| QueueGroup {
            waiting: Vec::new(),
            at_work: 0,
            allowed: first.max(1),
            most: most.max(1),
        });
        Self {
            state: Mutex::new(QueueState {
                groups: groups.collect(),
                stopped: false,
                surplus: 0,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        locked(&self.state)
    }

    /// Adds a folder for a group, before the walk begins.
    pub fn push(&self, group: usize, folder: T) {
        if let Some(group) = self.lock().groups.get_mut(group) {
            group.waiting.push(folder);
        }
    }

    /// Adds these folders, each with its group, if no other folder waits, and at least one but at most this many
    /// walkers are at work. Once no walker is at work, all walkers end.
    pub fn add_beside(&self, walkers: usize, folders: impl FnOnce() -> Vec<(usize, T)>) {
        let mut state = self.lock();
        let at_work: usize = state.groups.iter().map(|group| group.at_work).sum();
        let is_empty = state.groups.iter().all(|group| group.waiting.is_empty());
        if !is_empty || !(1..=walkers).contains(&at_work) {
            return;
        }
        for (group, folder) in folders() {
            if let Some(group) = state.groups.get_mut(group) {
                group.waiting.push(folder);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Takes a folder and the number of its group, and waits for one if necessary; `None` when the walker is to end: no
    /// folder will ever come again, or it is one too many. `idle` is called once before waiting.
    pub fn take(&self, mut idle: impl FnMut()) -> Option<(usize, T)> {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if state.stopped || state.groups.iter().all(QueueGroup::is_done) {
                self.changed.notify_all();
                return None;
            }
            if state.surplus > 0 {
                state.surplus -= 1;
                self.changed.notify_one();
                return None;
            }
            for (number, group) in state.groups.iter_mut().enumerate() {
                if group.at_work < group.allowed
                    && let Some(item) = group.waiting.pop()
                {
                    group.at_work += 1;
                    return Some((number, item));
                }
            }
            if !waited {
                waited = true;
                drop(state);
                idle();
                state = self.lock();
                continue;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds the folders found in a taken folder, and marks that folder as done. True if it was the last of its group.
    pub fn done(&self, group: usize, found: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        let Some(group) = state.groups.get_mut(group) else {
            return false;
        };
        group.at_work -= 1;
        let news = found.len();
        found.reverse();
        group.waiting.append(found);
        let over = group.is_done();
        drop(state);
        if over || news > 1 {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
        over
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

    /// Walkers that may work at the same time.
    pub fn allowed(&self) -> usize {
        self.lock().groups.iter().map(|group| group.allowed).sum()
    }

    /// Lets one more walker work in each group, as a substitute for one that waits for a file system.
    pub fn substitute(&self) {
        let mut state = self.lock();
        for group in &mut state.groups {
            group.allowed += 1;
            group.most += 1;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Undoes this, since the file system has answered: one walker ends.
    pub fn retire(&self) {
        let mut state = self.lock();
        for group in &mut state.groups {
            group.allowed -= 1;
            group.most -= 1;
        }
        state.surplus += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// Takes the folders that no walker took.
    pub fn take_left(&self) -> Vec<T> {
        let mut state = self.lock();
        let groups = state.groups.iter_mut();
        groups
            .flat_map(|group| std::mem::take(&mut group.waiting))
            .collect()
    }

    /// Makes all walkers end as soon as they have finished their current folders.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_works_on_its_own_folders_only() {
        let queue = Queue::new([(1, 1), (1, 2)]);
        for (group, folder) in [(0, "a"), (0, "b"), (1, "c"), (1, "d")] {
            queue.push(group, folder);
        }
        assert_eq!(queue.take(|| ()), Some((0, "b")), "last in, first out");
        assert_eq!(
            queue.take(|| ()),
            Some((1, "d")),
            "the first group is complete"
        );
        assert!(!queue.allow_more(0) && queue.allow_more(1));
        assert_eq!(queue.allowed(), 3);
        assert_eq!(
            queue.take(|| ()),
            Some((1, "c")),
            "only the second may grow"
        );
        assert!(!queue.done(1, &mut Vec::new()), "another is at work there");
        assert!(queue.done(1, &mut Vec::new()));
        assert!(!queue.done(0, &mut vec!["b1", "b2"]));
        let rest: Vec<_> = (0..3)
            .map(|_| {
                let taken = queue.take(|| ());
                queue.done(0, &mut Vec::new());
                taken
            })
            .collect();
        assert_eq!(rest, [Some((0, "b1")), Some((0, "b2")), Some((0, "a"))]);
        assert_eq!(queue.take(|| ()), None);
    }

    #[test]
    fn the_substitute_of_a_walker_that_got_its_answer_ends() {
        let queue = Queue::new([(1, 1)]);
        queue.push(0, "a");
        assert_eq!(queue.take(|| ()), Some((0, "a")));
        queue.push(0, "b");
        queue.substitute();
        assert_eq!(queue.take(|| ()), Some((0, "b")));
        queue.retire();
        assert_eq!((queue.take(|| ()), queue.allowed()), (None, 1));
        queue.done(0, &mut vec!["c"]);
        queue.done(0, &mut Vec::new());
        assert_eq!(queue.take(|| ()), Some((0, "c")), "the other one goes on");
    }
}
