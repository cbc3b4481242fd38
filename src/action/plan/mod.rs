//! From what is said about files to the steps that are safe to take.
//!
//! ```text
//! Claim ─ Inspector: what is really there ─ Policy: who stays ─ Spool ─ companions ─ Plan ─► steps
//! ```
//!
//! A claim says which files to compare, and which paths they were found in; that they are equal is proven later.
//! Every name is looked up, its folder's links and `..` are resolved, names of one file are put together, and a file
//! takes part in one set only. A set goes through on its own, so that memory holds one set and 8 bytes for each file.

mod by_name;
mod claim;
mod classes;
mod dangling;
mod decide;
mod emptied;
mod entries;
mod estimate;
mod full;
mod inspector;
mod mount_check;
mod ranking;
mod reach;
mod set;
mod sidecars;
mod spool;
mod steps;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::coherence::FileSystems;
use super::{ActionKind, Common, Step, few_folders};
use crate::heartbeat::current;
use inspector::Inspector;
use mount_check::MountCheck;
use reach::Reach;
use sidecars::Companions;
use spool::Spool;
use steps::acted_names;

pub use claim::{Claim, ClaimedFacts, ClaimedFile, Origin};
pub use dangling::{Dangling, DanglingLink, LinkPlaces};
pub use decide::{Choice, Policy};
pub use emptied::EmptyFolder;
pub use mount_check::MountCheckMode;
pub use ranking::Ranking;
pub use set::{Fate, Kept, Left, LeftName, PlannedFile, PlannedName, SetPlan, Shared};
pub use sidecars::Parted;
pub use steps::steps;

/// How to treat files that belong together by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sidecars {
    /// They go each by its own set; what is torn apart is named.
    #[default]
    Tell,
    /// They go together or not at all.
    KeepTogether,
    /// They are not looked for.
    Ignore,
}

/// How to treat hard links to a kept file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FurtherNames {
    /// They stay.
    #[default]
    Stay,
    /// They are duplicates if the report counts them as such.
    AsReported,
    /// They are duplicates.
    Go,
}

/// How a plan is made.
#[derive(Debug)]
pub struct Settings {
    /// The policy that chooses the kept files.
    pub policy: Policy,
    /// Where something may be done.
    pub bounds: super::bounds::Bounds,
    /// How to treat companions.
    pub sidecars: Sidecars,
    /// Whether names of files that stay may go.
    pub further_names: FurtherNames,
    /// Bytes will not be compared: nothing about a file may have changed since it was listed.
    pub strict: bool,
    /// `st_dev` of the file system that files are moved to.
    pub destination: Option<u64>,
    /// Folders that are empty afterwards go, where [`Bounds`](super::bounds::Bounds) let them.
    pub remove_empty_folders: bool,
}

/// Takes sets, one after the other.
#[derive(Debug)]
pub struct Planner {
    settings: Settings,
    inspector: Inspector,
    reach: Reach,
    file_systems: FileSystems,
    spool: Spool,
}

impl Planner {
    /// Starts with nothing planned.
    pub fn new(mut settings: Settings, origin: Origin) -> Self {
        settings.heed(&origin);
        settings.policy.by_reference |= !settings.bounds.reference.is_empty();
        let bounds = std::mem::take(&mut settings.bounds);
        Self {
            inspector: Inspector::new(origin, bounds, settings.strict),
            reach: Reach::default(),
            file_systems: FileSystems::default(),
            settings,
            spool: Spool::new(),
        }
    }

    /// Says where the sets come from, once that is known; before the first set.
    pub fn from_origin(&mut self, origin: Origin) {
        self.settings.heed(&origin);
        self.inspector.origin = origin;
    }

    /// Plans for one set.
    pub fn add(&mut self, claim: Claim) -> io::Result<()> {
        let added = self.look_and_add(claim);
        current::rest();
        added
    }

    fn look_and_add(&mut self, claim: Claim) -> io::Result<()> {
        let mut set = self.inspector.look(claim);
        let number = match self.settings.policy.by_name {
            true => {
                entries::once_each(&mut set);
                set.files.iter().map(|file| file.names.len()).sum()
            }
            false => set.files.len(),
        };
        if number < 2 && set.left.is_empty() {
            return Ok(());
        }
        if self.settings.policy.common == Common::Access {
            classes::look(&mut set);
        }
        if self.settings.policy.keepers_matter() {
            self.reach.look(&mut set);
        }
        self.settings.decide(&mut set, &Choice::ByRule);
        for file in &set.files {
            self.file_systems.note(file.dev, &file.names[0].path);
        }
        self.spool.push(&set)
    }

    /// Ends the plan.
    pub fn finish(self) -> io::Result<Plan> {
        let unmatched = self.inspector.unmatched();
        Plan {
            settings: Settings {
                bounds: self.inspector.bounds,
                ..self.settings
            },
            file_systems: self.file_systems,
            unproven: None,
            unmatched,
            spool: self.spool,
            companions: Companions::default(),
            parted: Vec::new(),
            dangling: Dangling::default(),
            emptied: Vec::new(),
            totals: Totals::default(),
        }
        .summed_up()
    }
}

impl Settings {
    /// Takes over what the source of the sets says about all of them.
    fn heed(&mut self, origin: &Origin) {
        self.policy.isolate |= origin.isolate;
        self.policy.by_name |= match self.further_names {
            FurtherNames::Stay => false,
            FurtherNames::AsReported => origin.hard_links,
            FurtherNames::Go => true,
        };
    }

    /// Gives each file of a set its fate.
    fn decide(&self, set: &mut SetPlan, choice: &Choice) {
        self.policy.decide(set, choice);
        if self.policy.action == ActionKind::Move {
            // A name cannot leave its file system; it would become a copy that takes more space.
            let files = set.files.iter_mut();
            for file in files.filter(|file| self.destination != Some(file.volume)) {
                file.names.iter_mut().for_each(|name| name.goes = false);
            }
        }
        if self.policy.action == ActionKind::Hardlink {
            full::divide(set);
        }
        estimate::estimate(set, self.policy.action, self.destination);
    }
}

/// The totals of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sets in which something is done.
    pub sets: u64,
    /// Steps: names that are acted on.
    pub steps: u64,
    /// Bytes of the files of these steps, at their full length.
    pub bytes: u64,
    /// Bytes that are freed on the disk.
    pub frees: u64,
    /// Names of the files that stay.
    pub kept: u64,
    /// Steps that free nothing, because a further name of the file stays somewhere.
    pub free_nothing: u64,
    /// Steps that act on further names of files that stay; they free nothing either.
    pub further_names: u64,
    /// Steps whose kept file belongs to another owner.
    pub other_owner: u64,
    /// Sets left alone because none of their files lies below a reference.
    pub without_reference: u64,
    /// Bytes of `frees` in blocks that several files that go share. The kernel does not say whether others do, too.
    pub frees_unless_shared: u64,
    /// Bytes that are not freed, since something outside the set shares these blocks: a snapshot, another file.
    pub held: u64,
    /// Device numbers of the files that are acted on, with a path on each.
    pub devices: BTreeMap<u64, Vec<u8>>,
    /// Names left alone, by reason.
    pub left: BTreeMap<Left, u64>,
}

impl Totals {
    /// Adds a set.
    fn add(&mut self, set: &SetPlan, action: ActionKind) {
        let mut acts = false;
        let is_unknown = |file: &PlannedFile| file.fate == Fate::Leave(Left::NoReference);
        self.without_reference += u64::from(set.files.iter().filter(|f| is_unknown(f)).count() > 1);
        for file in &set.files {
            let names = file.names.len() as u64;
            match &file.fate {
                Fate::Keep(_) => {
                    let going = file.going().count() as u64;
                    acts |= going > 0;
                    self.steps += going;
                    self.further_names += going;
                    self.bytes += going * set.size;
                    self.kept += names - going;
                }
                // Counted as a set.
                Fate::Leave(Left::NoReference) => {}
                Fate::Leave(why) => *self.left.entry(why.clone()).or_default() += names,
                Fate::Act { frees, .. } => {
                    acts = true;
                    self.devices
                        .entry(file.dev)
                        .or_insert_with(|| file.names[0].path.clone());
                    let steps = acted_names(file, action).len() as u64;
                    self.steps += steps;
                    if set.other_owner(file, action).is_some() {
                        self.other_owner += steps;
                    }
                    self.bytes = self.bytes.saturating_add(set.size);
                    self.frees = self.frees.saturating_add(*frees);
                    if *frees == 0 && file.names_elsewhere() > 0 {
                        self.free_nothing += steps;
                    }
                }
            }
        }
        for name in &set.left {
            *self.left.entry(name.why.clone()).or_default() += 1;
        }
        self.sets += u64::from(acts);
        let Shared {
            unless_shared,
            held,
        } = set.shared;
        self.frees_unless_shared = self.frees_unless_shared.saturating_add(unless_shared);
        self.held = self.held.saturating_add(held);
    }

    /// True if something was not as it was said to be.
    pub fn has_problems(&self) -> bool {
        self.left.keys().any(Left::is_problem)
    }
}

/// Folders that are told apart before some above them stand for them.
const FOLDERS: usize = 4096;

/// Companions that are named one by one; beyond these they are counted.
const PARTED_NAMED: usize = 1000;

/// A plan, ready to be shown, written down or carried out.
#[derive(Debug)]
pub struct Plan {
    settings: Settings,
    file_systems: FileSystems,
    unproven: Option<(u64, String)>,
    unmatched: Vec<String>,
    spool: Spool,
    companions: Companions,
    parted: Vec<Parted>,
    dangling: Dangling,
    emptied: Vec<EmptyFolder>,
    totals: Totals,
}

impl Plan {
    /// The action.
    pub fn action(&self) -> ActionKind {
        self.settings.policy.action
    }

    /// The totals.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Companions that would be torn apart, or that are kept together and so stay; a thousand of
    /// them at most.
    pub fn parted(&self) -> &[Parted] {
        &self.parted
    }

    /// True if further names of files that stay may go.
    pub fn by_name(&self) -> bool {
        self.settings.policy.by_name
    }

    /// True if companions stay together.
    pub fn keeps_together(&self) -> bool {
        self.settings.sidecars == Sidecars::KeepTogether
    }

    /// All sets, in the order in which they came; stops at the first error, which is the caller's or
    /// the temporary file's.
    pub fn each_set<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(&SetPlan) -> Result<(), E>,
    ) -> Result<(), E> {
        let (settings, companions) = (&self.settings, &self.companions);
        for set in self.spool.sets()? {
            let mut set = set?;
            if companions.apply(&mut set) {
                estimate::estimate(&mut set, settings.policy.action, settings.destination);
            }
            each(&set)?;
        }
        Ok(())
    }

    /// Decides anew: asks for each set in which something would be done.
    pub fn reconsider<E: From<io::Error>>(
        mut self,
        mut ask: impl FnMut(&SetPlan) -> Result<Choice, E>,
    ) -> Result<Self, E> {
        let mut decided = Spool::new();
        for set in self.spool.sets()? {
            let mut set = set?;
            if set.acts() {
                let choice = ask(&set)?;
                self.settings.decide(&mut set, &choice);
            }
            decided.push(&set)?;
        }
        self.spool = decided;
        Ok(self.summed_up()?)
    }

    /// Leaves alone files whose file system cannot do the action, and files that may be the kept file itself, seen
    /// through another mount.
    pub fn check_mounts(mut self, mode: MountCheckMode) -> io::Result<Self> {
        if self.file_systems.are_all_in_kernel() {
            return Ok(self);
        }
        let (action, destination) = (self.action(), self.settings.destination);
        let mut check = MountCheck::new(action, mode, &mut self.file_systems);
        let mut checked = Spool::new();
        for set in self.spool.sets()? {
            let mut set = set?;
            check.set(&mut set);
            estimate::estimate(&mut set, action, destination);
            checked.push(&set)?;
        }
        self.unproven = check.unproven;
        self.spool = checked;
        self.summed_up()
    }

    /// Patterns of `--protect` that match no name of any set.
    pub fn unmatched(&self) -> &[String] {
        &self.unmatched
    }

    /// True if a report has files, and none of them lies below the given paths.
    pub fn is_all_outside(&self) -> bool {
        let totals = &self.totals;
        totals.kept == 0 && totals.left.keys().eq([&Left::OutsidePaths])
    }

    /// Names that are acted on although nothing proves that the kept file is another one, and the type of file
    /// system that is the reason.
    pub fn unproven(&self) -> Option<(u64, &str)> {
        let (names, kind) = self.unproven.as_ref()?;
        Some((*names, kind))
    }

    /// Looks for companions, then adds everything up.
    fn summed_up(mut self) -> io::Result<Self> {
        self.companions = Companions::default();
        self.parted.clear();
        let action = self.action();
        if self.takes_names() && self.settings.sidecars != Sidecars::Ignore {
            self.look_for_companions()?;
        }
        let mut totals = Totals::default();
        self.each_set(|set| {
            totals.add(set, action);
            io::Result::Ok(())
        })?;
        self.totals = totals;
        Ok(self)
    }

    /// True if names are gone from where they were. A link stands where its file stood.
    fn takes_names(&self) -> bool {
        matches!(
            self.action(),
            ActionKind::Remove | ActionKind::Trash | ActionKind::Move
        )
    }

    /// Looks for symbolic links that the plan will break. Call it when the plan is complete.
    pub fn look_for_links(&mut self, places: &LinkPlaces<'_>) -> io::Result<()> {
        if !self.takes_names() || self.totals.steps == 0 || matches!(places, LinkPlaces::Nowhere) {
            return Ok(());
        }
        let action = self.action();
        let mut search = dangling::Search::default();
        self.each_set(|set| {
            steps(set, action).for_each(|step| search.note(&step.victim.path));
            io::Result::Ok(())
        })?;
        // A link that is found may be what others lead to.
        for _ in 0..dangling::LINKS_IN_A_ROW {
            let before = search.dangling().number;
            if matches!(places, LinkPlaces::Beside) {
                let mut looked = HashSet::new();
                self.each_set(|set| {
                    steps(set, action)
                        .for_each(|step| search.beside(&step.victim.path, &mut looked));
                    io::Result::Ok(())
                })?;
            }
            search.below(places);
            if search.dangling().number == before {
                break;
            }
        }
        current::rest();
        self.dangling = search.dangling().clone();
        Ok(())
    }

    /// Links that will be broken, as far as they were looked for.
    pub fn dangling(&self) -> &Dangling {
        &self.dangling
    }

    /// Looks for folders that are empty afterwards, if they are to go. Call it when the plan is complete.
    pub fn look_for_empty_folders(&mut self) -> io::Result<()> {
        self.emptied.clear();
        if !self.takes_names() || !self.settings.remove_empty_folders {
            return Ok(());
        }
        let action = self.action();
        let mut search = emptied::Search::default();
        self.each_set(|set| {
            steps(set, action).for_each(|step| search.note(&step.victim.path));
            io::Result::Ok(())
        })?;
        self.emptied = search.folders(&self.settings.bounds);
        current::rest();
        Ok(())
    }

    /// True if folders that are empty afterwards go.
    pub fn removes_empty_folders(&self) -> bool {
        self.settings.remove_empty_folders
    }

    /// Folders that are empty afterwards and go, a folder after those in it.
    pub fn empty_folders(&self) -> &[EmptyFolder] {
        &self.emptied
    }

    fn look_for_companions(&mut self) -> io::Result<()> {
        for set in self.spool.sets()? {
            self.companions.note(&set?);
        }
        if self.companions.is_empty() {
            return Ok(());
        }
        let together = self.settings.sidecars == Sidecars::KeepTogether;
        for set in self.spool.sets()? {
            for parted in self.companions.parted(&set?) {
                if together {
                    self.companions.hold(&parted);
                }
                if self.parted.len() < PARTED_NAMED {
                    self.parted.push(parted);
                }
            }
        }
        if !together {
            return Ok(());
        }
        // A file that stays because of one of its names holds what belongs to the others.
        let mut spreads = true;
        while spreads {
            spreads = false;
            for set in self.spool.sets()? {
                spreads |= self.companions.spread(&set?);
            }
        }
        for set in self.spool.sets()? {
            let mut set = set?;
            self.companions.apply(&mut set);
            self.companions.count(&set);
        }
        Ok(())
    }

    /// All steps, in the order of their sets. Those that belong together come together, when the last of them
    /// is reached; until then they are held in memory, at about 1 kB for each.
    pub fn each_group<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(Vec<Step>) -> Result<(), E>,
    ) -> Result<(), E> {
        let action = self.action();
        let groups = self.companions.groups();
        let mut held: BTreeMap<u64, Vec<Step>> = BTreeMap::new();
        self.each_set(|set| {
            for step in steps(set, action) {
                let Some((group, size)) = groups.of(&step.victim.path) else {
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
        held.into_values().try_for_each(each)
    }

    /// The folders of all files that the plan names: a report may have been written anywhere. Of very many some folders
    /// above them stand for them.
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

    /// The steps of a set.
    pub fn steps<'s>(&self, set: &'s SetPlan) -> impl Iterator<Item = Step> + use<'s> {
        steps(set, self.action())
    }
}

impl SetPlan {
    /// True if something is done in this set.
    pub fn acts(&self) -> bool {
        let mut files = self.files.iter();
        files.any(|file| matches!(file.fate, Fate::Act { .. }) || file.going().next().is_some())
    }

    /// The owner of the file that stays for this one, if that is somebody else.
    pub fn other_owner(&self, file: &PlannedFile, action: ActionKind) -> Option<u32> {
        let Fate::Act { keeper, .. } = file.fate else {
            return None;
        };
        let owner = self.files.get(keeper)?.rights.uid;
        // What only shares blocks with another file does not depend on it.
        (owner != file.rights.uid && action != ActionKind::Reflink).then_some(owner)
    }
}
