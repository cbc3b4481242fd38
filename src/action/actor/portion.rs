//! The steps of a portion, from the request to the journal.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use crate::action::journal::record::Intent;
use crate::action::reason::Reason;
use crate::action::step::{Step, StepFile};
use crate::action::ways::folder_entry::Identity;

/// Steps that are recorded together, and share one wait for the disk.
///
/// Such a wait takes milliseconds. It takes up to a second beside a program that writes a lot, since the disk
/// also takes the data of that program. 10,000 steps need five waits.
pub const BATCH: usize = 2048;

/// A step that is fit to be recorded.
pub struct Sketched {
    pub intent: Intent,
    pub keeper: Option<StepFile>,
    pub victim: StepFile,
}

/// A group of steps, each with its sketch, or the reason why it is not fit.
pub type Group = Vec<(Step, Result<Sketched, Reason>)>;

/// Numbers of files before and after a change of this run, by path.
pub type Renumbered = HashMap<Vec<u8>, [Identity; 2]>;

/// The file as it is now, if this run gave it another number.
pub fn renumbered(target: &StepFile, renumbered: &Renumbered) -> StepFile {
    let mut target = target.clone();
    let expected = &mut target.expected;
    if let Some([before, (dev, ino)]) = renumbered.get(&target.path)
        && (expected.dev, expected.ino) == (Some(before.0), Some(before.1))
    {
        (expected.dev, expected.ino) = (Some(*dev), Some(*ino));
    }
    target
}

/// A kept file that has to be waited for.
pub struct Unsynced {
    pub identity: Identity,
    pub ctime_ns: i64,
    pub fd: OwnedFd,
}
