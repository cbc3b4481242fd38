//! Limits the memory for data in flight: data that was read ahead and not yet processed.
//!
//! The limit does not include the tables: they grow with the number of files.

use crate::device::Policy;
use crate::sys::process;
use crate::units::Bytes;

/// Minimum memory of a run: one folder, one sample and one step of a whole file at a time.
pub const LEAST: Bytes = Bytes(8_000_000);

/// Maximum share of the machine's memory that a run takes by default. The policies of devices stay far below it on all
/// but the smallest machines: 9 MB for two cores and a solid-state disk.
const SHARE: u64 = 32;

/// The usual number of threads that read past the page cache.
const PAST_CACHE: u64 = 16;

/// Bytes of a batch of found files on its way to the tables, with names of 30 bytes.
const BATCH: u64 = 64 << 10;

/// Bytes of a walker: its listing's buffer and the batch that it fills.
const WALKER: u64 = (64 << 10) + BATCH;

/// The limit of data in flight.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    bytes: Bytes,
    is_told: bool,
    /// The policy of the pools for the volumes so far.
    pools: Policy,
}

impl Memory {
    /// The given limit, or else a share of the machine's memory.
    pub fn new(told: Option<Bytes>) -> Self {
        let share = Bytes(process::total() / SHARE);
        Self {
            bytes: told.unwrap_or(share).max(LEAST),
            is_told: told.is_some(),
            pools: Policy::NOTHING,
        }
    }

    /// Number of batches that walkers may be ahead of the tables. With 64 instead of 16 nothing was faster, and 300,000
    /// files took 0.9 MB more.
    pub fn scan_ahead(&self) -> usize {
        (self.bytes.0 / 8 / BATCH).clamp(2, 16) as usize
    }

    /// Bytes of the buffer with which each thread reads past the page cache.
    pub fn past_cache(&self) -> u64 {
        self.bytes.0 / 8 / PAST_CACHE
    }

    /// Maximum number of walkers.
    pub fn walkers(&self) -> usize {
        (self.bytes.0 / 8 / WALKER).max(1) as usize
    }

    /// Cuts a volume's policy until its pools and the pools before it fit. The largest item is cut first.
    pub fn fit(&mut self, mut policy: Policy) -> Policy {
        let left = self.bytes.0 - self.bytes.0 / 8 * 3;
        while self.pools.max(policy).bytes_in_flight() > left
            && let Some(less) = policy.less()
        {
            policy = less;
        }
        self.pools = self.pools.max(policy);
        policy
    }

    /// As [`Self::fit`], for pools that serve one volume only: no other volume shares their memory.
    pub fn fit_apart(&mut self, policy: Policy) -> Policy {
        let others = std::mem::replace(&mut self.pools, Policy::NOTHING);
        let left = self.bytes.0 - self.bytes.0 / 8 * 3;
        let taken = others.bytes_in_flight().min(left / 2);
        let mut rest = Self {
            bytes: Bytes((self.bytes.0 - taken).max(LEAST.0)),
            ..*self
        };
        let policy = rest.fit(policy);
        let own = policy.bytes_in_flight() / 5 * 8;
        self.bytes = Bytes(self.bytes.0.saturating_sub(own).max(LEAST.0));
        self.pools = others;
        policy
    }

    /// A description of the limit, for people. `setting` is what the user can set.
    pub fn explain(&self, setting: &str) -> String {
        let why = match self.is_told {
            true => format!("set by {setting}"),
            false => format!("1/{SHARE} of the memory; {setting} changes it"),
        };
        format!("in flight: at most {} ({why})", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Policy = Policy {
        random_threads: 16,
        depth: 64,
        sequential_threads: 8,
        sequential_depth: 8,
        ..Policy::NOTHING
    };

    #[test]
    fn what_is_in_flight_fits_into_what_was_given() {
        for mebibytes in [8, 16, 33, 64, 500, 4096] {
            let given = Bytes(mebibytes << 20);
            let mut memory = Memory::new(Some(given));
            let one = memory.fit(LARGE);
            let other = memory.fit(Policy {
                random_threads: 64,
                depth: 2,
                ..LARGE
            });
            let scan =
                memory.scan_ahead() as u64 * BATCH + memory.walkers().min(64) as u64 * WALKER;
            let all = one.max(other).bytes_in_flight() + scan;
            assert!(all <= given.0, "{mebibytes} MiB: {all}, {one:?}, {other:?}");
            for policy in [one, other] {
                let Policy {
                    random_threads,
                    depth,
                    sequential_threads,
                    sequential_depth,
                    ..
                } = policy;
                let least = random_threads.min(depth).min(sequential_threads);
                assert!(least.min(sequential_depth) >= 1, "{policy:?}");
            }
        }
    }

    #[test]
    fn plenty_of_memory_cuts_nothing() {
        let mut memory = Memory::new(Some(Bytes(4 << 30)));
        assert_eq!(memory.fit(LARGE), LARGE);
    }
}
