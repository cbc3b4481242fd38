//! The results of the steps of an undo, one by one and in total.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::record::{FolderIntent, Intent};
use crate::action::action_kind::ActionKind;
use crate::action::reason::Reason;

/// The outcome of one undone step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The file is as it was before.
    Restored,
    /// The file is restored, except for this metadata, which the user of undo may not set.
    RestoredWithout(Vec<&'static str>),
    /// The file was as before; a leftover of a killed run beside it was removed.
    Cleaned,
    /// The file is as before: the step was never done, or undone before.
    AsBefore,
    /// The file has changed since, or the system refused, for this reason: nothing was touched.
    Refused(Reason),
    /// It was removed for good.
    Impossible,
    /// It was removed for good, and the run was killed before it removed a file that belongs together with it.
    Torn,
}

impl Undone {
    pub(in crate::action) fn restored(lack: Lack) -> Self {
        if lack.is_empty() {
            Self::Restored
        } else {
            Self::RestoredWithout(lack)
        }
    }

    pub(in crate::action) fn is_restored(&self) -> bool {
        matches!(self, Self::Restored | Self::RestoredWithout(_))
    }
}

/// The metadata that a restored file lacks: the user of undo may not set it.
pub(in crate::action) type Lack = Vec<&'static str>;

/// One file or folder of a run that is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoneFile {
    /// Its path, absolute.
    pub path: PathBuf,
    /// The action that was taken.
    pub action: ActionKind,
    /// The outcome.
    pub outcome: Undone,
}

/// What an undo acts on.
#[derive(Clone, Copy)]
pub(in crate::action) enum Object<'a> {
    File(&'a Intent),
    /// A folder that the run removed.
    Folder(&'a FolderIntent),
}

/// The totals of an undo, or of its dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoTally {
    /// The run's name.
    pub run: String,
    /// Files that are as before, and were not when the undo began.
    pub restored: u64,
    /// Of these, files that lack some metadata: owner, mode, times, extended attributes.
    pub lacking: u64,
    /// Files whose leftovers were removed.
    pub cleaned: u64,
    /// Files that already were as before.
    pub as_before: u64,
    /// Of these, files that the run did not change.
    pub never_changed: u64,
    /// Files that were left as they are.
    pub refused: u64,
    /// Files that were removed for good.
    pub impossible: u64,
    /// Folders that are as before, and were gone when the undo began.
    pub folders: u64,
    /// Folders that were not restored, or not with all metadata.
    pub folders_refused: u64,
    /// Lines of the journal that are damaged, counted from 1: their steps are not known.
    pub damaged: Vec<usize>,
    /// Why the journal could not record every undone step. A second undo finds these files restored.
    pub unwritten: Option<String>,
    /// The run did not record its end, and no undo or sweep has been completed since.
    pub was_killed: bool,
    /// The undo was interrupted, and steps are left.
    pub interrupted: bool,
}

impl UndoTally {
    pub(in crate::action) fn count(
        &mut self,
        object: Object<'_>,
        undone: Undone,
        tell: &mut dyn FnMut(&UndoneFile),
    ) {
        let is_restored = undone.is_restored();
        let refused = u64::from(matches!(undone, Undone::Refused(_)));
        self.lacking += u64::from(is_restored && undone != Undone::Restored);
        let (path, action) = match object {
            Object::File(intent) => {
                *match &undone {
                    _ if is_restored => &mut self.restored,
                    Undone::Cleaned => &mut self.cleaned,
                    Undone::AsBefore => &mut self.as_before,
                    Undone::Refused(_) => &mut self.refused,
                    _ => &mut self.impossible,
                } += 1;
                (&intent.victim.0[..], intent.action)
            }
            Object::Folder(intent) => {
                self.folders += u64::from(is_restored);
                self.folders_refused += refused;
                (&intent.folder.0[..], intent.action)
            }
        };
        tell(&UndoneFile {
            path: PathBuf::from(OsStr::from_bytes(path)),
            action,
            outcome: undone,
        });
    }

    /// Records a step. If that fails, undo continues, because the files show their state.
    pub(in crate::action) fn note(&mut self, written: Result<(), Reason>) {
        if let Err(error) = written {
            self.unwritten.get_or_insert(error.to_string());
        }
    }
}
