//! Turns sets into steps that are safe to take.
//!
//! ```text
//! Set ─ Inspector: what is really there ─ Policy: who stays ─ Checks ─ what goes together ─ Plan ─► steps
//! ```
//!
//! A set names the files to compare, and the paths under which they were found. The proof that they are equal comes
//! later. The planner looks up every name, resolves the links and `..` of its folder, and joins the names of one file.
//! Each file belongs to one set only.

mod by_folder;
mod carry;
mod decide;
mod effects;
mod groups;
mod inspector;
mod name;
mod origin;
mod planner;
mod ranking;
mod real_paths;
mod set;
mod together;
mod totals;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use groups::Groups;
use planner::Checks;

use super::{ActionKind, Step};
use crate::action;
use crate::action::bounds::Bounds;
use crate::action::reason::{Code, Reason};
use crate::heartbeat::current;

pub use by_folder::FolderPairs;
pub use decide::{Choice, Policy};
pub use effects::{BrokenLink, Dangling, EmptyFolder};
pub use inspector::Inspector;
pub use name::PlannedName;
pub use origin::{Listed, Origin};
pub use planner::Planner;
pub use ranking::Ranking;
pub use set::{Carried, Fate, LeftName, PlannedFile, SetPlan, Volume};
pub use totals::Totals;

/// How to treat files that belong together by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Sidecars {
    /// Remove, move or keep all files of a group together
    #[default]
    KeepTogether,
    /// The same. With `trash` and `move`, a group goes also if it has a sidecar file without a copy: this file goes
    /// beside the kept copy of the photo or film, where it replaces nothing
    #[cfg_attr(feature = "cli", value(skip))]
    Carry,
    /// Treat each file by itself
    Ignore,
}

/// The settings of a plan.
#[derive(Debug)]
pub struct Settings {
    /// The policy that chooses the kept files.
    pub policy: Policy,
    /// How its steps are carried out.
    pub acting: action::Settings,
    /// `st_dev` of the file system that files are moved to.
    pub destination: Option<u64>,
    /// The limits of the action.
    pub bounds: Bounds,
    /// How to treat files that belong together.
    pub sidecars: Sidecars,
    /// Also act in hidden folders, and in folders that a program manages.
    pub allows_managed: bool,
    /// Remove folders that will be empty, where [`Bounds`] allow it.
    pub remove_empty_folders: bool,
}

impl Settings {
    /// Only this action.
    pub fn new(action: ActionKind) -> Self {
        Self {
            policy: Policy::new(action),
            acting: action::Settings::default(),
            destination: None,
            bounds: Bounds::default(),
            sidecars: Sidecars::default(),
            allows_managed: false,
            remove_empty_folders: false,
        }
    }

    /// True if sidecar files without a copy can be carried: undo gives them and their photos back.
    fn can_carry(&self) -> bool {
        self.policy.action.moves_files() && self.policy.pairs.is_empty()
    }
}

/// A plan, ready to be shown or carried out.
#[derive(Debug)]
pub struct Plan {
    settings: Settings,
    checks: Checks,
    reasons: HashSet<Reason>,
    unmatched: Vec<String>,
    groups: Groups,
    sets: Vec<SetPlan>,
    /// Sidecar files that are in none of these sets, each alone, if they may be carried.
    lone: Vec<SetPlan>,
    /// The number of sets without these: of them, those come last that the plan tells of.
    found: usize,
    dangling: Dangling,
    emptied: Vec<EmptyFolder>,
    totals: Totals,
}

impl Plan {
    /// A plan without sets.
    fn new(settings: Settings) -> Self {
        Self {
            groups: Groups::new(settings.sidecars == Sidecars::Carry && settings.can_carry()),
            settings,
            checks: Checks::default(),
            reasons: HashSet::new(),
            unmatched: Vec::new(),
            sets: Vec::new(),
            lone: Vec::new(),
            found: 0,
            dangling: Dangling::default(),
            emptied: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// The action.
    pub fn action(&self) -> ActionKind {
        self.settings.policy.action
    }

    /// How its steps are carried out.
    pub fn acting(&self) -> &action::Settings {
        &self.settings.acting
    }

    /// True if its action can carry sidecar files, and the plan carries none because it was not asked to.
    pub fn may_carry(&self) -> bool {
        self.settings.can_carry() && !self.groups.carries()
    }

    /// The totals.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// All sets, in the order in which they came.
    pub fn sets(&self) -> &[SetPlan] {
        &self.sets
    }

    /// Decides again: calls back for each set in which the plan would act, with the number of these sets. They include
    /// those that the plan leaves alone only because groups stay: another choice can let them all go.
    pub fn reconsider<E>(
        &mut self,
        mut ask: impl FnMut(&SetPlan, usize) -> Result<Choice, E>,
    ) -> Result<(), E> {
        let mut sets = std::mem::take(&mut self.sets);
        sets.truncate(self.found);
        for set in &mut sets {
            self.decide(set, &Choice::ByRule);
        }
        let open = sets.iter().filter(|set| set.acts()).count();
        for set in sets.iter_mut().filter(|set| set.acts()) {
            let choice = ask(set, open)?;
            self.decide(set, &choice);
        }
        self.sets = sets;
        self.sum_up();
        Ok(())
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

    /// Decides the fate of each file of a set by itself.
    fn decide(&mut self, set: &mut SetPlan, choice: &Choice) {
        let settings = &self.settings;
        settings.policy.decide(set, choice);
        self.checks.set(set, settings);
        // Most files of a plan have one of a few reasons.
        for file in &mut set.files {
            if let Fate::Keep(why) | Fate::Leave(why) = &mut file.fate {
                match self.reasons.get(why) {
                    Some(known) => why.clone_from(known),
                    None => drop(self.reasons.insert(why.clone())),
                }
            }
        }
        totals::estimate(set, settings.policy.action, settings.destination);
    }

    /// Leaves alone what must go together with something that stays, then computes the totals.
    fn sum_up(&mut self) {
        let (action, destination) = (self.action(), self.settings.destination);
        self.found = self.sets.len();
        self.sets.extend(self.lone.iter().cloned());
        let refuse = |file: &PlannedFile| self.checks.why_not(file, file, &self.settings);
        for changed in together::keep_together(&mut self.sets, &self.groups, refuse) {
            totals::estimate(&mut self.sets[changed], action, destination);
        }
        let lone = self.sets.split_off(self.found).into_iter();
        self.sets.extend(lone.filter(SetPlan::is_decided));
        self.totals = Totals::default();
        self.sets
            .iter()
            .for_each(|set| self.totals.add(set, action));
        current::rest();
    }

    /// All steps, in the order of their sets. Steps that belong together come together, when the last of them is
    /// reached.
    pub fn groups(&self) -> impl Iterator<Item = Vec<Step>> {
        let action = self.action();
        let mut held: BTreeMap<u64, Vec<Step>> = BTreeMap::new();
        self.sets.iter().flat_map(move |set| {
            let sizes = set.going_groups();
            let groups = set.steps(action).filter_map(|step| {
                let Some(&(group, size)) = sizes.get(&step.victim.path[..]) else {
                    return Some(vec![step]);
                };
                let others = held.entry(group).or_default();
                others.push(step);
                // What is not complete stays.
                let whole = (others.len() >= size).then(|| held.remove(&group));
                let mut whole = whole.flatten()?;
                // A sidecar file is in its new place before its photo goes.
                whole.sort_by_key(|step| !step.carries());
                Some(whole)
            });
            groups.collect::<Vec<_>>()
        })
    }

    /// Finds those of these symbolic links that the plan will break. Call it when the plan is complete.
    pub fn look_for_links(&mut self, links: &[PathBuf]) {
        if self.action().takes_names() {
            self.dangling = Dangling::look(&self.sets, self.action(), links);
            current::rest();
        }
    }

    /// Links that will be broken, as far as the search for them went.
    pub fn dangling(&self) -> &Dangling {
        &self.dangling
    }

    /// Searches for folders that will be empty, if they are to be removed. Call it when the plan is complete.
    pub fn look_for_empty_folders(&mut self) {
        if self.action().takes_names() && self.settings.remove_empty_folders {
            self.emptied = EmptyFolder::look(&self.sets, &self.settings);
            current::rest();
        }
    }

    /// True if folders that will be empty are removed.
    pub fn removes_empty_folders(&self) -> bool {
        self.settings.remove_empty_folders
    }

    /// Folders that will be empty and are removed, each after the folders in it.
    pub fn empty_folders(&self) -> &[EmptyFolder] {
        &self.emptied
    }
}
