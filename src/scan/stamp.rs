//! Detects whether a folder changed after it was listed.

use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::sys::stat::{self, Stat};

use super::enter::numbering_of;

/// The maximum lag of a time stamp behind the clock on file systems with inodes of their own: two ticks of the kernel,
/// of 1 to 10 ms each (`CONFIG_HZ`).
const TICK_NS: i64 = 20_000_000;

/// The same on other file systems: FAT stores modification times in steps of two seconds.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// The times of a folder just before it was listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    mtime_ns: i64,
    ctime_ns: i64,
    /// The folder had just changed: until this moment, a later change may leave the same times.
    fresh_until_ns: Option<i64>,
}

impl Stamp {
    /// The times of an open folder that is listed next. If it has just changed, waits until a change would set other
    /// times; four seconds at most.
    pub fn that_tells(seen: Stat, fd: impl AsFd) -> Self {
        let stamp = Self::of_at(&seen, &fd, now_ns());
        let Some(until) = stamp.fresh_until_ns else {
            return stamp;
        };
        let left = until.saturating_sub(now_ns()).clamp(0, 2 * COARSE_TICK_NS);
        thread::sleep(Duration::from_nanos(left.unsigned_abs()));
        let now = stat::descriptor(&fd).unwrap_or(seen);
        Self::of_at(&now, fd, now_ns())
    }

    fn of_at(stat: &Stat, fd: impl AsFd, now: i64) -> Self {
        let latest = stat.mtime_ns.max(stat.ctime_ns);
        // A time far ahead is not of this machine's clock, which says nothing about it then.
        let within =
            |tick: i64| latest > now.saturating_sub(tick) && latest < now.saturating_add(tick);
        let tick = match within(COARSE_TICK_NS) {
            true if !numbering_of(fd).tells_folders() => Some(COARSE_TICK_NS),
            true if within(TICK_NS) => Some(TICK_NS),
            _ => None,
        };
        Self {
            mtime_ns: stat.mtime_ns,
            ctime_ns: stat.ctime_ns,
            fresh_until_ns: tick.map(|tick| latest.saturating_add(tick)),
        }
    }

    /// True if no entry was added to the folder or removed from it between then and now.
    pub fn still_holds(&self, now: &Stat) -> bool {
        self.fresh_until_ns.is_none()
            && (self.mtime_ns, self.ctime_ns) == (now.mtime_ns, now.ctime_ns)
    }
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    use super::*;
    use crate::sys::open;

    #[test]
    fn only_an_old_state_that_is_still_there_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = CString::new(folder.path().as_os_str().as_bytes()).expect("no NUL");
        let fd = open::folder(open::CWD, &name).expect("is there");
        let fresh = stat::descriptor(&fd).expect("is open");
        let made = fresh.mtime_ns.max(fresh.ctime_ns);
        let seen = |later: i64| Stamp::of_at(&fresh, &fd, made + later);
        assert!(!seen(TICK_NS - 1).still_holds(&fresh), "it was just made");
        assert!(seen(COARSE_TICK_NS).still_holds(&fresh));
        let long_ago = Stat {
            mtime_ns: 1,
            ctime_ns: 2,
            ..fresh
        };
        let stamp = Stamp::of_at(&long_ago, &fd, made);
        assert!(stamp.still_holds(&long_ago));
        for changed in [
            Stat {
                mtime_ns: 9,
                ..long_ago
            },
            Stat {
                ctime_ns: 9,
                ..long_ago
            },
        ] {
            assert!(!stamp.still_holds(&changed));
        }
    }
}
