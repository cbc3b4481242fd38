//! The threads that get no answer from a file system.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::device::Mounts;
use crate::heartbeat;

/// The threads that call file systems, and the messages about them.
pub struct Silence {
    pub counts: heartbeat::Silence,
    /// File systems that were reported.
    pub named: HashSet<PathBuf>,
    /// The mounts at the time when the run gave up on those that are [named](Self::named).
    pub mounts: Mounts,
    /// When the user interrupted the run.
    pub interrupted: Option<Instant>,
    /// The run no longer waits for calls in flight.
    pub is_over: bool,
}

impl Silence {
    pub fn new(patience: Duration) -> Self {
        Self {
            counts: heartbeat::Silence::new(patience),
            named: HashSet::new(),
            mounts: Mounts::default(),
            interrupted: None,
            is_over: false,
        }
    }

    /// Starts a new wait, for other calls.
    pub fn begin_again(&mut self) {
        self.is_over = false;
        self.counts.moved = true;
    }
}
