//! The threads that get no answer from a file system.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::device::{Mounts, VolumeId};
use crate::heartbeat;

/// The threads that call file systems, and the messages about them.
pub struct Silence {
    pub counts: heartbeat::Silence,
    /// File systems that were reported as waited for.
    pub named: HashSet<PathBuf>,
    /// File systems that the run gave up on.
    pub given_up: HashSet<PathBuf>,
    /// The mounts at the time when the run last gave up on one.
    pub mounts: Mounts,
    /// The volume of each thread that has a substitute, by the thread's place in the watchlist.
    pub substituted: HashMap<usize, VolumeId>,
    /// When the user interrupted the run.
    pub interrupted: Option<Instant>,
}

impl Silence {
    pub fn new(patience: Duration) -> Self {
        Self {
            counts: heartbeat::Silence::new(patience),
            named: HashSet::new(),
            given_up: HashSet::new(),
            mounts: Mounts::default(),
            substituted: HashMap::new(),
            interrupted: None,
        }
    }

    /// True if the run gave up on a file system.
    pub fn is_any_given_up(&self) -> bool {
        !self.given_up.is_empty()
    }
}
