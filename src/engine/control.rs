//! What others may see of a run, and do to it, while it is under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Shared between a run and whoever watches it.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    lines: Mutex<Vec<ProgressLine>>,
}

/// How far one stage is on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressLine {
    /// `scan`, `head`, `tail`, `blocks`, `content` or `verify`.
    pub stage: &'static str,
    /// The device or volume, for people; empty for the scan.
    pub device: String,
    /// Files done.
    pub files_done: u64,
    /// Files known to be to do.
    pub files_total: u64,
    /// Bytes done.
    pub bytes_done: u64,
    /// Bytes known to be to do.
    pub bytes_total: u64,
    /// True if the totals will grow no more.
    pub total_is_final: bool,
}

impl Control {
    /// Asks the run to read no more and to report what is known so far.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far each stage is on each device.
    pub fn progress(&self) -> Vec<ProgressLine> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn publish(&self, lines: Vec<ProgressLine>) {
        *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = lines;
    }
}
