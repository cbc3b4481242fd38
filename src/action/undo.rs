//! Takes a run back, as its journal tells it, and clears up after one that was killed.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::folder_entry::{Identity, Place, parent};
use super::journal::{Journal, JournalError};
use super::leftovers;
use super::partial_groups;
use super::past::{Fate, Past, PastFolder, PastStep};
use super::reads::{self, Reads};
use super::record::{FolderIntent, Record, RunHeader, State};
use super::runs;
use super::step::ActionKind;
use super::tree_lock::few_folders;
use super::undo_folder::{self, Back, MadeAgain};
use super::undo_step::{self, Manner};
use crate::sys::{fault, process, stat, sync};

/// The outcome of one undone step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The file is as it was before.
    Restored,
    /// The file is back, but for this: who ran undo may not give it.
    RestoredWithout(Vec<&'static str>),
    /// The file is back, but for this: nothing proves its bytes, and another user could have written them.
    RestoredUnproven(Vec<&'static str>),
    /// The file was as before; something that a killed run had left beside it is gone.
    Cleaned,
    /// The file is as before: the step was never done, or undone before.
    AsBefore,
    /// Something changed since, or the system refused: nothing was touched, and this is why.
    Refused(String),
    /// It was removed for good.
    Impossible,
}

impl Undone {
    pub(super) fn restored(lack: Lack) -> Self {
        match lack {
            Lack { missing, .. } if missing.is_empty() => Self::Restored,
            Lack { missing, proven } if proven => Self::RestoredWithout(missing),
            Lack { missing, .. } => Self::RestoredUnproven(missing),
        }
    }

    fn is_restored(&self) -> bool {
        matches!(
            self,
            Self::Restored | Self::RestoredWithout(_) | Self::RestoredUnproven(_)
        )
    }
}

/// The metadata that a restored file lacks.
#[derive(Debug)]
pub(super) struct Lack {
    pub missing: Vec<&'static str>,
    /// Its bytes are known to be its own, or nobody else could have changed them.
    pub proven: bool,
}

impl Lack {
    /// It has everything.
    pub const NOTHING: Self = Self {
        missing: Vec::new(),
        proven: true,
    };
}

/// One step of a run that is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// Absolute path of the file.
    pub path: Vec<u8>,
    /// The action that was taken.
    pub action: ActionKind,
    /// The outcome.
    pub undone: Undone,
}

/// The totals of an undo, or of its dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoTally {
    /// The run's name.
    pub run: String,
    /// Files that are as before, and were not when the undo began.
    pub restored: u64,
    /// Of these, files that do not have all that they had: owner, mode, times, extended attributes.
    pub lacking: u64,
    /// Files beside which something was left that is gone.
    pub cleaned: u64,
    /// Files that already were as before.
    pub as_before: u64,
    /// Files that were left as they are.
    pub refused: u64,
    /// Files that were removed for good.
    pub impossible: u64,
    /// Folders that are as before, and were gone when the undo began.
    pub folders: u64,
    /// Folders that did not come back, or not with all that they had.
    pub folders_refused: u64,
    /// Files that came back and had further names, which are names of another file now.
    pub apart: u64,
    /// Lines of the journal that are damaged, counted from 1: their steps are not known.
    pub damaged: Vec<usize>,
    /// Why the journal could not record every undone step. A second undo finds these files restored.
    pub unwritten: Option<String>,
    /// It was told to stop, and steps are left.
    pub interrupted: bool,
}

/// Undoes a run, or the last one that did anything; its last step first.
///
/// What changed since is refused, each with its reason. May be called again at any time, after a crash
/// as well: it goes on where it was.
///
/// # Errors
/// If there is no such run, it still goes on, its journal cannot be read, or the last run cannot be
/// determined.
pub fn undo(
    folder: &Path,
    run: Option<&str>,
    tell: &mut dyn FnMut(&Undo),
) -> Result<UndoTally, JournalError> {
    Ok(Reversion::open(folder, run)?.carry_out(&AtomicBool::new(false), tell))
}

/// A run that is about to be undone. No other process can do so while this lives.
#[derive(Debug)]
pub struct Reversion {
    journal: Journal,
    past: Past,
    reads: Reads,
    io_idle: bool,
}

impl Reversion {
    /// Takes up a run's journal, or that of the last run that did anything.
    ///
    /// # Errors
    /// As [`undo`].
    pub fn open(folder: &Path, run: Option<&str>) -> Result<Self, JournalError> {
        let name = match run {
            Some(run) => run.to_owned(),
            None => runs::last(folder)?,
        };
        fault::arm();
        let (journal, past) = Journal::reopen(folder, &name)?;
        Ok(Self {
            journal,
            past,
            reads: Reads::default(),
            io_idle: false,
        })
    }

    /// Reads files by these rules, and only while no other program uses the disk if `io_idle`.
    #[must_use]
    pub fn reading(mut self, reads: &Reads, io_idle: bool) -> Self {
        self.reads = reads.clone();
        self.io_idle = io_idle;
        self
    }

    /// The run's name.
    pub fn run_name(&self) -> &str {
        self.journal.run_name()
    }

    /// True if the run removed files for good and did nothing else: nothing of it can be undone.
    pub fn is_permanent(&self) -> bool {
        self.past.is_permanent()
    }

    /// The number of steps that the run did.
    pub fn done(&self) -> usize {
        self.past.done()
    }

    /// The header of the run.
    pub fn header(&self) -> &RunHeader {
        &self.past.header
    }

    /// Folders that hold everything that will be touched.
    pub fn places(&self) -> Vec<PathBuf> {
        let steps = self.past.steps.iter().filter(|step| !step.undone);
        let paths = steps.flat_map(|step| {
            let intent = &step.intent;
            let further = [&intent.destination, &intent.trash_info].into_iter();
            let further = further.flatten();
            further.chain([&intent.victim, &intent.keeper])
        });
        let removed = self.past.folders.values().filter(|folder| !folder.undone);
        let paths = paths.chain(removed.map(|folder| &folder.intent.folder));
        let folders = paths.filter_map(|path| {
            let path = Path::new(OsStr::from_bytes(&path.0));
            path.parent().map(Path::to_owned)
        });
        few_folders(folders.collect())
    }

    /// Says what would be done, and does nothing.
    ///
    /// A file is read only if its times do not prove its content.
    pub fn preview(&self, tell: &mut dyn FnMut(&Undo)) -> UndoTally {
        let _idle = reads::enter_idle(self.io_idle);
        let mut tally = self.tally();
        let partial = partial_groups::of(&self.past);
        let mut back = HashSet::new();
        for folder in removed(&self.past) {
            let undone = match back.contains(parent(&folder.intent.folder.0)) {
                true => Undone::Restored,
                false => undo_folder::foretell(folder),
            };
            if undone == Undone::Restored {
                back.insert(&folder.intent.folder.0[..]);
            }
            tally.count_folder(&folder.intent, undone, tell);
        }
        for step in self.past.steps.iter().rev() {
            if step.undone || step.fate == Fate::NotDone {
                tally.as_before += 1;
            } else if back.contains(parent(&step.intent.victim.0)) {
                tally.count(
                    step,
                    undo_step::foretell_in_new_folder(step, &self.reads),
                    tell,
                );
            } else {
                let (undone, _) = undo_one(step, None, &partial, (Manner::Look, &self.reads));
                tally.count(step, undone, tell);
            }
        }
        tally
    }

    /// Takes the run back. Ends after the current step once `stop` is set; another undo continues there.
    pub fn carry_out(mut self, stop: &AtomicBool, tell: &mut dyn FnMut(&Undo)) -> UndoTally {
        let _idle = reads::enter_idle(self.io_idle);
        let mut tally = self.tally();
        let begun = self.journal.note(&[Record::Undoing]);
        tally.note(begun);
        let mut pending = Pending::new();
        let mut linked = Linked::of(&self.past);
        let partial = partial_groups::of(&self.past);
        let made = make_folders(&self.past, &mut self.journal, &mut tally, stop, tell);
        for step in self.past.steps.iter().rev() {
            if stop.load(Ordering::Relaxed) {
                tally.interrupted = true;
                break;
            }
            if step.undone || step.fate == Fate::NotDone {
                tally.as_before += 1;
                linked.is_back(step, false);
                continue;
            }
            let (undone, folder) = undo_one(
                step,
                linked.companion(step),
                &partial,
                (Manner::Act, &self.reads),
            );
            if undone.is_restored() || matches!(undone, Undone::Cleaned | Undone::AsBefore) {
                linked.is_back(step, undone.is_restored());
            }
            if undone.is_restored() || undone == Undone::Cleaned {
                let pushed = pending.push(&mut self.journal, step.intent.step, folder);
                tally.note(pushed);
            }
            tally.count(step, undone, tell);
        }
        if !tally.interrupted {
            for folder in made.iter().rev() {
                let (undone, above) = folder.finish();
                if undone.is_restored() {
                    let pushed = pending.push(&mut self.journal, folder.intent.step, above);
                    tally.note(pushed);
                }
                tally.count_folder(folder.intent, undone, tell);
            }
        }
        let flushed = pending.flush(&mut self.journal);
        tally.note(flushed);
        tally.apart = linked.apart();
        if tally.interrupted {
            return tally;
        }
        // A damaged line may be a step: then not all is undone, for all that is known.
        let is_all = tally.refused + tally.folders_refused == 0 && tally.damaged.is_empty();
        let ended = match is_all {
            true => self.journal.write(&[Record::AllUndone]),
            false => self.journal.write(&[Record::UndoEnded]),
        };
        tally.note(ended);
        if is_all {
            self.journal.give_back();
        }
        tally
    }

    /// Restores only the files that the run left unfinished when it was cut short, and those of a group of which it
    /// took a part; other finished steps stay done. Ends after the current step once `stop` is set.
    pub fn sweep(mut self, stop: &AtomicBool, tell: &mut dyn FnMut(&Undo)) -> UndoTally {
        let _idle = reads::enter_idle(self.io_idle);
        let mut tally = self.tally();
        let mut pending = Pending::new();
        let partial = partial_groups::of(&self.past);
        for step in self.past.steps.iter().rev() {
            if stop.load(Ordering::Relaxed) {
                tally.interrupted = true;
                break;
            }
            let is_half_done = leftovers::half_done(step, &partial, false).is_some();
            if !is_half_done && !leftovers::is_out_of_reach(step) {
                continue;
            }
            let (undone, folder) = undo_one(step, None, &partial, (Manner::Act, &self.reads));
            if undone.is_restored() || undone == Undone::Cleaned {
                let pushed = pending.push(&mut self.journal, step.intent.step, folder);
                tally.note(pushed);
            }
            tally.count(step, undone, tell);
        }
        let flushed = pending.flush(&mut self.journal);
        tally.note(flushed);
        if tally.refused == 0 && !tally.interrupted {
            let written = self.journal.write(&[Record::Swept]);
            tally.note(written);
        }
        tally
    }

    fn tally(&self) -> UndoTally {
        UndoTally {
            run: self.journal.run_name().to_owned(),
            damaged: self.past.damaged.clone(),
            ..UndoTally::default()
        }
    }
}

impl UndoTally {
    fn count(&mut self, step: &PastStep, undone: Undone, tell: &mut dyn FnMut(&Undo)) {
        *match &undone {
            restored if restored.is_restored() => &mut self.restored,
            Undone::Cleaned => &mut self.cleaned,
            Undone::AsBefore => &mut self.as_before,
            Undone::Refused(_) => &mut self.refused,
            _ => &mut self.impossible,
        } += 1;
        self.lacking += u64::from(undone.is_restored() && undone != Undone::Restored);
        tell(&Undo {
            path: step.intent.victim.0.clone(),
            action: step.intent.action,
            undone,
        });
    }

    fn count_folder(&mut self, intent: &FolderIntent, undone: Undone, tell: &mut dyn FnMut(&Undo)) {
        self.folders += u64::from(undone.is_restored());
        self.lacking += u64::from(undone.is_restored() && undone != Undone::Restored);
        self.folders_refused += u64::from(matches!(undone, Undone::Refused(_)));
        tell(&Undo {
            path: intent.folder.0.clone(),
            action: intent.action,
            undone,
        });
    }

    /// Records a step. If that fails, undo continues, because the files show their state.
    fn note(&mut self, written: Result<(), JournalError>) {
        if let Err(error) = written {
            self.unwritten.get_or_insert(error.to_string());
        }
    }
}

/// Removed folders that are not back, the outermost first.
fn removed(past: &Past) -> impl Iterator<Item = &PastFolder> {
    let folders = past.folders.values().rev();
    folders.filter(|folder| !folder.undone && !folder.stayed)
}

/// Makes removed folders again, the outermost first; tells of those that need nothing more.
fn make_folders<'a>(
    past: &'a Past,
    journal: &mut Journal,
    tally: &mut UndoTally,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Undo),
) -> Vec<MadeAgain<'a>> {
    let mut made = Vec::new();
    for folder in removed(past) {
        if stop.load(Ordering::Relaxed) {
            tally.interrupted = true;
            break;
        }
        match undo_folder::make(folder) {
            Back::Ended(undone) => tally.count_folder(&folder.intent, undone, tell),
            Back::Made(again) => {
                let (step, ino) = (folder.intent.step, again.identity.1);
                let noted = journal.note(&[Record::FolderMade { step, ino }]);
                tally.note(noted);
                made.push(again);
            }
        }
    }
    made
}

/// Undoes a step. Of a partial group, a missing file is copied from the kept one.
fn undo_one(
    step: &PastStep,
    companion: Option<&[u8]>,
    partial: &HashSet<u64>,
    (manner, reads): (Manner, &Reads),
) -> (Undone, Option<OwnedFd>) {
    match undo_step::undo(step, companion, manner, reads) {
        (Undone::Impossible, _) if step.intent.together.is_some_and(|g| partial.contains(&g)) => {
            undo_step::undo_removal(step, manner, reads)
        }
        undone => undone,
    }
}

/// Files that had several names, so that they become names of one file again.
#[derive(Debug, Default)]
struct Linked<'a> {
    files: HashMap<State, Names<'a>>,
}

#[derive(Debug, Default)]
struct Names<'a> {
    /// How many there were.
    number: u32,
    /// One of them that is as before.
    back: Option<&'a [u8]>,
    /// One came back in this undo.
    restored: bool,
}

impl<'a> Linked<'a> {
    fn of(past: &'a Past) -> Self {
        let mut linked = Self::default();
        let intents = past.steps.iter().map(|step| &step.intent);
        for intent in intents.filter(|intent| intent.names != 1) {
            let names = linked.files.entry(intent.victim_state).or_default();
            names.number = names.number.max(intent.names);
        }
        linked
    }

    /// A name of the same file that is as before.
    fn companion(&self, step: &PastStep) -> Option<&'a [u8]> {
        self.files.get(&step.intent.victim_state)?.back
    }

    fn is_back(&mut self, step: &'a PastStep, restored: bool) {
        if let Some(names) = self.files.get_mut(&step.intent.victim_state) {
            names.back.get_or_insert(&step.intent.victim.0);
            names.restored |= restored;
        }
    }

    /// Files of which names remain that this run knew nothing of: these still are names of the old file,
    /// and what came back is another one.
    fn apart(&self) -> u64 {
        let is_apart = |names: &&Names<'_>| {
            let now = names
                .back
                .and_then(|path| Place::of(path).ok()?.stat().ok());
            names.restored && now.is_some_and(|now| now.links < names.number)
        };
        self.files.values().filter(is_apart).count() as u64
    }
}

/// Steps that are undone before that is written down: their folders stay open so long.
const BATCH: usize = 64;

/// Steps that are undone, but not written down as such: first their folders must be on the disk.
#[derive(Debug)]
struct Pending {
    steps: Vec<u64>,
    folders: HashMap<Identity, OwnedFd>,
    /// Steps that may wait: each holds its folder open.
    most: usize,
}

impl Pending {
    /// None yet. A dozen descriptors are for the step at hand, and of the others half.
    fn new() -> Self {
        let spare = process::unused_descriptors().saturating_sub(12) / 2;
        Self {
            steps: Vec::new(),
            folders: HashMap::new(),
            most: spare.clamp(1, BATCH),
        }
    }

    fn push(
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
    fn flush(&mut self, journal: &mut Journal) -> Result<(), JournalError> {
        let folders = std::mem::take(&mut self.folders);
        let steps = std::mem::take(&mut self.steps);
        if folders.values().all(|folder| sync::folder(folder).is_ok()) {
            let undone = steps.into_iter().map(|step| Record::Undone { step });
            journal.note(&undone.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
