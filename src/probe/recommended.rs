//! The settings that a measurement recommends.

use serde::Serialize;

use crate::device::{Order, Policy, Pools};

/// The inputs of the advice besides the measurements.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// How the volume is read now.
    pub policy: Policy,
    /// What names this volume in a setting of threads: `dev:sda`, `fuse`.
    pub selector: &'a str,
    /// Processors.
    pub cores: usize,
}

/// The recommended settings, and the expected gain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// True if the disk is rotational.
    pub rotational: bool,
    /// Threads for scattered reads.
    pub random_threads: usize,
    /// Scattered reads that each of them keeps in flight.
    pub depth: usize,
    /// Whole files read at a time.
    pub streams: usize,
    /// Threads that ask for metadata, if that was measured.
    pub metadata_threads: Option<usize>,
    /// True if reads go across the disk in its own order.
    pub physical_order: bool,
    /// A seek, seconds, if it was measured.
    pub seek_seconds: Option<f64>,
    /// Bytes a second of one stream, if that was measured.
    pub bytes_per_second: Option<f64>,
    /// The options that set these numbers, if the caller has options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The expected gains.
    pub gains: Vec<Gain>,
    /// Why.
    pub reasons: Vec<String>,
}

impl Advice {
    /// The numbers for a profile.
    pub fn pools(&self) -> Pools {
        Pools {
            random_threads: self.random_threads,
            depth: self.depth,
            sequential_streams: self.streams,
            metadata_threads: self.metadata_threads,
            order: match self.physical_order {
                true => Order::Physical,
                false => Order::Arrival,
            },
        }
    }
}

/// One kind of work, now and as advised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// Which work.
    pub what: &'static str,
    /// Its rate with the policy in force.
    pub now: f64,
    /// Its rate as advised.
    pub advised: f64,
    /// Of what: `reads/s`, `MB/s`.
    pub unit: &'static str,
}

impl Gain {
    /// How many times as fast.
    pub fn factor(&self) -> f64 {
        self.advised / self.now
    }
}
