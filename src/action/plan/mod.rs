//! Turns claims about files into steps that are safe to take.
//!
//! ```text
//! Claim ─ Inspector: what is really there ─ Policy: who stays ─ Spool ─ groups ─ Plan ─► steps
//! ```
//!
//! A claim names the files to compare, and the paths under which they were found. The proof that they are equal comes
//! later. The planner looks up every name, resolves the links and `..` of its folder, and joins the names of one file.
//! Each file belongs to one set only. The planner processes one set at a time, so memory contains one set and 8 bytes
//! for each file.

mod by_folder;
mod claim;
mod classes;
mod dangling;
mod decide;
mod emptied;
mod estimate;
mod folder_pairs;
mod full;
mod groups;
mod inspector;
mod mount_check;
mod planner;
mod ranking;
mod set;
mod settings;
mod side_effects;
mod spool;
mod steps;
mod totals;
mod trash_check;
mod unit;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{ActionKind, Step, few_folders};
use crate::action::reason::{Code, Reason};
use groups::Together;
use mount_check::MountCheck;
use spool::Spool;
use steps::steps;
use trash_check::TrashCheck;
use whole::WholeFolders;

pub use claim::{Claim, ClaimedFacts, ClaimedFile, Origin};
pub use dangling::{BrokenLink, Dangling, LinkPlaces};
pub use decide::{Choice, Policy};
pub use emptied::EmptyFolder;
pub use folder_pairs::FolderPairs;
pub use inspector::Inspector;
pub use planner::Planner;
pub use ranking::Ranking;
pub use set::{Fate, LeftName, PlannedFile, PlannedName, SetPlan, Shared};
pub use settings::{FurtherNames, Noise, Settings, Sidecars};
pub use totals::Totals;
pub use trash_check::{HomeTrash, SkippedTrash};

/// Maximum number of separate folders; beyond it, folders above represent them.
const FOLDERS: usize = 4096;

/// A plan, ready to be shown, stored or carried out.
#[derive(Debug)]
pub struct Plan {
    settings: Settings,
    mounts: MountCheck,
    trash: TrashCheck,
    unmatched: Vec<String>,
    spool: Spool,
    together: Together,
    whole: WholeFolders,
    dangling: Dangling,
    emptied: Vec<EmptyFolder>,
    totals: Totals,
}

impl Plan {
    /// A plan without sets.
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            mounts: MountCheck::default(),
            trash: TrashCheck::default(),
            unmatched: Vec::new(),
            spool: Spool::new(),
            together: Together::default(),
            whole: WholeFolders::default(),
            dangling: Dangling::default(),
            emptied: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// The action.
    pub fn action(&self) -> ActionKind {
        self.settings.policy.action
    }

    /// The totals.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// True if further names of files that stay may be removed.
    pub fn by_name(&self) -> bool {
        self.settings.policy.by_name
    }

    /// All sets, in the order in which they came.
    pub fn sets(&mut self) -> io::Result<impl Iterator<Item = io::Result<SetPlan>>> {
        let (settings, together, whole) = (&self.settings, &self.together, &self.whole);
        let sets = self.spool.sets()?;
        Ok(sets.map(move |set| {
            let mut set = set?;
            // Both, whatever the first one changes.
            if together.apply(&mut set) | whole.apply(&mut set) {
                estimate::estimate(&mut set, settings.policy.action, settings.destination);
            }
            Ok(set)
        }))
    }

    /// The same; stops at the first error, which is the caller's or the temporary file's.
    pub fn each_set<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(&SetPlan) -> Result<(), E>,
    ) -> Result<(), E> {
        for set in self.sets()? {
            each(&set?)?;
        }
        Ok(())
    }

    /// Number of sets for which [`reconsider`](Self::reconsider) calls back. It includes the sets that the plan leaves
    /// alone only because groups stay: another choice can let them all go.
    pub fn open_sets(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for set in self.spool.sets()? {
            number += u64::from(set?.acts());
        }
        Ok(number)
    }

    /// Decides again: calls back for each set in which the plan would act.
    pub fn reconsider<E: From<io::Error>>(
        mut self,
        mut ask: impl FnMut(&SetPlan) -> Result<Choice, E>,
    ) -> Result<Self, E> {
        let mut before = std::mem::replace(&mut self.spool, Spool::new());
        for set in before.sets()? {
            let set = set?;
            if set.acts() {
                let choice = ask(&set)?;
                self.decide(set, &choice)?;
            } else {
                self.spool.push(&set)?;
            }
        }
        Ok(self.summed_up()?)
    }

    /// Trash folders that would come first for files of the plan and cannot be used, while others can.
    pub fn skipped_trash(&self) -> &[SkippedTrash] {
        &self.trash.skipped
    }

    /// Patterns of `--protect` that match no name of any set.
    pub fn unmatched(&self) -> &[String] {
        &self.unmatched
    }

    /// Keep rules whose pattern matches no file of any set.
    pub fn unmatched_rules(&self) -> impl Iterator<Item = &str> {
        self.settings.policy.rules.unmatched()
    }

    /// True if a report has files, and all of them lie outside the given paths.
    pub fn is_all_outside(&self) -> bool {
        let totals = &self.totals;
        totals.kept == 0 && totals.left.keys().eq([&Reason::from(Code::OutsidePaths)])
    }

    /// Decides which groups stay, then computes the totals.
    fn summed_up(mut self) -> io::Result<Self> {
        self.keep_together()?;
        let action = self.action();
        if !self.settings.policy.pairs.is_empty() && !self.settings.allows_managed {
            self.whole = self.look_for_whole_folders()?;
        }
        let mut totals = Totals::default();
        self.each_set(|set| {
            totals.add(set, action);
            io::Result::Ok(())
        })?;
        self.totals = totals;
        Ok(self)
    }

    /// Finds the managed folders that would go in part only.
    fn look_for_whole_folders(&mut self) -> io::Result<WholeFolders> {
        self.whole = WholeFolders::default();
        let mut whole = WholeFolders::default();
        self.each_set(|set| {
            whole.note(set);
            io::Result::Ok(())
        })?;
        let mut spreads = whole.look();
        while spreads {
            spreads = false;
            self.each_set(|set| {
                spreads |= whole.spread(set);
                io::Result::Ok(())
            })?;
        }
        Ok(whole)
    }

    fn keep_together(&mut self) -> io::Result<()> {
        let mut together = Together::default();
        let mut each = |step: &mut dyn FnMut(&SetPlan)| {
            for set in self.spool.sets()? {
                step(&set?);
            }
            io::Result::Ok(())
        };
        each(&mut |set| together.count(set))?;
        each(&mut |set| together.hold(set))?;
        // Once is enough: what stays later are further copies.
        each(&mut |set| together.note_copies(set))?;
        each(&mut |set| together.hold_without_copy(set))?;
        // What is held lets more be held.
        let mut before = (0, 0);
        while together.len() != before {
            before = together.len();
            each(&mut |set| together.hold(set))?;
        }
        self.together = together;
        Ok(())
    }

    /// All steps, in the order of their sets. Steps that belong together come together, when the last of them is
    /// reached; until then, they stay in memory, at about 1 kB for each.
    pub fn each_group<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(Vec<Step>) -> Result<(), E>,
    ) -> Result<(), E> {
        let action = self.action();
        let mut held: BTreeMap<u64, Vec<Step>> = BTreeMap::new();
        self.each_set(|set| {
            let groups = groups::sizes(set);
            for step in steps(set, action) {
                let Some(&(group, size)) = groups.get(&step.victim.path[..]) else {
                    each(vec![step])?;
                    continue;
                };
                let others = held.entry(group).or_default();
                others.push(step);
                if others.len() >= size
                    && let Some(whole) = held.remove(&group)
                {
                    each(whole)?;
                }
            }
            Ok::<_, E>(())
        })?;
        // What is not complete stays.
        Ok(())
    }

    /// The folders of all files in the plan, since a report may come from anywhere. If there are very many, folders
    /// above represent them.
    pub fn folders(&mut self) -> io::Result<Vec<PathBuf>> {
        let mut folders = BTreeSet::new();
        self.each_set(|set| {
            for name in set.files.iter().flat_map(|file| &file.names) {
                let folder = Path::new(OsStr::from_bytes(&name.path)).parent();
                folders.extend(folder.map(Path::to_owned));
            }
            if folders.len() > FOLDERS {
                let few = few_folders(std::mem::take(&mut folders));
                folders = few.into_iter().collect();
            }
            io::Result::Ok(())
        })?;
        Ok(folders.into_iter().collect())
    }
}
