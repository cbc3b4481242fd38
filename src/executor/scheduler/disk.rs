//! A disk with an executor of its own: what waits for its head, and one reader.

use crate::executor::elevator::Elevator;
use crate::executor::fold::Fold;
use crate::executor::pool::Pool;
use crate::executor::task::{Batch, Kind};

use super::request::{Request, stamp};
use super::volume::AHEAD;

/// A disk with its own executor.
pub(super) struct Disk<F: Fold> {
    samples: Elevator<(u16, Request)>,
    bulk: Elevator<(u16, Request)>,
    in_flight: usize,
    window: usize,
    /// Who reads it.
    pub pool: Pool<F>,
}

impl<F: Fold> Disk<F> {
    /// A disk that keeps so many reads in flight.
    pub fn new(pool: Pool<F>, reads: usize) -> Self {
        Self {
            samples: Elevator::default(),
            bulk: Elevator::default(),
            in_flight: 0,
            window: reads * AHEAD,
            pool,
        }
    }

    /// Takes a request for what lies at this position.
    pub fn push(&mut self, position: u64, volume: u16, request: Request) {
        let elevator = match request.bulk {
            true => &mut self.bulk,
            false => &mut self.samples,
        };
        elevator.push(position, (volume, request));
    }

    /// True if nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.bulk.is_empty()
    }

    /// Forgets all that waits.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.bulk.clear();
    }

    /// Takes note that a read has ended.
    pub fn ended(&mut self) {
        self.in_flight -= 1;
    }

    /// The next tasks in the order of the disk, if there is room for them. `describe` adds a
    /// request's task, `begun` hears of each.
    pub fn next_batch(
        &mut self,
        describe: &mut dyn FnMut(Request, &mut Batch),
        mut begun: impl FnMut(u16, Request),
    ) -> Option<Batch> {
        if self.in_flight > self.window / 2 {
            return None;
        }
        let mut batch = Batch::default();
        while self.in_flight < self.window {
            let next = match batch.tasks.is_empty() || batch.kind == Kind::Scattered {
                true => self.samples.pop(),
                false => None,
            };
            let next = next.or_else(
                || match batch.tasks.is_empty() || batch.kind == Kind::Bulk {
                    true => self.bulk.pop(),
                    false => None,
                },
            );
            let Some((v, request)) = next else {
                break;
            };
            batch.kind = match request.bulk {
                true => Kind::Bulk,
                false => Kind::Scattered,
            };
            describe(request, &mut batch);
            stamp(&mut batch, request, v.into(), false);
            self.in_flight += 1;
            begun(v, request);
        }
        (!batch.tasks.is_empty()).then_some(batch)
    }
}
