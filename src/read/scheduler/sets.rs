//! Sets of files whose every byte is compared, wherever the files lie.

use std::collections::{HashMap, HashSet};

use crate::device::VolumeId;
use crate::read::elevator::Elevator;
use crate::read::task::Ticket;

use super::job::Job;
use super::volume::DiskIndex;

/// The reader of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum By {
    /// The pool for whole files.
    Pool,
    /// The pool of a volume with pools of its own.
    OwnPool(VolumeId),
    /// A disk's executor.
    Disk(DiskIndex),
}

/// Files, each with its volume.
pub(super) type Set<W> = Vec<(VolumeId, Job<W>)>;

/// The waiting and the running comparisons.
pub(super) struct Sets<W> {
    waiting: HashMap<By, Elevator<Set<W>>>,
    /// The reader of each set, by the ticket of the first file.
    under_way: HashMap<Ticket, By>,
}

impl<W> Default for Sets<W> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
            under_way: HashMap::new(),
        }
    }
}

impl<W> Sets<W> {
    /// Takes a set. Sets with one reader come in the order of their positions.
    pub fn push(&mut self, by: By, position: u64, set: Set<W>) {
        self.waiting.entry(by).or_default().push(position, set);
    }

    /// The readers with work.
    pub fn readers(&self) -> Vec<By> {
        let waiting = self.waiting.iter();
        let waiting = waiting.filter(|(_, sets)| !sets.is_empty());
        waiting.map(|(&by, _)| by).collect()
    }

    /// The next set for a reader that may compare this many sets at a time.
    pub fn next(&mut self, by: By, most: usize) -> Option<Set<W>> {
        if self.under_way.values().filter(|&&at| at == by).count() >= most {
            return None;
        }
        self.waiting.get_mut(&by)?.pop()
    }

    /// Records that a reader has a set, whose first file has this ticket.
    pub fn begun(&mut self, first: Ticket, by: By) {
        self.under_way.insert(first, by);
    }

    /// Records that a file was compared.
    pub fn ended(&mut self, ticket: Ticket) {
        self.under_way.remove(&ticket);
    }

    /// The number of waiting files.
    pub fn waiting(&self) -> usize {
        let sets = self.waiting.values().flat_map(Elevator::iter);
        sets.map(Vec::len).sum()
    }

    /// Takes all waiting sets, each with its position.
    pub fn take_all(&mut self) -> Vec<(u64, Set<W>)> {
        let waiting = std::mem::take(&mut self.waiting).into_values();
        waiting.flat_map(|mut sets| sets.take_all()).collect()
    }

    /// Takes the sets from their readers; returns the readers.
    pub fn take_under_way(&mut self) -> HashSet<By> {
        self.under_way.drain().map(|(_, by)| by).collect()
    }
}
