//! Ends work early from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a search, a plan that is carried out, an undo or a measurement early.
///
/// Clones share one state, so that one of them can be kept by another thread or by a signal handler. What was done and
/// found before the end counts: no answer is wrong, and no step is left half done.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Not cancelled yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everything that holds a clone to end. Takes effect within about a tenth of a second in a search, and after
    /// the current portion of steps in an action.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }
}

/// Calls a function when it goes, also when a callback of the caller panics: work on another thread ends then, instead
/// of being waited for.
pub(super) struct WhenLeft<F: Fn()>(pub F);

impl<F: Fn()> Drop for WhenLeft<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
