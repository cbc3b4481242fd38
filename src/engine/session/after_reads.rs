//! Queries after all reads, where every entry counts: metadata, and changes of folders.

use std::collections::HashMap;

use rustix::io::{Errno, Result};

use crate::event::{Problem, ProblemKind};
use crate::file::{DirId, FileIndex};
use crate::read::Failure;
use crate::scan::{OtherEntry, Stamp, is_same_place, path_of};
use crate::sys::attributes;
use crate::sys::{open, stat};
use crate::tree::{EntryKind, Metadata, Scope, Unseen};

use super::Session;

impl Session<'_> {
    /// Reads the metadata of files that may have copies: those with a common content, and empty ones.
    pub fn metadata(&mut self) -> HashMap<u32, Metadata> {
        let contents = self.machine.all_contents();
        let mut files: Vec<FileIndex> =
            contents.filter(|files| files.len() > 1).flatten().collect();
        let file_table = self.machine.file_table();
        files.extend(file_table.empty_files());
        let mut all = HashMap::new();
        for file in files {
            if self.is_left_open() {
                break;
            }
            match self.metadata_of(file) {
                Ok(metadata) => {
                    all.insert(file.0, metadata);
                }
                Err(error) => self.observer.problem(Problem {
                    path: self.path_of_first_name(file),
                    kind: ProblemKind::UnreadableMetadata,
                    cause: Some(error.into()),
                }),
            }
        }
        all
    }

    /// The metadata of a file whose first name still leads to the file that was found.
    fn metadata_of(&mut self, file: FileIndex) -> Result<Metadata> {
        let file_table = self.machine.file_table();
        let (dir, name) = (file_table.dir(file), file_table.first_name(file).to_owned());
        let (opened, stat, attributes) = self.look_at(dir, &name, |folder, name| {
            let opened = open::file(folder, name, false)?;
            let (stat, attributes) = attributes::both(&opened)?;
            Ok((opened, stat, attributes))
        })?;
        if !self.machine.file_table().is_met_by(file, &stat) {
            return Err(Errno::STALE);
        }
        Ok(Metadata {
            mode: attributes.mode,
            owner: (attributes.uid, attributes.gid),
            modified_ns: attributes.modified.ns(),
            extended: attributes::extended(&opened)?.into(),
        })
    }

    /// Checks every listed folder once more after the reads, and records those that have changed since.
    ///
    /// An entry that came into a folder after it was listed was not seen, and a symbolic link may have another target
    /// by now. Both changes also change the folder's times. If no folder and no file changed before this second check,
    /// all results hold for one moment: the end of the reads. Of file systems that the run gave up on, none is checked.
    pub fn check_folders(&mut self, scope: Scope) {
        // An open folder stays open when it is moved away: only its path says where it is.
        self.names.handles.close_all();
        let mut listed = std::mem::take(&mut self.arrivals.listed);
        listed.sort_unstable();
        for (dir, stamp) in listed {
            if self.control.is_cancelled() {
                return;
            }
            if self.is_silent(dir) {
                // The answer of a comparison stays open anyway.
                if scope == Scope::AllFiles {
                    self.account.unseen(dir, b"", Unseen::Unanswered);
                }
                continue;
            }
            let cause = match self.holds_still(dir, stamp) {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => Some(error.into()),
            };
            self.account.unseen(dir, b"", Unseen::Changed);
            let path = path_of(&self.dirs, dir, None);
            self.leave_out(path, ProblemKind::ChangedFolder, cause);
        }
    }

    /// True if a folder has the same times as when it was listed, and its path still leads to it.
    fn holds_still(&mut self, dir: DirId, stamp: Stamp) -> Result<bool> {
        let listed = self.dirs.read().id(dir);
        self.look_at(dir, b"", |folder, _| {
            let now = stat::fresh_descriptor(folder)?;
            Ok(is_same_place(listed, &now, folder) && stamp.still_holds(&now))
        })
    }
}

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
        self.other(dir, name, EntryKind::Unseen(unseen));
    }

    /// Records an entry that no file stands for.
    pub fn other(&mut self, dir: DirId, name: &[u8], kind: EntryKind) {
        if self.is_kept {
            let name = name.into();
            self.others.push(OtherEntry { dir, name, kind });
        }
    }

    /// Records why the content of a file is not known.
    pub fn leave_open(&mut self, file: FileIndex, why: Unseen) {
        if self.is_kept {
            self.failed.insert(file, why);
        }
    }

    /// Records a file that was not read.
    pub fn file_failed(&mut self, file: FileIndex, failure: &Failure) {
        let unseen = match failure {
            Failure::Refused(Errno::CANCELED) => Unseen::Interrupted,
            Failure::Refused(_) | Failure::Holes => Unseen::Unreadable,
            Failure::Vanished => Unseen::Vanished,
            Failure::Changed => Unseen::Changed,
            Failure::Unanswered => Unseen::Unanswered,
        };
        self.leave_open(file, unseen);
    }
}
