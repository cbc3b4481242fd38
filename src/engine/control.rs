//! Progress and control of a run, for other threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shared between a run and whoever watches it.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    lines: Mutex<Vec<ProgressLine>>,
    asked: Mutex<Option<(PathBuf, Instant)>>,
}

/// While it lives, the run waits for an answer of the file system that a path lies on.
#[derive(Debug)]
pub(super) struct Asking<'a>(&'a Control);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        *self.0.asked() = None;
    }
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
    /// With a flag that others may set to end the run.
    pub fn stopped_by(stop: Arc<AtomicBool>) -> Self {
        Self {
            stop,
            ..Self::default()
        }
    }

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

    /// The path whose file system the run itself waits for, and how long it has done so. Until that answers, the run
    /// neither goes on nor ends.
    pub fn waits_for(&self) -> Option<(PathBuf, Duration)> {
        let asked = self.asked();
        asked
            .as_ref()
            .map(|(path, since)| (path.clone(), since.elapsed()))
    }

    fn asked(&self) -> MutexGuard<'_, Option<(PathBuf, Instant)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn asking(&self, path: &Path) -> Asking<'_> {
        *self.asked() = Some((path.to_owned(), Instant::now()));
        Asking(self)
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
