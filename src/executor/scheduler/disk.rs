//! A disk with an executor of its own: what waits for its head, and one reader.

use crate::executor::elevator::Elevator;
use crate::executor::fold::Fold;
use crate::executor::pool::Pool;
use crate::executor::task::{Batch, Kind};

use super::request::{Asker, Request, stamp};
use super::volume::AHEAD;

/// A disk with its own executor.
pub(super) struct Disk<F: Fold> {
    /// What waits for the head to come by, whatever is to be read.
    waiting: Elevator<(u16, Request)>,
    in_flight: usize,
    window: usize,
    /// Who reads it.
    pub pool: Pool<F>,
}

impl<F: Fold> Disk<F> {
    /// A disk that keeps so many reads in flight.
    pub fn new(pool: Pool<F>, reads: usize) -> Self {
        Self {
            waiting: Elevator::default(),
            in_flight: 0,
            window: reads * AHEAD,
            pool,
        }
    }

    /// Takes a request for what lies at this position.
    pub fn push(&mut self, position: u64, volume: u16, request: Request) {
        self.waiting.push(position, (volume, request));
    }

    /// True if nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets all that waits.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Takes note that a read has ended.
    pub fn ended(&mut self) {
        self.in_flight -= 1;
    }

    /// The next tasks in the order of the disk, if there is room for them. `all_placed` says that
    /// no request is on its way here; `begun` hears of each that begins.
    pub fn next_batch(
        &mut self,
        all_placed: bool,
        asker: &mut dyn Asker,
        mut begun: impl FnMut(u16, Request),
    ) -> Option<Batch> {
        if self.in_flight > self.window / 2 {
            return None;
        }
        // A sweep begins when all it could meet is in its place: one more would cost a turn of
        // the disk for each request that came late.
        if !all_placed && !self.waiting.is_sweeping() {
            return None;
        }
        let mut batch = Batch {
            kind: Kind::Bulk,
            ..Batch::default()
        };
        while self.in_flight < self.window
            && let Some((v, request)) = self.waiting.pop()
        {
            let request = asker.revise(v.into(), request);
            asker.describe(request, &mut batch);
            stamp(&mut batch, request, v.into(), false);
            self.in_flight += 1;
            begun(v, request);
        }
        (!batch.tasks.is_empty()).then_some(batch)
    }
}
