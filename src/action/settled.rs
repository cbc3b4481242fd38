//! Whether a kept file is on the disk, so that it survives a loss of power when its copy goes.

use std::collections::HashMap;

use rustix::io::Errno;

use super::check::{Opened, Ours};
use super::folder_entry::Identity;
use super::trouble::{Trouble, failed};
use crate::sys::{cachestat, statfs, sync};

/// Files that changed less than this before are waited for, whatever the system tells of them.
///
/// The change time counts: whoever copies a file with its times sets the time of modification back. The kernel
/// writes back what has been waiting for 30 s, and looks every 5 s (`vm.dirty_*_centisecs`).
const AGE_NS: i64 = 60_000_000_000;

/// What is known of the files that stay.
#[derive(Debug, Default)]
pub struct Settled {
    /// The change time as of which a file is on the disk, or why it is not.
    known: HashMap<Identity, Result<i64, Errno>>,
    /// File systems that keep the order, by their device.
    ordered: HashMap<u64, bool>,
}

impl Settled {
    /// True if a file has to be waited for. Its bytes are on their way then.
    pub fn start(&mut self, keeper: &Opened, ours: &Ours) -> bool {
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
        let now = jiff::Timestamp::now().as_nanosecond();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let is_settled = ordered
            && is_old(keeper.stat.ctime_ns, now)
            && cachestat::is_unwritten(&keeper.file) == Some(false);
        match is_settled {
            true => self.note(keeper.identity(), keeper.stat.ctime_ns, Ok(())),
            false => sync::start(&keeper.file),
        }
        !is_settled
    }

    /// Takes note of what came of waiting for a file that had this change time.
    pub fn note(&mut self, file: Identity, ctime_ns: i64, done: Result<(), Errno>) {
        self.known.insert(file, done.map(|()| ctime_ns));
    }

    /// Makes sure that a file is on the disk as it is: those that changed since are waited for.
    pub fn keeper(&mut self, keeper: &Opened, ours: &Ours) -> Result<(), Trouble> {
        let doing = "make sure that the kept file is on the disk";
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

    /// True if nobody but this run itself has changed the file since it was on the disk.
    fn is_known(&self, keeper: &Opened, ours: &Ours) -> bool {
        let (file, ctime) = (keeper.identity(), keeper.stat.ctime_ns);
        match self.known.get(&file) {
            Some(&Ok(known)) => known == ctime || ours.get(&file) == Some(&ctime),
            _ => false,
        }
    }
}

fn is_old(ctime_ns: i64, now_ns: i64) -> bool {
    ctime_ns < now_ns.saturating_sub(AGE_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
