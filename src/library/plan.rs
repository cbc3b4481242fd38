//! A plan: what is done with which file. It can be looked at and changed, then carried out.

use std::convert::Infallible;
use std::env;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use walkdir::{DirEntry, WalkDir};

use super::Callback;
use super::error::Error;
use super::journals::Journals;
use super::path;
use super::watch::Cancel;
use crate::acting::{Host, Session, Work};
use crate::action::plan::{self, BrokenLink, Choice, Fate, Planner, SetPlan};
use crate::action::{ActionKind, ApplyControl, ApplyTally, Outcome, Raw, Reason, RunHeader};
use crate::hash::ContentDigest;
use crate::units::nanoseconds;

/// The planned steps for all files, to inspect and to apply. Nothing is changed before [`Plan::apply`].
pub struct Plan<'a> {
    plan: plan::Plan,
    caller: Caller<'a>,
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}

/// One set of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedSet {
    /// Length of each file, bytes.
    pub size: u64,
    /// BLAKE3 of the content, if it is known.
    pub digest: Option<ContentDigest>,
    /// Its files, in the order in which they were found.
    pub files: Vec<PlannedFile>,
    /// Names that have changed since they were found, and how.
    pub left: Vec<(PathBuf, Reason)>,
}

/// One file of a plan, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedFile {
    /// Its real absolute paths in this set; never empty.
    pub paths: Vec<PathBuf>,
    /// The fate of the file.
    pub fate: Fate,
    /// The number of its names (hard links) that are not in this set.
    pub names_elsewhere: u64,
    /// The owner (uid) of the file that stays for it, if that is another one.
    pub other_owner: Option<u32>,
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The planned action.
    pub action: ActionKind,
    /// The file that was acted on, an absolute path.
    pub path: PathBuf,
    /// The file that stays for it, an absolute path.
    pub kept: PathBuf,
    /// The outcome.
    pub outcome: Outcome,
}

/// The result of executing a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The run's name, for [`Journals::undo`]; empty if there was nothing to do.
    pub run: String,
    /// Steps that were done.
    pub done: u64,
    /// Steps that needed no change.
    pub already: u64,
    /// Steps that were not taken, because a check failed.
    pub skipped: u64,
    /// Steps that the system refused.
    pub failed: u64,
    /// Steps that were not reached: the run was cancelled, or the journal could not be written.
    pub unreached: u64,
    /// Bytes that were freed on the disk.
    pub freed: u64,
    /// Empty folders that were removed.
    pub folders: u64,
    /// Empty folders that could not be removed, and why.
    pub folders_left: Vec<(PathBuf, String)>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(planner: Planner) -> Self {
        let mut plan = planner.finish();
        plan.look_for_empty_folders();
        Self {
            plan,
            caller: Caller::default(),
        }
    }

    /// The totals.
    pub fn totals(&self) -> &plan::Totals {
        self.plan.totals()
    }

    /// The action.
    pub fn action(&self) -> ActionKind {
        self.plan.action()
    }

    /// Patterns of [`Action::protect`](super::Action::protect) that match no file of the plan; they may be mistyped.
    pub fn unmatched(&self) -> &[String] {
        self.plan.unmatched()
    }

    /// Folders that will be empty and are then removed, each after the folders in it.
    pub fn empty_folders(&self) -> impl Iterator<Item = PathBuf> {
        let folders = self.plan.empty_folders().iter();
        folders.map(|folder| path(&folder.path))
    }

    /// Looks below these folders for symbolic links that will lead nowhere; the first thousand. It lists the folders,
    /// and follows no link to another folder. Only [`remove`](super::Action::remove), `trash` and `move_to` break
    /// links.
    pub fn broken_links<P: AsRef<Path>>(
        &mut self,
        below: impl IntoIterator<Item = P>,
    ) -> &[BrokenLink] {
        let entries = below.into_iter().flat_map(WalkDir::new);
        let links = entries.filter_map(|entry| entry.ok().filter(DirEntry::path_is_symlink));
        let links: Vec<PathBuf> = links.map(DirEntry::into_path).collect();
        self.plan.look_for_links(&links);
        &self.plan.dangling().named
    }

    /// All sets, in the order in which they were found. Then come sidecar files without a copy that are
    /// [carried](Fate::Carry), or that cannot be, each alone.
    pub fn sets(&self) -> impl Iterator<Item = PlannedSet> {
        let action = self.plan.action();
        self.plan.sets().iter().map(move |set| planned(set, action))
    }

    /// Replaces the decision about each set in which something would be done. At least one file always stays.
    pub fn choose(&mut self, mut choose: impl FnMut(&PlannedSet) -> Choice) {
        let action = self.plan.action();
        let choose = |set: &SetPlan, _| Ok::<_, Infallible>(choose(&planned(set, action)));
        let Ok(()) = self.plan.reconsider(choose);
        self.plan.look_for_empty_folders();
    }

    /// Ends early when this is cancelled, between two steps.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.caller.cancel = cancel.clone();
        self
    }

    /// Receives each step after it has been synced to disk, which can be several hundred steps later.
    #[must_use]
    pub fn on_step(mut self, tell: impl FnMut(&Step) + Send + 'a) -> Self {
        self.caller.on_step = Some(Box::new(tell));
        self
    }

    /// Executes the plan. Each step is written to a new journal before it is taken. All files are checked and
    /// compared again. What killed runs left stays as it is: call [`Journals::sweep`] before the search.
    ///
    /// # Errors
    /// If another run that writes to these journals is active, or there can be no journal. Nothing was done then.
    pub fn apply(self, journals: &Journals) -> Result<Applied, Error> {
        let Self { plan, mut caller } = self;
        let session = Session {
            journals: Some(journals.folder()),
            header: RunHeader {
                version: 0,
                started_ns: nanoseconds(SystemTime::now()),
                command: env::args_os().map(|word| Raw(word.into_vec())).collect(),
            },
        };
        let done = session.run(|_| Ok(plan), &mut caller)?;
        let Some((plan, tally)) = done else {
            return Ok(Applied::default());
        };
        let named = |(folder, why): (Vec<u8>, String)| (path(&folder), why);
        Ok(Applied {
            unreached: tally.unreached(&plan),
            run: tally.run,
            done: tally.done,
            already: tally.already,
            skipped: tally.skipped,
            failed: tally.failed,
            freed: tally.freed,
            folders: tally.folders.removed,
            folders_left: tally.folders.left.into_iter().map(named).collect(),
        })
    }
}

/// The caller's side of a run.
#[derive(Default)]
struct Caller<'a> {
    cancel: Cancel,
    on_step: Option<Callback<'a, Step>>,
}

impl Host for Caller<'_> {
    type End = Error;

    fn apply(&mut self, _: &plan::Plan, work: Work<'_>) -> Result<ApplyTally, Reason> {
        let control = Arc::new(ApplyControl::stopped_by(self.cancel.flag()));
        work(&control, &mut |step, outcome| {
            if let Some(tell) = &mut self.on_step {
                tell(&Step {
                    action: step.action,
                    path: path(&step.victim.path),
                    kept: path(&step.keeper.path),
                    outcome: outcome.clone(),
                });
            }
        })
    }
}

fn planned(set: &SetPlan, action: ActionKind) -> PlannedSet {
    let files = set.files.iter().map(|file| PlannedFile {
        paths: file.names.iter().map(|name| path(name.path())).collect(),
        fate: file.fate.clone(),
        names_elsewhere: file.names_elsewhere(),
        other_owner: set.other_owner(file, action),
    });
    let left = set.left.iter();
    PlannedSet {
        size: set.size,
        digest: set.digest,
        files: files.collect(),
        left: left
            .map(|name| (path(&name.path), name.why.clone()))
            .collect(),
    }
}

impl PlannedFile {
    /// Its first path.
    pub fn path(&self) -> &Path {
        self.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }
}
