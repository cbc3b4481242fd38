//! A disk with an executor of its own: what waits for its head, and one reader.

use std::time::Instant;

use crate::read::elevator::Elevator;
use crate::read::fold::Fold;
use crate::read::pool::Pool;
use crate::read::task::{Batch, Completion, Kind, Outcome};
use crate::sys::fiemap::Pieces;

use super::evidence::{Evidence, FAR, TRIALS, Trial};
use super::fragments::UnderWay;
use super::request::{Asker, Request, Visit, stamp};
use super::volume::AHEAD;

/// A disk with its own executor.
pub(super) struct Disk<F: Fold> {
    /// What waits for the head to come by, whatever is to be read.
    waiting: Elevator<Waiting>,
    in_flight: usize,
    under_way: UnderWay,
    window: usize,
    /// Set while it is not known whether there is a head.
    trying: Option<Trying>,
    /// Who reads it.
    pub pool: Pool<F>,
}

/// A request in the elevator.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// Number of its volume.
    pub volume: u16,
    /// In how many pieces its file lies, where that is known.
    pub pieces: Option<Pieces>,
    /// What is asked for.
    pub request: Request,
}

/// What a disk has to tell of a read that has ended.
pub(super) struct Ended {
    /// What it shows about the disk.
    pub evidence: Option<Evidence>,
    /// The pieces of the file, if it was read as a whole and they are known.
    pub pieces: Option<Pieces>,
}

/// Lone reads from far places, before the first sweep.
#[derive(Default)]
struct Trying {
    trial: Trial,
    /// Where to read next, and how far from there the next place is; none before the first.
    next: Option<(u64, u64)>,
    /// When the read under way was handed over.
    since: Option<Instant>,
}

impl<F: Fold> Disk<F> {
    /// A disk that keeps so many reads in flight.
    pub fn new(pool: Pool<F>, reads: usize) -> Self {
        Self {
            waiting: Elevator::default(),
            in_flight: 0,
            under_way: UnderWay::default(),
            window: reads * AHEAD,
            trying: None,
            pool,
        }
    }

    /// Takes a request for what lies at this position.
    pub fn push(&mut self, position: u64, waiting: Waiting) {
        self.waiting.push(position, waiting);
    }

    /// How many requests wait here.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// True if nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets all that waits.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Lets the first reads find out whether there is a head.
    pub fn trial(&mut self) {
        self.trying = Some(Trying::default());
    }

    /// True while it is not known whether there is a head.
    pub fn is_tasting(&self) -> bool {
        self.trying.is_some()
    }

    /// Takes all that waits, with its positions.
    pub fn take_all(&mut self) -> impl Iterator<Item = (u64, Waiting)> + use<F> {
        self.waiting.take_all()
    }

    /// Takes note that a read has ended.
    pub fn ended(&mut self, completion: &Completion<F::Digest>) -> Ended {
        self.in_flight -= 1;
        let pieces = self.under_way.ended(completion);
        let was_read = matches!(completion.outcome, Outcome::Read { cached: false, .. });
        let evidence = self.tried(was_read);
        if evidence.is_some() {
            self.trying = None;
        }
        Ended { evidence, pieces }
    }

    /// What the end of a lone read shows, if it was one.
    fn tried(&mut self, was_read: bool) -> Option<Evidence> {
        let trying = self.trying.as_mut()?;
        let took = trying.since.take()?.elapsed();
        was_read.then(|| trying.trial.read(took)).flatten()
    }

    /// The next request to be tried, which is read alone; `None` when there is no more evidence to
    /// be had.
    fn next_trial(&mut self) -> Option<Waiting> {
        let (first, last) = self.waiting.span()?;
        let trying = self.trying.as_mut()?;
        let step = (last - first) / TRIALS as u64;
        let (place, step) = trying.next.unwrap_or((first, step));
        let request = (step >= FAR)
            .then(|| self.waiting.pop_from(place))
            .flatten();
        trying.next = Some((place + step, step));
        trying.since = request.is_some().then(Instant::now);
        request
    }

    /// The next tasks in the order of the disk, if there is room for them. `is_ready` says that
    /// no request is on its way here and, for lone reads, that nobody else reads; `begun` hears of each that begins.
    pub fn next_batch(
        &mut self,
        is_ready: bool,
        asker: &mut dyn Asker,
        mut begun: impl FnMut(u16, Request),
    ) -> Option<Batch> {
        if self.in_flight > self.window / 2 {
            return None;
        }
        // A sweep begins when all it could meet is in its place: one more would cost a turn of
        // the disk for each request that came late.
        if !is_ready && (self.is_tasting() || !self.waiting.is_sweeping()) {
            return None;
        }
        let mut batch = Batch {
            kind: Kind::Bulk,
            ..Batch::default()
        };
        if self.is_tasting() {
            if self.in_flight > 0 {
                return None;
            }
            if let Some(waiting) = self.next_trial() {
                self.begin(waiting, asker, &mut batch);
                begun(waiting.volume, waiting.request);
                return Some(batch);
            }
            if !self.waiting.is_empty() {
                self.trying = None;
            }
        }
        while self.in_flight < self.window
            && let Some(mut waiting) = self.waiting.pop()
        {
            waiting.request = asker.revise(waiting.volume.into(), waiting.request);
            self.begin(waiting, asker, &mut batch);
            begun(waiting.volume, waiting.request);
        }
        (!batch.tasks.is_empty()).then_some(batch)
    }

    fn begin(&mut self, waiting: Waiting, asker: &mut dyn Asker, batch: &mut Batch) {
        let Waiting {
            volume,
            pieces,
            request,
        } = waiting;
        asker.describe(request, batch);
        stamp(batch, request, volume.into(), Visit::Swept);
        self.under_way.begun(batch.tasks.last(), pieces);
        self.in_flight += 1;
    }
}
