//! The totals of a plan: sets, steps, bytes, and files that are left alone.

use std::collections::BTreeMap;

use super::set::{Fate, PlannedFile, SetPlan, Shared};
use crate::action::ActionKind;
use crate::action::reason::{Code, Reason};

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
