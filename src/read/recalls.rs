//! How often the scheduler took all batches from their readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A count that the scheduler raises and readers compare with that of their batch: a batch of an earlier count holds no
/// work any more.
#[derive(Clone, Debug, Default)]
pub struct Recalls(Arc<AtomicU32>);

impl Recalls {
    /// Recalls all batches so far.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The count for a new batch.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
