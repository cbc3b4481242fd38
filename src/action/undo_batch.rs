//! Steps that are undone, but not yet recorded as undone in the journal.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use super::folder_entry::Identity;
use super::journal::{Journal, JournalError};
use super::record::Record;
use crate::sys::{process, stat, sync};

/// Steps that are undone before that is written down: their folders stay open so long.
const MOST: usize = 64;

/// Steps that are undone, but not written down as such: first their folders must be on the disk.
#[derive(Debug)]
pub(super) struct Batch {
    steps: Vec<u64>,
    folders: HashMap<Identity, OwnedFd>,
    /// Steps that may wait: each holds its folder open.
    most: usize,
}

impl Batch {
    /// None yet. A dozen descriptors are for the step at hand, and of the others half.
    pub(super) fn new() -> Self {
        let spare = process::unused_descriptors().saturating_sub(12) / 2;
        Self {
            steps: Vec::new(),
            folders: HashMap::new(),
            most: spare.clamp(1, MOST),
        }
    }

    pub(super) fn push(
        &mut self,
        journal: &mut Journal,
        step: u64,
        folder: Option<OwnedFd>,
    ) -> Result<(), JournalError> {
        self.steps.push(step);
        if let Some(folder) = folder
            && let Ok(stat) = stat::descriptor(&folder)
        {
            self.folders.insert((stat.dev, stat.ino), folder);
        }
        match self.steps.len() < self.most {
            true => Ok(()),
            false => self.flush(journal),
        }
    }

    /// A folder that cannot be synced leaves its steps unrecorded: undo looks at them again.
    pub(super) fn flush(&mut self, journal: &mut Journal) -> Result<(), JournalError> {
        let folders = std::mem::take(&mut self.folders);
        let steps = std::mem::take(&mut self.steps);
        if folders.values().all(|folder| sync::folder(folder).is_ok()) {
            let undone = steps.into_iter().map(|step| Record::Undone { step });
            journal.note(&undone.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
