//! Records the entries that a run did not see, for searches in which every entry counts.

use std::collections::HashMap;

use rustix::io::Errno;

use crate::file::{DirId, FileIndex};
use crate::read::Failure;
use crate::scan::OtherEntry;
use crate::tree::{EntryKind, Unseen};

/// Entries that are neither files nor listed folders, and files that were not answered. It stays empty unless every
/// entry counts.
#[derive(Debug, Default)]
pub struct Account {
    is_kept: bool,
    /// Entries that no file stands for.
    pub others: Vec<OtherEntry>,
    /// Roots that are skipped.
    pub roots: Vec<(u32, Unseen)>,
    /// Files that could not be read to their end.
    pub failed: HashMap<FileIndex, Unseen>,
}

impl Account {
    pub fn new(is_kept: bool) -> Self {
        Self {
            is_kept,
            ..Self::default()
        }
    }

    /// Records a name that leads to nothing known.
    pub fn unseen(&mut self, dir: DirId, name: &[u8], unseen: Unseen) {
        if self.is_kept {
            self.others.push(OtherEntry {
                dir,
                name: name.into(),
                kind: EntryKind::Unseen(unseen),
            });
        }
    }

    /// Records a file that was not read.
    pub fn file_failed(&mut self, file: FileIndex, failure: &Failure) {
        if self.is_kept {
            let unseen = match failure {
                Failure::Refused(Errno::CANCELED) => Unseen::Interrupted,
                Failure::Refused(_) | Failure::Holes => Unseen::Unreadable,
                Failure::Vanished => Unseen::Vanished,
                Failure::Changed => Unseen::Changed,
                Failure::Unanswered => Unseen::Unanswered,
            };
            self.failed.insert(file, unseen);
        }
    }
}
