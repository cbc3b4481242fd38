//! The state of a past run according to its journal, the progress of each step; and the results of its undo.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::record::{self, FolderIntent, Intent, Record, RecordedState, RunHeader};
use crate::action::access::{ActionKind, Reversal};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::ways::folder_identity::FolderIdentity;
use crate::file::{RouteError, as_path};
use crate::hash::ContentDigest;
use crate::heartbeat::current;

/// A step according to its journal.
#[derive(Clone, Debug)]
pub(in crate::action) struct PastStep {
    pub intent: Intent,
    pub fate: Fate,
    /// The compared content at the time of the step, if the journal has it.
    pub digest: Option<ContentDigest>,
    pub undone: bool,
}

/// A folder that was to be removed, according to its journal.
#[derive(Clone, Debug)]
pub(in crate::action) struct PastFolder {
    pub intent: FolderIntent,
    pub fate: Fate,
    /// The folder that an undo created in its place.
    pub made: Option<FolderIdentity>,
    pub undone: bool,
}

/// The recorded end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::action) enum Fate {
    Done(Option<RecordedState>),
    NotDone,
    /// The run was killed during the step, or before it.
    Unsaid,
}

/// The content of a journal.
#[derive(Clone, Debug, Default)]
pub(in crate::action) struct Past {
    pub header: RunHeader,
    pub steps: Vec<PastStep>,
    /// Folders that were to be removed, by the numbers of their steps: a folder comes after those in it.
    pub folders: BTreeMap<u64, PastFolder>,
    /// Lines that are damaged, counted from 1; a torn last one does not count.
    pub damaged: Vec<usize>,
    pub all_undone: bool,
    /// The run, or an undo of it, was cut short.
    pub cut_short: bool,
    /// The run was cut short, and no sweep or undo has been completed since.
    pub was_killed: bool,
    /// An undo was cut short.
    pub undo_cut_short: bool,
    /// The last line is incomplete.
    pub torn: bool,
}

/// A journal that cannot be relied on as a whole.
fn flawed(name: &str, cause: impl fmt::Display) -> Reason {
    Code::Journal.with(Facts::caused(name, cause))
}

/// A journal that cannot be opened or read.
pub(in crate::action) fn unreadable(name: &str, error: impl Into<RouteError>) -> Reason {
    match error.into() {
        RouteError::Untrusted(untrusted) => flawed(
            name,
            format_args!("it {}, so it is not used", untrusted.why),
        ),
        RouteError::Io(error) => flawed(name, format_args!("it cannot be read: {error}")),
    }
}

impl Past {
    /// Reads a whole journal. Skips an incomplete last line.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, Reason> {
        let past = Self::read_steps(name, bytes)?;
        if past.damaged.first() == Some(&1) {
            return Err(flawed(name, "line 1 is damaged"));
        }
        Ok(past)
    }

    /// The same, also where the first line is damaged: each other line speaks for itself.
    pub fn read_steps(name: &str, bytes: &[u8]) -> Result<Self, Reason> {
        let mut past = Self {
            torn: bytes.last().is_some_and(|&last| last != b'\n'),
            ..Self::default()
        };
        let mut understood = 0;
        let mut ended = false;
        let mut undoing = false;
        let mut looked_after = false;
        let mut lines = bytes.split(|&b| b == b'\n').enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let is_last = lines.peek().is_none();
            // Long journals take long to read.
            current::beat();
            if number == 0
                && let Some(version) = record::version(line)
                && version != record::VERSION
            {
                let known = record::VERSION;
                let cause = format!(
                    "it has version {version}, and this seekless reads version {known}: undo it with the seekless \
                     that wrote it"
                );
                return Err(flawed(name, cause));
            }
            match record::parse(line) {
                Some(Record::Run(header)) if number == 0 => past.header = header,
                // Nothing is begun before the first line is complete.
                _ if number == 0 => {
                    past.damaged.push(1);
                    continue;
                }
                Some(record) => {
                    match &record {
                        Record::Ended => ended = true,
                        Record::Undoing => undoing = true,
                        Record::UndoEnded | Record::AllUndone => {
                            undoing = false;
                            looked_after = true;
                        }
                        Record::Swept => looked_after = true,
                        _ => {}
                    }
                    past.take(record);
                }
                None if line.is_empty() || is_last => continue,
                None => {
                    past.damaged.push(number + 1);
                    continue;
                }
            }
            understood += 1;
        }
        if understood == 0 {
            return Err(flawed(name, "it is empty, or every line is damaged"));
        }
        past.cut_short = !past.all_undone && (!ended || undoing);
        past.was_killed = !ended && !looked_after;
        past.undo_cut_short = !past.all_undone && undoing;
        Ok(past)
    }

    /// Number of steps that were done, whether they were undone later or not.
    pub fn done(&self) -> usize {
        let done = |step: &&PastStep| matches!(step.fate, Fate::Done(_));
        self.steps.iter().filter(done).count()
    }

    /// True if each step is known to have changed nothing.
    pub fn changed_nothing(&self) -> bool {
        self.steps.iter().all(|step| step.fate == Fate::NotDone)
            && self
                .folders
                .values()
                .all(|folder| folder.fate == Fate::NotDone)
            && self.damaged.is_empty()
    }

    /// True if undo can restore nothing of the run: it removed files for good.
    pub fn is_permanent(&self) -> bool {
        let done = self
            .steps
            .iter()
            .filter(|step| matches!(step.fate, Fate::Done(_)));
        let mut actions = done.map(|step| step.intent.action).peekable();
        actions.peek().is_some()
            && actions.all(|action| action.reversal() == Reversal::Impossible)
            && !self
                .steps
                .iter()
                .any(|step| step.fate == Fate::Unsaid && !step.undone)
            && !self.cut_short
            && self.damaged.is_empty()
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Run(_)
            | Record::Ended
            | Record::Undoing
            | Record::UndoEnded
            | Record::Swept => {}
            Record::Intent(intent) => self.steps.push(PastStep {
                intent: *intent,
                fate: Fate::Unsaid,
                digest: None,
                undone: false,
            }),
            Record::Folder(intent) => {
                let folder = PastFolder {
                    intent: *intent,
                    fate: Fate::Unsaid,
                    made: None,
                    undone: false,
                };
                self.folders.insert(folder.intent.step, folder);
            }
            Record::FolderMade { step, folder: made } => {
                if let Some(folder) = self.folders.get_mut(&step) {
                    folder.made = Some(made);
                }
            }
            Record::Done { step, now, digest } => match self.folders.get_mut(&step) {
                Some(folder) => folder.fate = Fate::Done(now),
                None => self.with(step, |s| {
                    s.fate = Fate::Done(now);
                    s.digest = digest;
                }),
            },
            Record::NotDone { step, .. } => match self.folders.get_mut(&step) {
                Some(folder) => folder.fate = Fate::NotDone,
                None => self.with(step, |s| s.fate = Fate::NotDone),
            },
            Record::Undone { step } => match self.folders.get_mut(&step) {
                Some(folder) => folder.undone = true,
                None => self.with(step, |s| s.undone = true),
            },
            Record::AllUndone => self.all_undone = true,
        }
    }

    fn with(&mut self, step: u64, change: impl FnOnce(&mut PastStep)) {
        // Numbers grow: the first try is nearly always right.
        let guess = usize::try_from(step).unwrap_or(usize::MAX);
        let place = match self.steps.get(guess) {
            Some(found) if found.intent.step == step => Some(guess),
            _ => self.steps.iter().position(|s| s.intent.step == step),
        };
        if let Some(place) = place {
            change(&mut self.steps[place]);
        }
    }
}

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
    /// It was removed for good, and the run was killed before it removed this file, which belongs together with it.
    Torn(PathBuf),
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
            path: as_path(path).to_owned(),
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
