//! Which threads wait for a call that does not return, and for how long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Heartbeat;

/// The time after which a call without an answer is reported. A disk takes about as long to spin up.
const NAMED: Duration = Duration::from_secs(10);

/// Longest time that counts between two looks. While the run was stopped or the machine slept, no thread could answer.
const STEP: Duration = Duration::from_secs(1);

/// The threads that call file systems.
#[derive(Debug)]
pub struct Silence {
    /// How long a run waits while no other thread makes progress.
    patience: Duration,
    states: Vec<ThreadState>,
    looked: Instant,
    /// For how long nothing has moved while a thread was silent.
    quiet: Duration,
    /// For how long nothing has moved while a thread was at work.
    still: Duration,
    /// Something has moved since the last look.
    pub moved: bool,
}

/// The state of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadState {
    count: u32,
    /// For how long the count has stood still.
    quiet: Duration,
    /// The device that does not answer it.
    device: Option<u64>,
    /// Nobody waits for it any more.
    is_lost: bool,
}

/// What a look found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Threads that have become silent.
    pub silent: Vec<usize>,
    /// Threads that were silent and have their answer.
    pub answered: Vec<usize>,
}

impl Silence {
    /// Knows no threads yet. A run that waits only for silent threads gives up after this time.
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            states: Vec::new(),
            looked: Instant::now(),
            quiet: Duration::ZERO,
            still: Duration::ZERO,
            moved: false,
        }
    }

    /// Compares the counts with those of the last look.
    pub fn look(&mut self, heartbeats: &[Arc<Heartbeat>]) -> Looked {
        let step = self.looked.elapsed().min(STEP);
        self.looked = Instant::now();
        self.look_after(heartbeats, step)
    }

    fn look_after(&mut self, heartbeats: &[Arc<Heartbeat>], step: Duration) -> Looked {
        self.states.resize(heartbeats.len(), ThreadState::default());
        let mut looked = Looked::default();
        let mut any_silent = false;
        let mut any_at_work = false;
        for (at, (heartbeat, thread)) in heartbeats.iter().zip(&mut self.states).enumerate() {
            let (count, is_at_work) = heartbeat.count();
            any_at_work |= is_at_work && !thread.is_lost;
            if count != thread.count || !is_at_work {
                self.moved |= count != thread.count;
                *thread = ThreadState {
                    count,
                    ..ThreadState::default()
                };
                if heartbeat.is_silent() {
                    looked.answered.push(at);
                }
                heartbeat.set_silent(false);
                continue;
            }
            thread.quiet += step;
            if thread.quiet >= NAMED.min(self.patience) {
                any_silent |= !thread.is_lost && !heartbeat.is_limited();
                if !heartbeat.is_silent() {
                    looked.silent.push(at);
                }
            }
        }
        let moved = std::mem::take(&mut self.moved);
        let longer = |so_far: Duration, counts| match counts && !moved {
            true => so_far + step,
            false => Duration::ZERO,
        };
        self.quiet = longer(self.quiet, any_silent);
        self.still = longer(self.still, any_at_work);
        looked
    }

    /// Gives up on the silent threads: they count again when they move. Returns those that were not given up before.
    pub fn give_up(&mut self, heartbeats: &[Arc<Heartbeat>]) -> Vec<usize> {
        let mut lost = Vec::new();
        for (at, (heartbeat, thread)) in heartbeats.iter().zip(&mut self.states).enumerate() {
            if heartbeat.is_silent() && !std::mem::replace(&mut thread.is_lost, true) {
                lost.push(at);
            }
        }
        self.quiet = Duration::ZERO;
        lost
    }

    /// True if nothing but silent threads has been waited for long enough.
    pub fn is_too_long(&self) -> bool {
        self.quiet >= self.patience
    }

    /// For how long no thread has moved, while one was at work.
    pub fn still(&self) -> Duration {
        self.still
    }

    /// The threads at work whose count has stood still the longest, with that time.
    pub fn longest(&self) -> Option<(usize, Duration)> {
        let waits = self.states.iter().map(|thread| thread.quiet).enumerate();
        waits
            .filter(|(_, quiet)| !quiet.is_zero())
            .max_by_key(|(_, quiet)| *quiet)
    }

    /// Takes note of the device that a thread waits for.
    pub fn set_device(&mut self, at: usize, device: Option<u64>) {
        self.states[at].device = device;
    }

    /// The devices that silent threads wait for.
    pub fn devices(&self) -> Vec<u64> {
        self.states
            .iter()
            .filter_map(|thread| thread.device)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heartbeat::{Subject, Watchlist};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_moves_or_rests_is_not_silent() {
        let watchlist = Watchlist::default();
        let [stuck, busy, idle] = [0; 3].map(|_| watchlist.admit(Subject::Volume));
        let mut silence = Silence::new(60 * SECOND);
        stuck.beat();
        idle.beat();
        idle.rest();
        let mut named = Vec::new();
        for _ in 0..100 {
            busy.beat();
            for at in silence.look_after(&watchlist.heartbeats(), SECOND).silent {
                named.push(at);
                watchlist.heartbeats()[at].set_silent(true);
            }
            assert_eq!(silence.quiet, Duration::ZERO, "one still works");
            assert_eq!(silence.still(), Duration::ZERO);
        }
        assert_eq!(named, [0], "once");
        assert_eq!(silence.longest(), Some((0, 99 * SECOND)));
        busy.rest();
        for seconds in 0..60 {
            assert!(silence.quiet <= seconds * SECOND);
            silence.look_after(&watchlist.heartbeats(), SECOND);
        }
        assert!(silence.quiet >= 59 * SECOND);
        stuck.beat();
        let looked = silence.look_after(&watchlist.heartbeats(), SECOND);
        assert_eq!(looked.answered, [0]);
        assert!(!stuck.is_silent() && silence.quiet == Duration::ZERO);
        for seconds in 1..10 {
            assert!(
                silence
                    .look_after(&watchlist.heartbeats(), SECOND)
                    .silent
                    .is_empty()
            );
            assert_eq!(silence.still(), seconds * SECOND);
        }
        assert_eq!(
            silence.look_after(&watchlist.heartbeats(), SECOND).silent,
            [0],
            "again"
        );
        // What is read or found by others counts as well.
        silence.moved = true;
        silence.look_after(&watchlist.heartbeats(), SECOND);
        assert_eq!(silence.quiet, Duration::ZERO);
        stuck.rest();
        silence.look_after(&watchlist.heartbeats(), SECOND);
        silence.look_after(&watchlist.heartbeats(), SECOND);
        assert_eq!(silence.still(), Duration::ZERO, "who rests is not stuck");
        assert_eq!(silence.longest(), None);
    }

    #[test]
    fn who_was_given_up_counts_again_when_it_moves() {
        let watchlist = Watchlist::default();
        let [first, second] = [0; 2].map(|_| watchlist.admit(Subject::Volume));
        let mut silence = Silence::new(5 * SECOND);
        let look = |silence: &mut Silence, seconds| {
            for _ in 0..seconds {
                let heartbeats = watchlist.heartbeats();
                for at in silence.look_after(&heartbeats, SECOND).silent {
                    heartbeats[at].set_silent(true);
                }
            }
        };
        first.beat();
        look(&mut silence, 11);
        assert!(silence.is_too_long());
        assert_eq!(silence.give_up(&watchlist.heartbeats()), [0]);
        look(&mut silence, 20);
        assert!(!silence.is_too_long(), "nobody waits for it");
        assert_eq!(silence.still(), Duration::ZERO);
        second.beat();
        look(&mut silence, 11);
        assert!(silence.is_too_long());
        assert_eq!(silence.give_up(&watchlist.heartbeats()), [1], "only once");
        first.beat();
        look(&mut silence, 11);
        assert!(silence.is_too_long());
        assert_eq!(silence.give_up(&watchlist.heartbeats()), [0]);
    }
}
