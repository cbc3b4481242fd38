//! Folders waiting to be listed, shared by the walkers.
//!
//! Last in, first out: the folders that wait are then few (one path's siblings instead of one
//! level's), and a folder's parent is likely to be still open. It ends when no folder waits and no
//! walker is listing one, for only a walker at work can add folders.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The queue.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: Vec<T>,
    /// Walkers that may still add folders.
    at_work: usize,
    /// Walkers that are allowed to work; the others sleep.
    allowed: usize,
    stopped: bool,
}

impl<T> Queue<T> {
    /// A queue with these folders, for so many walkers at first.
    pub fn new(waiting: Vec<T>, allowed: usize) -> Self {
        Self {
            state: Mutex::new(State {
                waiting,
                at_work: 0,
                allowed,
                stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a folder, waiting for one if need be; `None` when there will never be one again.
    /// `idle` is called once before waiting.
    pub fn take(&self, mut idle: impl FnMut()) -> Option<T> {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if state.stopped || (state.waiting.is_empty() && state.at_work == 0) {
                self.changed.notify_all();
                return None;
            }
            if state.at_work < state.allowed
                && let Some(item) = state.waiting.pop()
            {
                state.at_work += 1;
                return Some(item);
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

    /// Adds the folders found in one that was taken, and takes note that it is done.
    pub fn done(&self, found: &mut Vec<T>) {
        let mut state = self.lock();
        state.at_work -= 1;
        let news = found.len();
        state.waiting.append(found);
        let over = state.waiting.is_empty() && state.at_work == 0;
        drop(state);
        if over || news > 1 {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }

    /// Lets one more walker work, up to `most`.
    pub fn allow_more(&self, most: usize) {
        let mut state = self.lock();
        if state.allowed < most {
            state.allowed += 1;
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Makes all walkers end as soon as they have done what they took.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}
