//! Progress and control of a measurement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Shared by the thread that measures and the one that shows progress.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    stage: Mutex<Stage>,
}

/// The current stage.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// The experiment's name, or what is prepared.
    pub name: &'static str,
    /// The point being measured.
    pub detail: String,
    /// When measuring began and when it will be over; `None` before.
    pub span: Option<(Instant, Instant)>,
}

impl Control {
    /// Asks the measurement to end; what is known by then is reported.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True if it was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// True if it was asked to end, or the time is over.
    pub(super) fn is_over(&self, until: Instant) -> bool {
        self.is_cancelled() || Instant::now() >= until
    }

    /// The current stage.
    pub fn stage(&self) -> Stage {
        let stage = self.stage.lock();
        stage.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Stage)) {
        change(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
