//! The order of the sets in a report.

use std::cmp::Reverse;

/// The order of sets. The path of the first file breaks ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetOrder {
    /// Sets that free most first, then those of the longest files.
    #[default]
    Reclaimable,
    /// Sets of the longest files first.
    Size,
    /// Sets of the most files first.
    Count,
    /// By the path of the first file.
    Path,
}

impl SetOrder {
    /// The sort key; the first set has the least key.
    pub fn key(self, set: &SetFacts) -> impl Ord + use<> {
        let &SetFacts {
            reclaimable,
            size,
            replicas,
        } = set;
        Reverse(match self {
            Self::Reclaimable => [reclaimable, size],
            Self::Size => [size, reclaimable],
            Self::Count => [replicas, reclaimable],
            Self::Path => [0, 0],
        })
    }
}

/// The properties by which sets are sorted.
#[derive(Clone, Copy, Debug)]
pub struct SetFacts {
    /// Bytes that are freed.
    pub reclaimable: u64,
    /// Length of each file.
    pub size: u64,
    /// Number of replicas.
    pub replicas: u64,
}
