//! The totals of a plan: sets, steps, bytes, and files that are left alone; and how many bytes each set frees.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::set::{Fate, PlannedFile, SetPlan, Shared};
use crate::action::ActionKind;
use crate::action::reason::{Code, Reason};
use crate::sys::extents::{self, Extent};

/// The totals of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Sets in which the plan acts.
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
    /// Bytes of `frees` in blocks that several removed files share. The kernel does not report whether other files
    /// share them, too.
    pub frees_unless_shared: u64,
    /// Bytes that are not freed, since something outside the set shares these blocks: a snapshot, another file.
    pub held: u64,
    /// Names of files that must not be touched, by reason.
    pub untouched: BTreeMap<Code, u64>,
    /// Names left alone, by reason.
    pub left: BTreeMap<Reason, u64>,
}

impl Totals {
    /// Adds a set.
    pub(super) fn add(&mut self, set: &SetPlan, action: ActionKind) {
        let mut acts = false;
        let is_unknown = |file: &PlannedFile| file.fate == Fate::Leave(Code::NoReference.into());
        self.without_reference += u64::from(set.files.iter().filter(|f| is_unknown(f)).count() > 1);
        for file in &set.files {
            let names = file.names.len() as u64;
            match &file.fate {
                Fate::Keep(why) => {
                    // One of its names must not be touched.
                    if why.code <= Code::Older {
                        *self.untouched.entry(why.code).or_default() += names;
                    }
                    let going = file.acted(action).count() as u64;
                    acts |= going > 0;
                    self.steps += going;
                    self.further_names += going;
                    self.bytes += going * set.size;
                    self.kept += names - going;
                }
                // Counted as a set.
                Fate::Leave(why) if why.code == Code::NoReference => {}
                Fate::Leave(why) => self.leave(why, names),
                Fate::Act { frees, .. } => {
                    acts = true;
                    let steps = file.acted(action).count() as u64;
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
            self.leave(&name.why, 1);
        }
        self.sets += u64::from(acts);
        let Shared {
            unless_shared,
            held,
        } = set.shared;
        self.frees_unless_shared = self.frees_unless_shared.saturating_add(unless_shared);
        self.held = self.held.saturating_add(held);
    }

    fn leave(&mut self, why: &Reason, names: u64) {
        *self.left.entry(why.clone()).or_default() += names;
    }

    /// Number of names left alone because they are hidden or belong to a program.
    pub fn left_managed(&self) -> u64 {
        let left = self.left.iter();
        let managed = left.filter(|(why, _)| why.code == Code::Managed);
        managed.map(|(_, names)| names).sum()
    }

    /// True if a file was not as it was reported.
    pub fn has_problems(&self) -> bool {
        self.left.keys().any(Reason::is_problem)
    }
}

/// Estimates for the files of a set that are acted on.
///
/// Counts allocated blocks. A file of which a name remains frees nothing. An extent that a kept file refers to is not
/// freed. An extent that only several removed files of this set share counts once. A shared extent that only one of
/// them has is not freed, since something else refers to it. `destination` is the file system that files are moved to.
pub fn estimate(set: &mut SetPlan, action: ActionKind, destination: Option<u64>) {
    let shared = match set
        .files
        .iter()
        .any(|file| matches!(file.fate, Fate::Act { .. }))
    {
        true => set.files.iter().map(shared_extents).collect(),
        false => Vec::new(),
    };
    for (file, extents) in set.files.iter_mut().zip(&shared) {
        if extents.iter().any(|extent| extent.inline) {
            // Counted as a block, but there is none.
            file.allocated = 0;
        }
    }
    set.shared = Shared::default();
    let mut users: HashMap<u64, u32> = HashMap::new();
    let mut taken: HashSet<u64> = HashSet::new();
    for (file, extents) in set.files.iter().zip::<&Vec<Vec<Extent>>>(&shared) {
        for extent in extents {
            *users.entry(extent.physical).or_default() += 1;
            if !matches!(file.fate, Fate::Act { .. }) {
                taken.insert(extent.physical);
            }
        }
    }
    for (file, extents) in set.files.iter_mut().zip(&shared) {
        let elsewhere = file.names_elsewhere() > 0;
        let Fate::Act { frees, .. } = &mut file.fate else {
            continue;
        };
        let stays_there = match action {
            // Into the trash of the same file system.
            ActionKind::Trash => true,
            ActionKind::Move => destination == Some(file.volume.dev) || elsewhere,
            // The file itself gives its blocks back, whatever names it has.
            ActionKind::Reflink => false,
            ActionKind::Remove | ActionKind::Hardlink | ActionKind::Symlink => elsewhere,
        };
        if stays_there {
            continue;
        }
        let mut kept: u64 = 0;
        for extent in extents {
            let is_first = taken.insert(extent.physical);
            let is_only = users.get(&extent.physical) == Some(&1);
            if !is_first || is_only {
                kept = kept.saturating_add(extent.length);
            }
            let sum = match is_only {
                _ if extent.inline || !is_first => continue,
                true => &mut set.shared.held,
                false => &mut set.shared.unless_shared,
            };
            *sum = sum.saturating_add(extent.length);
        }
        *frees = file.allocated.saturating_sub(kept);
    }
}

/// The extents that the file shares with others, and the part of the file that is stored in the metadata, if the file
/// system reports them.
fn shared_extents(file: &PlannedFile) -> Vec<Extent> {
    // A program or a server would take its time for each file.
    if !file.shares_blocks {
        return Vec::new();
    }
    let extents = file.open().and_then(|file| extents::extents(&file));
    let mut extents = extents.unwrap_or_default();
    extents.retain(|extent| extent.shared || extent.inline);
    extents
}
