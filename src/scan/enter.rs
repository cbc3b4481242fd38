//! Detects whether a folder was listed already.
//!
//! The walk may reach a folder twice: through nested roots, one root given twice, bind mounts, or links. The folder is
//! listed once. A known device and inode number is no proof by itself: the first folder may have been moved or removed
//! and its number reused for this one, and some file systems give one number to several folders. The walk therefore
//! passes a folder over only if it is provably the known one. Otherwise it lists the folder.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::file::{DirId, FolderId, FolderPlace, Numbering, SharedDirs};
use crate::scan::listing::ALIKE;
use crate::sys::stat::{self, Stat};
use crate::sys::{open, statfs};
use crate::units::nanoseconds;

/// The result of opening a folder for listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// A new folder. It has a number now and is to be listed.
    New(DirId),
    /// The known folder with this number. It was or will be listed by another path.
    Before(DirId),
    /// Too many folders have its inode number, so it cannot be compared with all of them.
    OneOfTooMany,
}

/// Gives an open folder a number, unless the walk has met the folder before.
pub fn enter(
    dirs: &SharedDirs,
    place: FolderPlace<'_>,
    here: &Stat,
    fd: BorrowedFd<'_>,
) -> Entered {
    let above = match place {
        FolderPlace::Root(..) => None,
        FolderPlace::Below(above, _) => Some(above),
    };
    let added = dirs.write().add(place, here, 0);
    let mut known = match added {
        Ok(dir) => return Entered::New(dir),
        Err(known) => known,
    };
    let numbering = numbering_of(fd);
    loop {
        if known.len() >= ALIKE {
            return Entered::OneOfTooMany;
        }
        let before = known.iter().find(|&&dir| {
            is_now(dirs, dir, here, fd, numbering)
                || !numbering.tells_folders()
                    && above.is_some_and(|above| leads_back(dirs, dir, above, here))
        });
        if let Some(&before) = before {
            return Entered::Before(before);
        }
        let added = dirs.write().add(place, here, known.len());
        match added {
            Ok(dir) => return Entered::New(dir),
            // Another walker has met it, or another one with its number, in the meantime.
            Err(met) => known = met,
        }
    }
}

/// True if the path of a listed folder still leads to it, as far as this is known. Where numbers do not identify
/// folders, a folder with another number may be the same.
pub fn is_same_place(listed: FolderId, now: &Stat, fd: impl AsFd) -> bool {
    let now = FolderId::from(now);
    listed == now
        || (listed.dev, listed.mount) == (now.dev, now.mount) && !numbering_of(fd).tells_folders()
}

/// True for the empty folder that a btrfs snapshot shows in the place of a subvolume. It is always inode 2
/// (`BTRFS_EMPTY_SUBVOL_DIR_OBJECTID`), and has the time of the latest look as its own.
pub fn is_placeholder(here: &Stat, fd: impl AsFd) -> bool {
    const EMPTY_SUBVOLUME: u64 = 2;
    here.ino == EMPTY_SUBVOLUME && statfs::magic(fd) == Some(statfs::BTRFS)
}

/// How reliable inode numbers are on the file system of a name; `None` if the name is gone.
pub fn numbering_of_name(folder: impl AsFd, name: &CStr, follow: bool) -> Option<Numbering> {
    let magic = statfs::magic(open::any_handle(folder, name, follow).ok()?)?;
    Some(Numbering::of_magic(magic))
}

/// As [`numbering_of_name`], for a path. Follows links.
pub fn numbering_of_path(path: &[u8]) -> Option<Numbering> {
    let path = CString::new(path).ok()?;
    numbering_of_name(open::CWD, &path, true)
}

/// How reliable inode numbers are on the file system of an open file.
pub fn numbering_of(fd: impl AsFd) -> Numbering {
    statfs::magic(fd).map_or(Numbering::Arbitrary, Numbering::of_magic)
}

/// True if the path of a known folder leads to the folder that is open here. While both are open, their unique numbers
/// are not reused. Where numbers are not unique, the kernel must report one path for both.
fn is_now(
    dirs: &SharedDirs,
    dir: DirId,
    here: &Stat,
    fd: BorrowedFd<'_>,
    numbering: Numbering,
) -> bool {
    let Ok(met) = dirs.open(dir) else {
        return false;
    };
    if !stat::descriptor(&met).is_ok_and(|now| FolderId::from(&now) == FolderId::from(here)) {
        return false;
    }
    numbering.tells_folders()
        || open::path_of(&met).is_some_and(|path| open::path_of(fd) == Some(path))
}

/// True if `dir` holds the folder that is open and has its state: a file system that shows a folder inside itself, as
/// `bindfs / /mnt` does, has no end.
fn leads_back(dirs: &SharedDirs, dir: DirId, above: DirId, here: &Stat) -> bool {
    let state = |s: &Stat| (FolderId::from(s), s.mtime_ns, s.ctime_ns, s.links);
    dirs.read().holds(dir, above)
        && dirs
            .open(dir)
            .and_then(|met| stat::descriptor(&met))
            .is_ok_and(|now| state(&now) == state(here))
}

/// The maximum lag of a time stamp behind the clock on file systems with inodes of their own: two ticks of the kernel,
/// of 1 to 10 ms each (`CONFIG_HZ`).
pub const TICK_NS: i64 = 20_000_000;

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
        let tick = if !within(COARSE_TICK_NS) {
            None
        } else if !numbering_of(fd).tells_folders() {
            Some(COARSE_TICK_NS)
        } else {
            within(TICK_NS).then_some(TICK_NS)
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
    nanoseconds(SystemTime::now())
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
