//! Folders waiting to be listed, shared by the walkers.
//!
//! Each disk with a head has a crew of walkers for itself, so that it is neither listed by two at a
//! time nor left alone while they are on another disk; all other devices share one crew.
//!
//! Last in, first out: the folders that wait are then few (one path's siblings instead of one
//! level's), and a folder's parent is likely to be still open. Of siblings the one with the lowest
//! inode number comes first. It ends when no folder waits and no walker is listing one, for only a
//! walker at work can add folders.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::lock::locked;

/// The queue.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    crews: Vec<Crew<T>>,
    stopped: bool,
}

struct Crew<T> {
    waiting: Vec<T>,
    /// Walkers that may still add folders.
    at_work: usize,
    /// Walkers that are allowed to work here.
    allowed: usize,
    most: usize,
}

impl<T> Crew<T> {
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.at_work == 0
    }
}

impl<T> Queue<T> {
    /// A queue with no folders for crews of so many walkers at first, and at most.
    pub fn new(sizes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let crews = sizes.into_iter().map(|(first, most)| Crew {
            waiting: Vec::new(),
            at_work: 0,
            allowed: first.max(1),
            most: most.max(1),
        });
        Self {
            state: Mutex::new(State {
                crews: crews.collect(),
                stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        locked(&self.state)
    }

    /// Adds a folder for a crew, before the walk begins.
    pub fn push(&self, crew: usize, folder: T) {
        if let Some(crew) = self.lock().crews.get_mut(crew) {
            crew.waiting.push(folder);
        }
    }

    /// Adds these folders, each with its crew, if no other one waits, and somebody is at work, but no more than so many
    /// walkers. Once nobody is, all walkers end.
    pub fn add_beside(&self, walkers: usize, folders: impl FnOnce() -> Vec<(usize, T)>) {
        let mut state = self.lock();
        let at_work: usize = state.crews.iter().map(|crew| crew.at_work).sum();
        let is_empty = state.crews.iter().all(|crew| crew.waiting.is_empty());
        if !is_empty || !(1..=walkers).contains(&at_work) {
            return;
        }
        for (crew, folder) in folders() {
            if let Some(crew) = state.crews.get_mut(crew) {
                crew.waiting.push(folder);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Takes a folder and the number of its crew, waiting for one if need be; `None` when there will
    /// never be one again. `idle` is called once before waiting.
    pub fn take(&self, mut idle: impl FnMut()) -> Option<(usize, T)> {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if state.stopped || state.crews.iter().all(Crew::is_done) {
                self.changed.notify_all();
                return None;
            }
            for (number, crew) in state.crews.iter_mut().enumerate() {
                if crew.at_work < crew.allowed
                    && let Some(item) = crew.waiting.pop()
                {
                    crew.at_work += 1;
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

    /// Adds the folders found in one that was taken, and takes note that it is done. True if it was
    /// the last of its crew.
    pub fn done(&self, crew: usize, found: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        let Some(crew) = state.crews.get_mut(crew) else {
            return false;
        };
        crew.at_work -= 1;
        let news = found.len();
        found.reverse();
        crew.waiting.append(found);
        let over = crew.is_done();
        drop(state);
        if over || news > 1 {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
        over
    }

    /// Lets one more walker work in a crew, up to its number.
    pub fn allow_more(&self, crew: usize) {
        let mut state = self.lock();
        let crew = state.crews.get_mut(crew);
        if let Some(crew) = crew.filter(|crew| crew.allowed < crew.most) {
            crew.allowed += 1;
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Lets one more walker work in each crew, in the place of one that waits for a file system.
    pub fn allow_extra(&self) {
        let mut state = self.lock();
        for crew in &mut state.crews {
            crew.allowed += 1;
            crew.most += 1;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Folders that nobody took.
    pub fn left(&self) -> u64 {
        let state = self.lock();
        state
            .crews
            .iter()
            .map(|crew| crew.waiting.len() as u64)
            .sum()
    }

    /// Makes all walkers end as soon as they have done what they took.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crew_works_on_its_own_folders_only() {
        let queue = Queue::new([(1, 1), (1, 2)]);
        for (crew, folder) in [(0, "a"), (0, "b"), (1, "c"), (1, "d")] {
            queue.push(crew, folder);
        }
        assert_eq!(queue.take(|| ()), Some((0, "b")), "last in, first out");
        assert_eq!(
            queue.take(|| ()),
            Some((1, "d")),
            "the first crew is complete"
        );
        queue.allow_more(0);
        queue.allow_more(1);
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
}
