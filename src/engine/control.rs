//! Progress and control of a run, for other threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// State shared between a run and its observers.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    lines: Mutex<Vec<ProgressLine>>,
}

/// The progress of one stage on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ProgressLine {
    /// `scan`, `head`, `tail`, `blocks`, `content` or `verify`.
    pub stage: &'static str,
    /// The device or volume, for people; empty for the scan.
    pub device: String,
    /// Number of files done.
    pub files_done: u64,
    /// Number of files known so far that the stage has to process.
    pub files_total: u64,
    /// Number of bytes done.
    pub bytes_done: u64,
    /// Number of bytes known so far that the stage has to process.
    pub bytes_total: u64,
    /// True if the totals are final.
    pub total_is_final: bool,
}

impl Control {
    /// A control with a flag that other threads may set to end the run.
    pub fn stopped_by(stop: Arc<AtomicBool>) -> Self {
        Self {
            stop,
            ..Self::default()
        }
    }

    /// Asks the run to stop reading and to report the results so far.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The progress of each stage on each device.
    pub fn progress(&self) -> Vec<ProgressLine> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// True once the run was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn publish(&self, lines: Vec<ProgressLine>) {
        *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = lines;
    }
}
