//! When a row may answer in the place of a read.

use std::time::Duration;

use crate::file::Fingerprint;

/// How long a file must have been left alone before a read of it counts.
///
/// Who writes through a memory map sets the times when the first byte of a page changes, and not again before the kernel
/// has written that page back: by default within 30 s (`vm.dirty_expire_centisecs`) and one round of the writeback
/// thread, 5 s (`vm.dirty_writeback_centisecs`). Until then the bytes may change under times that stay.
pub const MARGIN: Duration = Duration::from_secs(60);

const SECOND_NS: i64 = 1_000_000_000;

/// What tells two states of one file apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Length, bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970. No call sets it.
    pub ctime_ns: i64,
}

impl From<&Fingerprint> for State {
    fn from(file: &Fingerprint) -> Self {
        Self {
            size: file.size,
            mtime_ns: file.mtime_ns,
            ctime_ns: file.ctime_ns,
        }
    }
}

/// True if a file in this state had been left alone when a read of it began, so that a later change leaves another state.
///
/// Times in whole seconds come from file systems that keep no others: within one second many changes leave one time.
pub fn is_settled(state: &State, began_ns: i64) -> bool {
    let margin = MARGIN.as_nanos() as i64;
    state.ctime_ns % SECOND_NS != 0 && state.ctime_ns.saturating_add(margin) < began_ns
}

/// True if what was read of a file in the state `was`, by a run that began then, holds for a file that is in the state
/// `is` now. After the clock was set back nothing holds that was read later than now.
pub fn holds(was: &State, began_ns: i64, is: &State, now_ns: i64) -> bool {
    was == is && is_settled(was, began_ns) && began_ns <= now_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGED: i64 = 1_700_000_000_123_456_789;
    const MINUTE: i64 = 60 * SECOND_NS;
    const WAS: State = State {
        size: 7,
        mtime_ns: 5,
        ctime_ns: CHANGED,
    };

    #[test]
    fn every_field_of_the_state_counts() {
        let (began, now) = (CHANGED + MINUTE + 1, CHANGED + 2 * MINUTE);
        assert!(holds(&WAS, began, &WAS, now));
        let others = [
            State { size: 8, ..WAS },
            State { mtime_ns: 6, ..WAS },
            State {
                ctime_ns: CHANGED + 1,
                ..WAS
            },
        ];
        for is in others {
            assert!(!holds(&WAS, began, &is, now), "{is:?}");
        }
    }

    #[test]
    fn a_read_counts_from_a_minute_after_the_last_change_on() {
        for (after, counts) in [(0, false), (MINUTE, false), (MINUTE + 1, true)] {
            assert_eq!(is_settled(&WAS, CHANGED + after), counts, "{after}");
        }
        let never = State {
            ctime_ns: i64::MAX,
            ..WAS
        };
        assert!(!is_settled(&never, i64::MAX));
    }

    #[test]
    fn whole_seconds_prove_nothing() {
        let coarse = State {
            ctime_ns: CHANGED / SECOND_NS * SECOND_NS,
            ..WAS
        };
        assert!(!is_settled(&coarse, CHANGED + 9 * MINUTE));
    }

    #[test]
    fn what_was_read_later_than_now_does_not_hold() {
        let began = CHANGED + 2 * MINUTE;
        assert!(holds(&WAS, began, &WAS, began));
        assert!(!holds(&WAS, began, &WAS, began - 1));
    }
}
