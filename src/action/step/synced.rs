//! Checks whether a kept file is on the disk, so that it survives a loss of power when its copy is removed.

use std::collections::HashMap;

use rustix::io::Errno;

use super::check::{Opened, OwnChanges};
use crate::action::failure::failed;
use crate::action::reason::Reason;
use crate::action::ways::folder_entry::Identity;
use crate::sys::{page_cache, statfs, sync};

/// Files that changed less than this time before are waited for, whatever the system reports about them.
///
/// The change time counts: a program that copies a file with its times sets the modification time back. The kernel
/// writes back data that has been waiting for 30 s, and checks every 5 s (`vm.dirty_*_centisecs`).
const AGE_NS: i64 = 60_000_000_000;

/// The kept files that are known to be synced.
#[derive(Debug, Default)]
pub struct Synced {
    /// The change time of the version that is on the disk, or the reason why no version is.
    known: HashMap<Identity, Result<i64, Errno>>,
    /// File systems that keep the order of writes, by their device.
    ordered: HashMap<u64, bool>,
}

impl Synced {
    /// Starts to write a file's bytes to the disk if necessary. True if the caller has to wait for them.
    pub fn start(&mut self, keeper: &Opened, ours: &OwnChanges) -> bool {
        let now = jiff::Timestamp::now().as_nanosecond();
        self.start_at(keeper, ours, i64::try_from(now).unwrap_or(i64::MAX))
    }

    fn start_at(&mut self, keeper: &Opened, ours: &OwnChanges, now_ns: i64) -> bool {
        if self
            .known
            .get(&keeper.identity())
            .is_some_and(Result::is_err)
        {
            return false;
        }
        if self.is_known(keeper, ours) {
            return false;
        }
        let dev = keeper.stat.dev;
        let ordered = *self
            .ordered
            .entry(dev)
            .or_insert_with(|| statfs::is_ordered(&keeper.file));
        let is_settled = is_on_disk(ordered, keeper.stat.ctime_ns, now_ns, || {
            page_cache::is_unwritten(&keeper.file, 0, 0)
        });
        if is_settled {
            self.note(keeper.identity(), keeper.stat.ctime_ns, Ok(()))
        } else {
            sync::start(&keeper.file)
        }
        !is_settled
    }

    /// Records the result of waiting for a file that had this change time.
    pub fn note(&mut self, file: Identity, ctime_ns: i64, done: Result<(), Errno>) {
        self.known.insert(file, done.map(|()| ctime_ns));
    }

    /// Makes sure that the current version of a file is on the disk: waits for files that changed since.
    pub fn keeper(&mut self, keeper: &Opened, ours: &OwnChanges) -> Result<(), Reason> {
        let doing = "sync the kept file to the disk";
        // The system says once what it could not write.
        if let Some(&Err(error)) = self.known.get(&keeper.identity()) {
            return Err(failed(doing)(error));
        }
        if self.is_known(keeper, ours) {
            return Ok(());
        }
        let done = sync::file(&keeper.file);
        self.note(keeper.identity(), keeper.stat.ctime_ns, done);
        done.map_err(failed(doing))
    }

    /// True if no process except this run has changed the file since it was on the disk.
    fn is_known(&self, keeper: &Opened, ours: &OwnChanges) -> bool {
        let (file, ctime) = (keeper.identity(), keeper.stat.ctime_ns);
        match self.known.get(&file) {
            Some(&Ok(known)) => {
                let left = ours.get(&file).map(|times| times.ctime_ns);
                known == ctime || left == Some(ctime)
            }
            _ => false,
        }
    }
}

/// True if a file is known to be on the disk without waiting for it.
fn is_on_disk(
    ordered: bool,
    ctime_ns: i64,
    now_ns: i64,
    is_unwritten: impl FnOnce() -> Option<bool>,
) -> bool {
    ordered && is_old(ctime_ns, now_ns) && is_unwritten() == Some(false)
}

fn is_old(ctime_ns: i64, now_ns: i64) -> bool {
    ctime_ns < now_ns.saturating_sub(AGE_NS)
}

#[cfg(test)]
mod tests {

    use super::super::{Expected, StepFile};
    use super::*;
    use crate::action::reads::Reads;
    use crate::sys::stat;

    /// A synced file with a name, opened as a keeper is.
    fn keeper() -> (tempfile::NamedTempFile, Opened) {
        let named = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(named.path(), "kept").unwrap();
        named.as_file().sync_all().unwrap();
        let path = named.path().canonicalize().unwrap();
        let now = stat::fresh_descriptor(named.as_file()).unwrap();
        let target = StepFile {
            path: path.into_os_string().into_encoded_bytes(),
            expected: Expected {
                size: now.size,
                ..Expected::default()
            },
        };
        let opened = Opened::open(&target, &OwnChanges::new(), &Reads::default()).unwrap();
        (named, opened)
    }

    /// Replaces the descriptor by one that cannot be synced: waiting for the file fails from now on.
    fn make_waiting_fail(keeper: &mut Opened) {
        keeper.file = std::io::pipe().unwrap().0.into();
    }

    #[test]
    fn only_what_has_not_changed_for_a_minute_is_old() {
        let now = 1_000_000_000_000;
        assert!(is_old(now - 60_000_000_001, now));
        assert!(!is_old(now - 60_000_000_000, now));
        assert!(!is_old(now, now));
        // A clock that was set back.
        assert!(!is_old(now + 1, now));
        assert!(!is_old(0, i64::MIN));
    }

    #[test]
    fn a_file_is_on_the_disk_only_if_nothing_speaks_against_it() {
        let now = 1_000_000_000_000;
        let old = now - AGE_NS - 1;
        assert!(is_on_disk(true, old, now, || Some(false)));
        assert!(!is_on_disk(false, old, now, || Some(false)));
        assert!(!is_on_disk(true, now, now, || Some(false)));
        assert!(!is_on_disk(true, old, now, || Some(true)));
        assert!(!is_on_disk(true, old, now, || None));
    }

    #[test]
    fn what_was_not_found_on_the_disk_is_waited_for() {
        let (_named, mut keeper) = keeper();
        let later = keeper.stat.ctime_ns + AGE_NS + 1;
        let mut young = Synced::default();
        young.ordered.insert(keeper.stat.dev, true);
        assert!(young.start(&keeper, &OwnChanges::new()));
        let mut unordered = Synced::default();
        unordered.ordered.insert(keeper.stat.dev, false);
        assert!(unordered.start_at(&keeper, &OwnChanges::new(), later));
        make_waiting_fail(&mut keeper);
        for mut synced in [young, unordered] {
            synced.keeper(&keeper, &OwnChanges::new()).unwrap_err();
        }
    }

    #[test]
    fn a_file_that_could_not_be_written_is_no_keeper_though_a_second_wait_says_nothing() {
        let (_named, keeper) = keeper();
        let mut synced = Synced::default();
        synced.note(keeper.identity(), keeper.stat.ctime_ns, Err(Errno::IO));
        assert!(!synced.start(&keeper, &OwnChanges::new()));
        synced.keeper(&keeper, &OwnChanges::new()).unwrap_err();
        // The system tells of the failure only once, whoever asks.
        synced.keeper(&keeper, &OwnChanges::new()).unwrap_err();
    }
}
