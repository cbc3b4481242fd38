//! Problems of a run, kept for its caller.

use std::sync::Mutex;

use crate::event::{Notice, Observer, Problem};
use crate::lock::locked;

/// Keeps problems.
#[derive(Default)]
pub struct Problems(Mutex<Vec<Problem>>);

impl Problems {
    /// Those that came so far.
    pub fn take(&self) -> Vec<Problem> {
        std::mem::take(&mut locked(&self.0))
    }
}

impl Observer for Problems {
    fn problem(&self, problem: Problem) {
        locked(&self.0).push(problem);
    }

    fn notice(&self, notice: Notice) {
        tracing::info!("{}", notice.0);
    }
}
