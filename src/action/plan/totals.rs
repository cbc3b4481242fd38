//! The totals of a plan: sets, steps, bytes, and files that are left alone; and how many bytes each set frees.

use std::collections::BTreeMap;

use super::set::{Fate, PlannedFile, SetPlan};
use crate::action::ActionKind;
use crate::action::reason::{Code, Reason};
use crate::action::step::pair::unshared;

/// The totals of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Sets in which the plan acts.
    pub sets: u64,
    /// Steps: names that are acted on, and sidecar files that are carried.
    pub steps: u64,
    /// Of these, sidecar files that are carried.
    pub carried: u64,
    /// Bytes of the files of the other steps, at their full length.
    pub bytes: u64,
    /// Bytes that are freed on the disk.
    pub frees: u64,
    /// Names of the files that stay.
    pub kept: u64,
    /// Steps that free nothing, because a further name of the file stays somewhere.
    pub free_nothing: u64,
    /// Steps whose kept file belongs to another owner.
    pub other_owner: u64,
    /// Sets left alone because none of their files lies below a reference.
    pub without_reference: u64,
    /// Bytes that do not count as freed, since other files or snapshots share these blocks.
    pub shared: u64,
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
                    self.kept += names;
                }
                Fate::Carry(_) => {
                    self.carried += 1;
                    self.steps += 1;
                }
                // Counted as a set.
                Fate::Leave(why) if why.code == Code::NoReference => {}
                Fate::Leave(why) => self.leave(why, names),
                Fate::Act { frees, .. } => {
                    acts = true;
                    let steps = file.acted(action).len() as u64;
                    self.steps += steps;
                    if set.other_owner(file, action).is_some() {
                        self.other_owner += steps;
                    }
                    self.bytes = self.bytes.saturating_add(file.size);
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
        self.shared = self.shared.saturating_add(set.shared);
    }

    fn leave(&mut self, why: &Reason, names: u64) {
        // Each group names its own file.
        let why = match why.code {
            Code::NoCopyOf | Code::StaysToo => Code::Group.into(),
            _ => why.clone(),
        };
        *self.left.entry(why).or_default() += names;
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

/// Estimates what the files of a set free that are acted on: their allocated blocks that nothing else shares. A file of
/// which a name remains frees nothing. `destination` is the file system that files are moved to.
pub fn estimate(set: &mut SetPlan, action: ActionKind, destination: Option<u64>) {
    set.shared = 0;
    for file in set.files.iter_mut().filter(|file| file.goes()) {
        let elsewhere = file.names_elsewhere() > 0;
        let stays_there = match action {
            // Into the trash of the same file system.
            ActionKind::Trash => true,
            ActionKind::Move => destination == Some(file.volume.location.dev) || elsewhere,
            // The file itself gives its blocks back, whatever names it has.
            ActionKind::Reflink => false,
            ActionKind::Remove | ActionKind::Hardlink | ActionKind::Symlink => elsewhere,
        };
        if stays_there {
            continue;
        }
        let own = own_blocks(file);
        set.shared = set.shared.saturating_add(file.allocated - own);
        if let Fate::Act { frees, .. } = &mut file.fate {
            *frees = own;
        }
    }
}

/// Bytes of the file in blocks that it does not share.
fn own_blocks(file: &PlannedFile) -> u64 {
    // A program or a server would take its time for each file.
    let opened = file.volume.shares_blocks.then(|| file.open()).flatten();
    opened.map_or(file.allocated, |opened| unshared(&opened, file.allocated))
}
