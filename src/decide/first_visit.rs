//! The rule that decides when a file is read as a whole on the first visit.
//!
//! A second visit costs an open call and the overhead of a task. This cost equals that of reading a number of further
//! bytes, called visit. But the further bytes are read in vain if the first ones tell the file from all others already.
//! With P the chance that they do not, reading on wastes (1 - P) · rest and saves P · visit.

use super::rules::HEAD;

/// The cost of a second visit without a seek, in bytes. A guess: opening a cached file, reading 4 KiB, checking it and
/// closing it takes 4 µs in a bare loop, besides the cost of a task.
const VISIT: u64 = 16 << 10;

/// Longer files are never read whole before they were sampled: samples find out whether files are cached and best
/// compared with each other. Cached, 200,000 files in three snapshots took 1.00 of the time with 32 KiB, 0.97 with 64
/// and 0.93 with 128.
const LONGEST: u64 = 128 << 10;

/// The rule for the first visit.
#[derive(Clone, Copy, Debug)]
pub struct FirstVisit {
    /// The cost of a second visit, in bytes that could be read, hashed and compared in the same time.
    pub visit: u64,
}

impl Default for FirstVisit {
    /// The rule where visits cost no seek.
    fn default() -> Self {
        Self { visit: VISIT }
    }
}

impl FirstVisit {
    /// True if files of this size are best read as a whole at once, given the chance that a file's head equals the head
    /// of another file.
    pub(super) fn reads_whole(self, size: u64, odds: f64) -> bool {
        if size <= HEAD || size > LONGEST {
            return size <= HEAD;
        }
        (1.0 - odds) * ((size - HEAD) as f64) <= odds * self.visit as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_files_are_always_read_whole_and_long_ones_never() {
        for odds in [0.0, 0.5, 1.0] {
            assert!(FirstVisit { visit: 0 }.reads_whole(HEAD, odds));
            assert!(!FirstVisit::default().reads_whole(LONGEST + 1, odds));
        }
    }

    #[test]
    fn in_between_the_odds_decide() {
        let rule = FirstVisit { visit: HEAD };
        assert!(rule.reads_whole(2 * HEAD, 0.5), "as much to win as to lose");
        assert!(!rule.reads_whole(2 * HEAD, 0.4));
        assert!(!rule.reads_whole(3 * HEAD, 0.5));
        assert!(rule.reads_whole(3 * HEAD, 0.7));
    }
}
