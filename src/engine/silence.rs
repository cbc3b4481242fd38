//! What the run knows of file systems that do not answer.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::device::{Mounts, VolumeId};
use crate::heartbeat::Heartbeat;

/// What the run knows of file systems that do not answer.
#[derive(Default)]
pub struct Silence {
    /// File systems that were reported as waited for.
    pub named: HashSet<PathBuf>,
    /// File systems that the run gave up on.
    pub given_up: HashSet<PathBuf>,
    /// The mounts at the time when the run last gave up on one.
    pub mounts: Mounts,
    /// Threads that have a substitute, and the volumes that they wait for.
    pub substituted: Vec<(Arc<Heartbeat>, VolumeId)>,
    /// When the user interrupted the run.
    pub interrupted: Option<Instant>,
}

impl Silence {
    /// True if the run gave up on a file system.
    pub fn is_any_given_up(&self) -> bool {
        !self.given_up.is_empty()
    }
}
