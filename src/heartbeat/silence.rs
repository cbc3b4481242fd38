//! Which threads wait for a call that does not return, and for how long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Heartbeat;

/// The time after which a call without an answer is reported. A disk takes about as long to spin up.
pub const NAMED: Duration = Duration::from_secs(10);

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

    /// Compares the counts with those of the last look; returns the threads that have become silent.
    pub fn look(&mut self, heartbeats: &[Arc<Heartbeat>]) -> Vec<usize> {
        let step = self.looked.elapsed().min(STEP);
        self.looked = Instant::now();
        self.look_after(heartbeats, step)
    }

    fn look_after(&mut self, heartbeats: &[Arc<Heartbeat>], step: Duration) -> Vec<usize> {
        self.states.resize(heartbeats.len(), ThreadState::default());
        let mut become_silent = Vec::new();
        let mut any_silent = false;
        let mut any_at_work = false;
        for (at, (heartbeat, thread)) in heartbeats.iter().zip(&mut self.states).enumerate() {
            let (count, is_at_work) = heartbeat.count();
            any_at_work |= is_at_work;
            if count != thread.count || !is_at_work {
                self.moved |= count != thread.count;
                *thread = ThreadState {
                    count,
                    ..ThreadState::default()
                };
                heartbeat.set_silent(false);
                continue;
            }
            thread.quiet += step;
            if thread.quiet >= NAMED.min(self.patience) {
                any_silent = true;
                if !heartbeat.is_silent() {
                    become_silent.push(at);
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
        become_silent
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
            for at in silence.look_after(&watchlist.heartbeats(), SECOND) {
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
        silence.look_after(&watchlist.heartbeats(), SECOND);
        assert!(!stuck.is_silent() && silence.quiet == Duration::ZERO);
        for seconds in 1..10 {
            assert!(
                silence
                    .look_after(&watchlist.heartbeats(), SECOND)
                    .is_empty()
            );
            assert_eq!(silence.still(), seconds * SECOND);
        }
        assert_eq!(
            silence.look_after(&watchlist.heartbeats(), SECOND),
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
}
