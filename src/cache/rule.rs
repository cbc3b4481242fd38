//! The rules that decide when a row may replace a read.

use std::time::Duration;

use super::row::{FileState, Row};

/// The properties that must be unchanged for a row to apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Size, time of modification and time of the last change.
    #[default]
    Change,
    /// Size and time of modification, which programs can set as they like.
    Modification,
}

/// The time for which a file must have been unchanged before a read of it counts.
///
/// A write through a memory map sets the times when the first byte of a page changes, and not again before the kernel
/// has written that page back: by default within 30 s (`vm.dirty_expire_centisecs`) and one round of the writeback
/// thread, 5 s (`vm.dirty_writeback_centisecs`). Until then, the bytes may change while the times stay. Where the
/// kernel tells, nothing is stored of files with dirty pages ([`Storing::IfClean`]). The margin remains for files about
/// which it does not tell, and for times that are coarser than they look.
pub const MARGIN: Duration = Duration::from_secs(60);

const SECOND_NS: i64 = 1_000_000_000;

/// True if a file in this state had been unchanged for long enough when a read of it began, so that a later change
/// leaves another state.
///
/// Times in whole seconds come from file systems that store no others: within one second, many changes leave one time.
pub fn is_settled(state: &FileState, began_ns: i64) -> bool {
    let margin = MARGIN.as_nanos() as i64;
    state.ctime_ns % SECOND_NS != 0 && state.ctime_ns.saturating_add(margin) < began_ns
}

/// Whether the results of reads of a file are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storing {
    /// They are not.
    Nothing,
    /// If no page of the file was dirty when the read began.
    IfClean,
    /// They are: its pages were written back long ago.
    All,
}

/// Whether the results of reads of a file in this state are stored. Pages that were dirtied before `clean_ns` have been
/// written back, if that moment is known.
pub fn storing(state: &FileState, by_path: bool, began_ns: i64, clean_ns: Option<i64>) -> Storing {
    if by_path {
        // The clock of its times may be another one.
        Storing::IfClean
    } else if !is_settled(state, began_ns) {
        Storing::Nothing
    } else if clean_ns.is_some_and(|clean_ns| state.ctime_ns < clean_ns) {
        Storing::All
    } else {
        Storing::IfClean
    }
}

/// An hour before now: pages that were dirtied before that have been written back. The kernel writes a page back once
/// it has been dirty for `dirty_expire_centisecs`, in the next round of its thread, every `dirty_writeback_centisecs`
/// (Documentation/admin-guide/sysctl/vm.rst). `None` if both together are more than ten minutes, if there are no
/// rounds, or if a setting cannot be read. The hour gives a slow disk six times as long.
pub fn clean_ns(now_ns: i64, setting: impl Fn(&str) -> Option<String>) -> Option<i64> {
    let centiseconds = |name| setting(name)?.trim().parse::<u32>().ok();
    let expire = centiseconds("dirty_expire_centisecs")?;
    let round = centiseconds("dirty_writeback_centisecs").filter(|round| *round > 0)?;
    let is_soon = expire.checked_add(round)? <= 10 * 60 * 100;
    is_soon.then_some(now_ns - 3600 * SECOND_NS)
}

/// True if the data that a run which began at `began_ns` read of a file in the state `was` applies to a file that is in
/// the state `is` now. After the clock was set back, no data applies that was read later than now.
pub fn holds(was: &FileState, began_ns: i64, is: &FileState, now_ns: i64) -> bool {
    was == is && is_settled(was, began_ns) && began_ns <= now_ns
}

/// True if the row applies except for the change time, which `chmod`, `chown` and further names set as well.
///
/// The inode number may have been given to another file, which got the times of the first one (`cp -p`): the times of
/// creation must be known and equal.
pub fn holds_by_mtime(row: &Row, is: &FileState, birth_ns: Option<i64>, now_ns: i64) -> bool {
    let is = FileState {
        ctime_ns: row.state.ctime_ns,
        ..*is
    };
    birth_ns.is_some() && row.birth_ns == birth_ns && holds(&row.state, row.began_ns, &is, now_ns)
}

/// Modification times before 1981 prove nothing: packages and archives set 1970, and FAT begins in 1980.
const FIRST_TIME_NS: i64 = 347_155_200 * SECOND_NS;

/// The state of a file that is identified by its path, when a run has examined it. Such a file may have no change time,
/// or one from another clock. In its place, the state has the moment at which a run first saw the file in this state.
///
/// `None` if no data can be stored for the file.
pub fn seen(is: &FileState, before: Option<&Row>, now_ns: i64) -> Option<FileState> {
    let before = before.map(|row| row.state);
    let first = before
        .filter(|was| was.ctime_ns <= now_ns && (was.size, was.mtime_ns) == (is.size, is.mtime_ns));
    let seen = FileState {
        ctime_ns: first.map_or(now_ns, |was| was.ctime_ns),
        ..*is
    };
    (is.mtime_ns >= FIRST_TIME_NS).then_some(seen)
}

/// True if the row of a file that is identified by its path applies: a run saw the file in its present state, a minute
/// before another run began that read it.
pub fn holds_by_path(row: &Row, is: &FileState, now_ns: i64) -> bool {
    let is = FileState {
        ctime_ns: row.state.ctime_ns,
        ..*is
    };
    is.mtime_ns >= FIRST_TIME_NS && holds(&row.state, row.began_ns, &is, now_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGED: i64 = 1_700_000_000_123_456_789;
    const MINUTE: i64 = 60 * SECOND_NS;
    const WAS: FileState = FileState {
        size: 7,
        mtime_ns: 5,
        ctime_ns: CHANGED,
    };

    #[test]
    fn every_field_of_the_state_counts() {
        let (began, now) = (CHANGED + MINUTE + 1, CHANGED + 2 * MINUTE);
        assert!(holds(&WAS, began, &WAS, now));
        let others = [
            FileState { size: 8, ..WAS },
            FileState { mtime_ns: 6, ..WAS },
            FileState {
                ctime_ns: CHANGED + 1,
                ..WAS
            },
        ];
        for is in others {
            assert!(!holds(&WAS, began, &is, now), "{is:?}");
        }
    }

    #[test]
    fn by_mtime_everything_but_the_ctime_counts() {
        let (began, now) = (CHANGED + MINUTE + 1, CHANGED + 2 * MINUTE);
        let mut row = Row::new(WAS, began);
        row.birth_ns = Some(4);
        let chowned = FileState {
            ctime_ns: now,
            ..WAS
        };
        assert!(holds_by_mtime(&row, &chowned, Some(4), now));
        assert!(!holds_by_mtime(&row, &chowned, Some(5), now));
        assert!(!holds_by_mtime(&row, &chowned, None, now));
        assert!(!holds_by_mtime(&row, &chowned, Some(4), began - 1));
        for is in [
            FileState { size: 8, ..chowned },
            FileState {
                mtime_ns: 6,
                ..chowned
            },
        ] {
            assert!(!holds_by_mtime(&row, &is, Some(4), now), "{is:?}");
        }
        let racy = Row {
            began_ns: CHANGED + MINUTE,
            ..row.clone()
        };
        assert!(!holds_by_mtime(&racy, &chowned, Some(4), now));
        row.birth_ns = None;
        assert!(!holds_by_mtime(&row, &chowned, None, now));
        assert!(!holds_by_mtime(&row, &chowned, Some(4), now));
    }

    #[test]
    fn by_path_a_file_must_have_been_seen_a_minute_before_it_was_read() {
        let is = FileState {
            mtime_ns: CHANGED,
            ..WAS
        };
        let first = seen(&is, None, CHANGED + 7).expect("is kept");
        assert_eq!(first.ctime_ns, CHANGED + 7);
        let at = |began| Row::new(first, began);
        // The run that saw it first began before that.
        assert!(!holds_by_path(&at(CHANGED), &is, CHANGED + 9 * MINUTE));
        assert_eq!(seen(&is, Some(&at(CHANGED)), CHANGED + MINUTE), Some(first));
        let later = CHANGED + 7 + MINUTE;
        assert!(!holds_by_path(&at(later), &is, CHANGED + 9 * MINUTE));
        assert!(holds_by_path(&at(later + 1), &is, later + 1));
        assert!(!holds_by_path(&at(later + 1), &is, later));
        for other in [
            FileState { size: 8, ..is },
            FileState {
                mtime_ns: CHANGED + 1,
                ..is
            },
        ] {
            assert!(!holds_by_path(&at(later + 1), &other, later + 1));
            let anew = seen(&other, Some(&at(later + 1)), later + 2);
            assert_eq!(anew.map(|state| state.ctime_ns), Some(later + 2));
        }
        // The clock was set back to before it was seen.
        let back = seen(&is, Some(&at(later + 1)), CHANGED + 6);
        assert_eq!(back.map(|state| state.ctime_ns), Some(CHANGED + 6));
    }

    #[test]
    fn a_time_of_modification_that_nobody_set_proves_nothing() {
        for (mtime_ns, counts) in [
            (0, false),
            (FIRST_TIME_NS - 1, false),
            (FIRST_TIME_NS, true),
        ] {
            let is = FileState { mtime_ns, ..WAS };
            assert_eq!(seen(&is, None, CHANGED).is_some(), counts);
            let row = Row::new(is, CHANGED + 2 * MINUTE);
            assert_eq!(holds_by_path(&row, &is, CHANGED + 2 * MINUTE), counts);
        }
    }

    #[test]
    fn a_read_counts_from_a_minute_after_the_last_change_on() {
        for (after, counts) in [(0, false), (MINUTE, false), (MINUTE + 1, true)] {
            assert_eq!(is_settled(&WAS, CHANGED + after), counts, "{after}");
        }
        let never = FileState {
            ctime_ns: i64::MAX,
            ..WAS
        };
        assert!(!is_settled(&never, i64::MAX));
    }

    #[test]
    fn dirty_pages_are_asked_for_unless_they_were_written_back_long_ago() {
        let began = CHANGED + 2 * MINUTE;
        for (by_path, began, clean_ns, expected) in [
            (false, CHANGED, Some(CHANGED + 1), Storing::Nothing),
            (false, began, None, Storing::IfClean),
            (false, began, Some(CHANGED), Storing::IfClean),
            (false, began, Some(CHANGED + 1), Storing::All),
            (true, began, Some(CHANGED + 1), Storing::IfClean),
            (true, CHANGED, None, Storing::IfClean),
        ] {
            assert_eq!(storing(&WAS, by_path, began, clean_ns), expected);
        }
    }

    #[test]
    fn pages_are_clean_after_an_hour_where_the_kernel_writes_them_within_ten_minutes() {
        for (expire, round, is_known) in [
            (Some("3000\n"), Some("500\n"), true),
            (Some("0\n"), Some("60000\n"), true),
            (Some("3000\n"), Some("0\n"), false),
            (Some("59501\n"), Some("500\n"), false),
            (Some("4294967295\n"), Some("500\n"), false),
            (Some("3000\n"), Some("soon\n"), false),
            (None, Some("500\n"), false),
            (Some("3000\n"), None, false),
        ] {
            let setting = |name: &str| match name {
                "dirty_expire_centisecs" => expire.map(str::to_owned),
                _ => round.map(str::to_owned),
            };
            let expected = is_known.then_some(CHANGED - 60 * MINUTE);
            assert_eq!(clean_ns(CHANGED, setting), expected, "{expire:?} {round:?}");
        }
    }

    #[test]
    fn whole_seconds_prove_nothing() {
        let coarse = FileState {
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
