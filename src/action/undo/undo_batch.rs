//! Steps that are undone, but not yet recorded as undone in the journal.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use crate::action::journal::Journal;
use crate::action::journal::record::Record;
use crate::action::reason::Reason;
use crate::action::ways::folder_entry::Identity;
use crate::sys::{process, stat, sync};

/// Maximum number of undone steps before they are recorded: their folders stay open until then.
const MOST: usize = 64;

/// Undone steps that are not recorded yet: first their folders must be on the disk.
#[derive(Debug)]
pub(in crate::action) struct Batch<'a> {
    /// Nothing is recorded without one.
    journal: Option<&'a mut Journal>,
    steps: Vec<u64>,
    folders: HashMap<Identity, OwnedFd>,
    /// Maximum number of steps that wait: each keeps its folder open.
    most: usize,
}

impl<'a> Batch<'a> {
    /// An empty batch. A dozen descriptors are for the present step; the batch may use half of the others.
    pub(in crate::action) fn new(journal: Option<&'a mut Journal>) -> Self {
        let spare = process::unused_descriptors().saturating_sub(12) / 2;
        Self {
            journal,
            steps: Vec::new(),
            folders: HashMap::new(),
            most: spare.clamp(1, MOST),
        }
    }

    pub(in crate::action) fn push(
        &mut self,
        step: u64,
        folder: Option<OwnedFd>,
    ) -> Result<(), Reason> {
        self.steps.push(step);
        if let Some(folder) = folder
            && let Ok(stat) = stat::descriptor(&folder)
        {
            self.folders.insert((stat.dev, stat.ino), folder);
        }
        match self.steps.len() < self.most {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Records the undone steps. If a folder cannot be synced, its steps are not recorded: undo checks them again.
    pub(in crate::action) fn flush(&mut self) -> Result<(), Reason> {
        let folders = std::mem::take(&mut self.folders);
        let steps = std::mem::take(&mut self.steps);
        if let Some(journal) = &mut self.journal
            && folders.values().all(|folder| sync::folder(folder).is_ok())
        {
            let undone = steps.into_iter().map(|step| Record::Undone { step });
            journal.note(&undone.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
