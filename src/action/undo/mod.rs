//! Undoes a run by its journal, and cleans up after a run that was killed.

pub(in crate::action) mod leftovers;
mod undo_folders;

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::access::ActionKind;
use super::failure::failure;
use super::journal::Journal;
use super::journal::past::{Fate, Past, PastStep};
use super::journal::past::{Object, UndoTally, Undone, UndoneFile};
use super::journal::record::{Record, RecordedState, RunHeader};
use super::journal::runs::{self, RunLock};
use super::places::{self, Context, End, Manner, Purpose, Recovered, Scene};
use super::reads::{self, Reads};
use super::reason::{Code, Reason};
use super::step::folders;
use super::ways::folder_entry::{Identity, NameInFolder, parent};
use super::ways::folder_identity::Parents;
use crate::file::as_path;
use crate::sys::{fault, process, stat, sync};

/// What is done with a run that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// It is undone, its last step first. Files that have changed since are refused, each with its reason.
    Undo,
    /// Only the files that it left unfinished when it was cut short are restored, and those of a partial group. Other
    /// finished steps stay done.
    Sweep,
}

/// A run that is about to be undone. No other process can undo it while this value exists.
#[derive(Debug)]
pub struct Reversion {
    folder: PathBuf,
    journal: Journal,
    past: Past,
    reads: Reads,
    io_idle: bool,
}

impl Reversion {
    /// Opens a run's journal, or that of the last run that did anything.
    ///
    /// # Errors
    /// If there is no such run, it still goes on, or its journal cannot be read.
    pub fn open(folder: &Path, run: Option<&str>) -> Result<Self, Reason> {
        let name = match run {
            Some(run) => run.to_owned(),
            None => runs::last(folder)?,
        };
        fault::arm();
        let (journal, past) = Journal::reopen(folder, &name)?;
        Ok(Self {
            folder: folder.to_owned(),
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

    /// Locks the folder of its journal: undo must not run beside another run.
    ///
    /// # Errors
    /// If another run has it.
    pub fn lock(&self) -> Result<RunLock, Reason> {
        RunLock::take(&self.folder)
    }

    /// Reports the expected results, and changes nothing.
    ///
    /// A file is read only if its times do not prove its content.
    pub fn preview(&self, tell: &mut dyn FnMut(&UndoneFile)) -> UndoTally {
        let _idle = reads::enter_idle(self.io_idle);
        let mut tally = self.tally();
        let stop = AtomicBool::new(false);
        let past = (&self.past, &self.reads);
        pass(past, Purpose::Undo, None, &stop, &mut tally, tell);
        tally
    }

    /// Takes the run back. Ends after the current step once `stop` is set. It may be called again at any time, also
    /// after a crash: it continues at the same place.
    pub fn take_back(
        mut self,
        back: Back,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&UndoneFile),
    ) -> UndoTally {
        let _idle = reads::enter_idle(self.io_idle);
        let mut tally = self.tally();
        let purpose = match back {
            Back::Undo => {
                tally.note(self.journal.note(&[Record::Undoing]));
                Purpose::Undo
            }
            Back::Sweep => Purpose::Sweep,
        };
        let past = (&self.past, &self.reads);
        let journal = Some(&mut self.journal);
        pass(past, purpose, journal, stop, &mut tally, tell);
        let has_refused = tally.refused + tally.folders_refused > 0;
        // A damaged line may be a step: then not all is undone, for all that is known.
        let is_all = !has_refused && tally.damaged.is_empty() && tally.unwritten.is_none();
        let end = match back {
            _ if tally.interrupted => return tally,
            Back::Sweep if has_refused => return tally,
            Back::Sweep => Record::Swept,
            Back::Undo if is_all => Record::AllUndone,
            Back::Undo => Record::UndoEnded,
        };
        tally.note(self.journal.write(&[end]));
        if back == Back::Undo && is_all {
            self.journal.give_back();
        }
        tally
    }

    fn tally(&self) -> UndoTally {
        UndoTally {
            run: self.journal.run_name().to_owned(),
            damaged: self.past.damaged.clone(),
            was_killed: self.past.was_killed,
            ..UndoTally::default()
        }
    }
}

/// Recovers the steps of a run, the last one first, and its folders. Without a journal, it only looks.
fn pass<'a>(
    (past, reads): (&'a Past, &Reads),
    purpose: Purpose,
    mut journal: Option<&mut Journal>,
    stop: &AtomicBool,
    tally: &mut UndoTally,
    tell: &mut dyn FnMut(&UndoneFile),
) {
    let is_undo = purpose == Purpose::Undo;
    let manner = match journal {
        Some(_) => Manner::Act,
        None => Manner::Look,
    };
    let torn = leftovers::torn_groups(past);
    let made = past.folders.values();
    let made = made.filter_map(|folder| Some((folder.intent.folder.0.clone(), folder.made?)));
    let parents = Parents::with(made);
    let context = Context::new(manner, reads, &parents);
    let mut linked = Linked::default();
    let mut made = Vec::new();
    let mut back = HashSet::new();
    match &mut journal {
        None => back = undo_folders::foretell(past, &parents, tally, tell),
        Some(journal) if is_undo => {
            linked = Linked::of(past);
            made = undo_folders::make(past, &parents, journal, tally, stop, tell);
        }
        Some(_) => {}
    }
    let mut batch = Batch::new(journal);
    let mut stuck = HashSet::new();
    for step in past.steps.iter().rev() {
        if stop.load(Ordering::Relaxed) {
            tally.interrupted = true;
            break;
        }
        if is_undo && (step.undone || step.fate == Fate::NotDone) {
            tally.as_before += 1;
            tally.never_changed += u64::from(!step.undone);
            linked.is_back(step);
            if manner == Manner::Act && !past.all_undone {
                clear(step, &mut stuck, tally, tell);
            }
            continue;
        }
        let group = step.intent.together;
        let context = Context {
            torn_group: group.is_some_and(|group| torn.contains_key(&group)),
            ..context
        };
        let is_unfinished = || {
            leftovers::is_half_done(step, context.torn_group, false)
                || leftovers::is_out_of_reach(step)
        };
        if !is_undo && !is_unfinished() {
            continue;
        }
        let (undone, folder) = if back.contains(parent(&step.intent.victim.0)) {
            (foretell_in_new_folder(step), None)
        } else {
            recover(step, purpose, linked.companion(step), context)
        };
        let left = group.and_then(|group| torn.get(&group));
        let undone = match (undone, left) {
            (Undone::Impossible, Some(left)) => Undone::Torn(as_path(&left.0).to_owned()),
            (undone, _) => undone,
        };
        let restored = undone.is_restored();
        if restored || matches!(undone, Undone::Cleaned | Undone::AsBefore) {
            linked.is_back(step);
            if manner == Manner::Act {
                clear(step, &mut stuck, tally, tell);
            }
        }
        // A step of which a sweep only removed leftovers may be done.
        if restored || is_undo && undone == Undone::Cleaned {
            tally.note(batch.push(step.intent.step, folder));
        }
        tally.never_changed += u64::from(was_not_reached(past, step, &undone));
        tally.count(Object::File(&step.intent), undone, tell);
    }
    if !tally.interrupted {
        for folder in made.iter().rev() {
            let (undone, above) = folder.finish();
            if undone.is_restored() {
                tally.note(batch.push(folder.intent.step, above));
            }
            tally.count(Object::Folder(folder.intent), undone, tell);
        }
    }
    tally.note(batch.flush());
}

/// Removes the folders that a step made, and reports each that the system does not remove once.
fn clear<'a>(
    step: &'a PastStep,
    stuck: &mut HashSet<&'a [u8]>,
    tally: &mut UndoTally,
    tell: &mut dyn FnMut(&UndoneFile),
) {
    if let Err((folder, error)) = folders::remove(step.intent.created())
        && stuck.insert(folder)
    {
        tally.folders_refused += 1;
        tell(&UndoneFile {
            path: as_path(folder).to_owned(),
            action: step.intent.action,
            outcome: Undone::Refused(failure("remove the folder that the run made", error)),
        });
    }
}

/// True if the run was killed before it changed the file of this step. After an undo that was cut short, that undo may
/// have restored the file.
fn was_not_reached(past: &Past, step: &PastStep, undone: &Undone) -> bool {
    step.fate == Fate::Unsaid && *undone == Undone::AsBefore && !past.undo_cut_short
}

/// Files that had several names, so that they become names of one file again: one of the names of each that is as
/// before.
#[derive(Debug, Default)]
struct Linked<'a>(HashMap<RecordedState, Option<&'a [u8]>>);

impl<'a> Linked<'a> {
    fn of(past: &'a Past) -> Self {
        let intents = past.steps.iter().map(|step| &step.intent);
        let linked = intents.filter(|intent| intent.names != 1);
        Self(linked.map(|intent| (intent.victim_state, None)).collect())
    }

    /// A name of the same file that is as before.
    fn companion(&self, step: &PastStep) -> Option<&'a [u8]> {
        *self.0.get(&step.intent.victim_state)?
    }

    fn is_back(&mut self, step: &'a PastStep) {
        if let Some(back) = self.0.get_mut(&step.intent.victim_state) {
            back.get_or_insert(&step.intent.victim.0);
        }
    }
}

/// Recovers a step; also returns the folder whose names it may have changed.
///
/// `companion` is another name that the file had, and that is restored.
fn recover(
    step: &PastStep,
    purpose: Purpose,
    companion: Option<&[u8]>,
    context: Context<'_>,
) -> (Undone, Option<OwnedFd>) {
    let place = match NameInFolder::of(&step.intent.victim.0) {
        Ok(place) => place,
        Err(why) if why.code == Code::Gone && is_removed(step) => {
            return (Undone::Impossible, None);
        }
        Err(why) => return (Undone::Refused(unreachable(why)), None),
    };
    let scene = Scene::of_past(step, &place, companion, context);
    let recovered = scene.and_then(|scene| places::recover(scene, purpose));
    (undone(recovered), Some(place.folder))
}

/// True if a file was removed permanently.
fn is_removed(step: &PastStep) -> bool {
    step.intent.action == ActionKind::Remove && matches!(step.fate, Fate::Done(_))
}

/// The reason why a folder above a file or a removed folder cannot be opened.
pub(in crate::action) fn unreachable(why: Reason) -> Reason {
    match why.code {
        Code::Gone => Code::FolderGone.into(),
        Code::ThroughLink => Code::FolderIsLink.into(),
        _ => why,
    }
}

fn undone(recovered: Result<Recovered, Reason>) -> Undone {
    let recovered = match recovered {
        Ok(recovered) => recovered,
        Err(why) => return Undone::Refused(why),
    };
    match recovered.end {
        End::Gone => Undone::Impossible,
        _ if recovered.is_restored => Undone::restored(recovered.lack),
        _ if recovered.is_cleaned => Undone::Cleaned,
        _ => Undone::AsBefore,
    }
}

/// The expected result for a moved file whose folder will be created again: no file has its name there.
fn foretell_in_new_folder(step: &PastStep) -> Undone {
    let intent = &step.intent;
    let place = intent
        .destination
        .as_ref()
        .map(|path| NameInFolder::of(&path.0));
    let there = place.and_then(|place| place.ok()?.stat().ok());
    let was = &intent.victim_state;
    let code = match there {
        Some(now) if (now.size, now.mtime_ns) == (was.size, was.mtime_ns) => {
            return Undone::Restored;
        }
        Some(_) => Code::ChangedSinceRun,
        None => Code::Gone,
    };
    Undone::Refused(Reason::from(code).of_other("the moved file"))
}

/// Maximum number of undone steps before they are recorded: their folders stay open until then.
const BATCH: usize = 64;

/// Undone steps that are not recorded yet: first their folders must be on the disk.
#[derive(Debug)]
struct Batch<'a> {
    /// Nothing is recorded without one.
    journal: Option<&'a mut Journal>,
    steps: Vec<u64>,
    folders: HashMap<Identity, OwnedFd>,
    /// Maximum number of steps that wait: each keeps its folder open.
    most: usize,
}

impl<'a> Batch<'a> {
    /// An empty batch. A dozen descriptors are for the present step; the batch may use half of the others.
    fn new(journal: Option<&'a mut Journal>) -> Self {
        let spare = process::unused_descriptors().saturating_sub(12) / 2;
        Self {
            journal,
            steps: Vec::new(),
            folders: HashMap::new(),
            most: spare.clamp(1, BATCH),
        }
    }

    fn push(&mut self, step: u64, folder: Option<OwnedFd>) -> Result<(), Reason> {
        self.steps.push(step);
        if let Some(folder) = folder
            && let Ok(stat) = stat::descriptor(&folder)
        {
            self.folders.insert((stat.dev, stat.ino), folder);
        }
        if self.steps.len() < self.most {
            Ok(())
        } else {
            self.flush()
        }
    }

    /// Records the undone steps, unless a folder cannot be synced: undo then checks them again.
    fn flush(&mut self) -> Result<(), Reason> {
        let folders = std::mem::take(&mut self.folders);
        let steps = std::mem::take(&mut self.steps);
        if let Some(journal) = &mut self.journal {
            for folder in folders.values() {
                sync::folder(folder)
                    .map_err(|error| failure("sync undone steps to the disk", error))?;
            }
            let undone = steps.into_iter().map(|step| Record::Undone { step });
            journal.note(&undone.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
