//! Carries out steps in portions: checks the files, records the steps, checks again, and acts.

mod ahead;
mod carry;
mod draft;
mod empty_folders;

pub use empty_folders::FolderTally;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use super::access::ActionKind;
use super::access::Common;
use super::coherence::{FileSystems, Location};
use super::failure::failure;
use super::journal::Journal;
use super::journal::record::Record;
use super::reads;
use super::reason::{Code, Facts, Reason};
use super::step::check::OwnChanges;
use super::step::synced::Synced;
use super::step::{Outcome, Settings, Step};
use super::ways::folder_entry::Identity;
use super::ways::folder_identity::Parents;
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::process::{self, Idle};
use crate::sys::sync::Wait;
use crate::sys::{fault, open};

/// Carries out the steps of one run.
pub struct Actor {
    settings: Settings,
    journal: Journal,
    /// Files whose change time this run set. Shared with the thread that checks files ahead.
    ours: Arc<OwnChanges>,
    /// Kept files whose copies were acted on.
    kept: HashSet<Identity>,
    synced: Synced,
    /// Whether each file system may answer from a cache.
    file_systems: FileSystems,
    /// The trash for the files at each location, as it was when this portion began: each step looks at it again.
    trashes: HashMap<Location, Vec<u8>>,
    /// Who may change the folders that this portion moves files into.
    parents: Parents,
    /// Changed folders that may not be on the disk yet.
    folders: HashMap<Vec<u8>, OwnedFd>,
    /// The files of finished steps, for the next thread that has time to close them.
    spent: Arc<Mutex<Spent>>,
    /// Steps that ended, but were not reported yet.
    ended: VecDeque<Ended>,
    /// Number of steps of one portion, as far as descriptors allow.
    portion: usize,
    on_end: Box<dyn Fn(&Step)>,
    /// A step could not be recorded.
    unwritten: bool,
    /// Only the files show whether a step was carried out.
    has_open_steps: bool,
    /// The idle I/O class: this thread, and those that it starts, read only while no other program uses the disk.
    _idle: Option<Idle>,
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actor")
            .field("settings", &self.settings)
            .field("journal", &self.journal)
            .finish_non_exhaustive()
    }
}

/// Open files of steps, each with the path of a file that is acted on.
type Spent = Vec<(Vec<u8>, [OwnedFd; 2])>;

/// A step that ended.
struct Ended {
    step: Step,
    outcome: Outcome,
    unproven: Unproven,
}

/// What may not be on the disk yet of a step that was done.
#[derive(Default)]
struct Unproven {
    /// Its folders.
    folders: Vec<Vec<u8>>,
    /// Its note in the trash: without it, only undo gives the file back.
    note: Option<OwnedFd>,
}

/// Steps that are recorded together, and share one wait for the disk.
///
/// Such a wait takes milliseconds. It takes up to a second beside a program that writes a lot, since the disk
/// also takes the data of that program. 10,000 steps need twenty-five waits. Each step has two files open meanwhile, of
/// which a server may allow 1,024 (sftp-server).
pub const BATCH: usize = 400;

/// A kept file that has to be waited for.
struct Unsynced {
    identity: Identity,
    ctime_ns: i64,
    fd: OwnedFd,
}

/// Called with each step and its outcome, in the order of the steps.
pub type Tell<'a> = &'a mut dyn FnMut(&Step, &Outcome);

impl Actor {
    /// Begins a run that writes to this journal.
    pub fn new(settings: Settings, journal: Journal) -> Self {
        fault::arm();
        let idle = reads::enter_idle(settings.io_idle);
        Self {
            settings,
            journal,
            ours: Arc::default(),
            kept: HashSet::new(),
            synced: Synced::default(),
            file_systems: FileSystems::default(),
            trashes: HashMap::new(),
            parents: Parents::default(),
            folders: HashMap::new(),
            spent: Arc::default(),
            ended: VecDeque::new(),
            portion: portion(),
            on_end: Box::new(|_| {}),
            unwritten: false,
            has_open_steps: false,
            _idle: idle,
        }
    }

    /// Sets a callback for each step that ended, before its outcome is certain.
    #[must_use]
    pub fn with_ends(mut self, on_end: impl Fn(&Step) + 'static) -> Self {
        self.on_end = Box::new(on_end);
        self
    }

    /// The run's name, for `seekless undo`.
    pub fn run_name(&self) -> &str {
        self.journal.run_name()
    }

    /// The properties that keeper and victim must share.
    fn common(&self, action: ActionKind) -> Common {
        Common::demanded(action, self.settings.across_owners, trust::is_root())
    }

    /// Best number of steps of one portion.
    pub fn portion(&self) -> usize {
        self.portion
    }

    /// Carries out a portion of steps. Steps of one group belong together: all of them are done, or none.
    ///
    /// An outcome is reported when the step is known to be on the disk: with the next portion, and for the last portion
    /// by [`Actor::finish`].
    pub fn perform_groups(&mut self, groups: Vec<Vec<Step>>, tell: Tell<'_>) {
        let mut unsynced = Vec::new();
        let drafted = self.draft_groups(groups, &mut unsynced);
        let acts = drafted.iter().flatten();
        let intents = acts.filter_map(|(_, act)| act.as_ref().ok());
        let intents = intents.map(|drafted| Record::Intent(Box::new(drafted.intent.clone())));
        let intents: Vec<_> = intents.collect();
        let written = self.sync(&intents, unsynced, tell);
        self.unwritten |= written.is_err();
        match written {
            Ok(()) => self.carry_out(drafted),
            Err(error) => {
                for (step, drafted) in drafted.into_iter().flatten() {
                    let outcome = match drafted {
                        Ok(_) => unwritten(&error),
                        Err(error) => error.into(),
                    };
                    self.end(step, outcome, Unproven::default());
                }
            }
        }
    }

    /// Waits until all steps are on the disk, and reports the outcomes that were not reported yet.
    pub fn finish(&mut self, tell: Tell<'_>) {
        if let Err(error) = self.sync(&[], Vec::new(), tell) {
            // Nothing was to be written down: nothing depends on it.
            tracing::warn!("{error}");
        }
    }

    /// Records the end of the run: its journal is complete. With an open step the run counts as cut short.
    ///
    /// # Errors
    /// If the record cannot be written. The run then counts as cut short.
    pub fn end_of_run(mut self) -> Result<(), Reason> {
        if self.has_open_steps {
            return Ok(());
        }
        self.journal.end()
    }

    /// True if a step could not be recorded: no further step can be recorded either.
    pub fn is_over(&self) -> bool {
        self.unwritten
    }

    /// Waits for the disk once for three things: the records of the next steps, the kept files, and the steps done
    /// before. Reports the outcomes of the latter.
    fn sync(
        &mut self,
        intents: &[Record],
        unsynced: Vec<Unsynced>,
        tell: Tell<'_>,
    ) -> Result<(), Reason> {
        let folders = std::mem::take(&mut self.folders);
        let files = unsynced.iter().map(|file| Wait::File(file.fd.as_fd()));
        let names = folders.values().map(|folder| Wait::Folder(folder.as_fd()));
        let notes = self
            .ended
            .iter()
            .filter_map(|ended| ended.unproven.note.as_ref());
        let of_trash = notes.map(|note| Wait::File(note.as_fd()));
        let waits: Vec<_> = files.chain(names).chain(of_trash).collect();
        let (written, told) = self.journal.write_with(intents, &waits);
        let of_folders = told.iter().skip(unsynced.len());
        let mut of_notes = of_folders.clone().skip(folders.len());
        for (file, &done) in unsynced.into_iter().zip(&told) {
            self.synced.note(file.identity, file.ctime_ns, done);
            // To close it may take for ever, too.
            open::ask_about(&file.fd);
        }
        current::rest();
        let failed: HashMap<&Vec<u8>, Errno> = folders
            .keys()
            .zip(of_folders)
            .filter_map(|(folder, done)| Some((folder, done.err()?)))
            .collect();
        for ended in self.ended.drain(..) {
            let of_note = ended.unproven.note.and_then(|_| of_notes.next()?.err());
            let mut folders = ended.unproven.folders.iter();
            let error = of_note.or_else(|| folders.find_map(|folder| failed.get(folder).copied()));
            let outcome = match error {
                Some(error) => {
                    let doing = "sync finished steps to the disk";
                    Outcome::Failed(failure(doing, error))
                }
                None => ended.outcome,
            };
            tell(&ended.step, &outcome);
        }
        written
    }

    fn end(&mut self, step: Step, outcome: Outcome, unproven: Unproven) {
        (self.on_end)(&step);
        self.ended.push_back(Ended {
            step,
            outcome,
            unproven,
        });
    }
}

/// Maximum number of steps of one portion.
///
/// Until its end, each step keeps its two files, their folders, the one of its destination and a note of the trash
/// open. The kept file has a second descriptor while it is synced. A dozen descriptors are for the present step, and
/// more for the steps that are checked ahead.
fn portion() -> usize {
    let free = process::unused_descriptors().saturating_sub(12 + ahead::DESCRIPTORS);
    (free / 8).clamp(1, BATCH)
}

fn unwritten(error: &Reason) -> Outcome {
    let doing = "write the journal, so nothing was done";
    Outcome::Failed(Code::JournalFull.with(Facts::caused(doing, error)))
}
