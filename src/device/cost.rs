//! The costs of a spinning disk: of a seek, and of each byte that passes under the head.

/// The two prices of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Microseconds from one place to another, on average, turn of the platter included.
    pub seek_us: u64,
    /// Bytes a second while reading on.
    pub bytes_per_second: u64,
}

impl Cost {
    /// A disk of 7,200 rpm of which nothing was measured: a seek costs about as much as
    /// reading 1 MB.
    pub const SPINNING: Self = Self {
        seek_us: 8_000,
        bytes_per_second: 130_000_000,
    };

    /// True if a file is better read on at once, when its head is read anyway.
    ///
    /// `odds` is the chance that the rest will be wanted. Reading on wastes `left` bytes if it is
    /// not; otherwise it saves the way back. At even odds that is about 1 MB, at 9 in 10 about 10.
    pub fn is_read_on(&self, left: u64, odds: f64) -> bool {
        let wasted = (1.0 - odds) * left as f64 / self.bytes_per_second as f64;
        let saved = odds * self.seek_us as f64 / 1e6;
        wasted < saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    #[test]
    fn the_better_the_odds_the_more_is_read_on() {
        for (odds, reads, leaves) in [
            (0.02, 4096, MB),
            (0.5, MB, 2 * MB),
            (0.9, 9 * MB, 11 * MB),
            (0.98, 40 * MB, 60 * MB),
        ] {
            assert!(Cost::SPINNING.is_read_on(reads, odds), "{reads} at {odds}");
            assert!(
                !Cost::SPINNING.is_read_on(leaves, odds),
                "{leaves} at {odds}"
            );
        }
        assert!(!Cost::SPINNING.is_read_on(1, 0.0), "in vain for certain");
        assert!(
            Cost::SPINNING.is_read_on(u64::MAX, 1.0),
            "wanted for certain"
        );
    }

    #[test]
    fn a_disk_with_dear_seeks_reads_on_further() {
        let slow = Cost {
            seek_us: 16_000,
            ..Cost::SPINNING
        };
        let left = 3 * MB / 2;
        assert!(slow.is_read_on(left, 0.5) && !Cost::SPINNING.is_read_on(left, 0.5));
    }
}
