//! Checks the files of the next steps in a second thread, while the actor carries out the steps before.
//!
//! Opening and comparing two small files takes longer than the act itself. Steps that share a file are never checked
//! ahead of each other: the first step changes the state that the second one has to find.

use std::collections::HashSet;
use std::{iter, thread};

use crossbeam_channel::bounded;

use super::portion::Group;
use crate::action::reads::Reads;
use crate::action::reason::Reason;
use crate::action::step::StepFile;
use crate::action::step::check::{Bound, Opened, OwnChanges};
use crate::action::step::pair::Pair;
use crate::action::ways::folder_entry::Identity;
use crate::hash::ContentDigest;
use crate::heartbeat::current;

/// Maximum number of groups that are checked and wait for their turn. Each step keeps four descriptors open, and delays
/// writers of its two files.
const DEPTH: usize = 16;

/// Number of descriptors of checked steps that wait, where no step belongs together with another.
pub(super) const DESCRIPTORS: usize = 4 * (DEPTH + 1);

/// Maximum size of files that are checked ahead, so that writers wait no longer than such a check takes. Larger files
/// are checked when it is their turn.
const LARGEST: u64 = 1 << 20;

/// Minimum number of groups that are worth a thread.
const FEWEST: usize = 8;

/// How the bytes of a pair are proven equal.
pub(super) enum Proof {
    /// The kernel compares them while it acts.
    ByKernel,
    /// They are compared. `wanted` is true if undo needs the digest of the compared bytes.
    Compared { wanted: bool },
    /// The report is trusted, except for two names of one file, which are compared.
    Reported {
        digest: Option<ContentDigest>,
        wanted: bool,
    },
}

/// The data to check the files of one step.
pub(super) struct Check {
    pub keeper: Option<StepFile>,
    pub victim: StepFile,
    /// Change times of these two files that this run set.
    pub ours: OwnChanges,
    pub reads: Reads,
    pub proof: Proof,
}

/// Two files that are as expected.
pub(super) struct Checked {
    pub pair: Pair,
    /// The digest that undo checks.
    pub digest: Option<ContentDigest>,
    /// Their bytes were compared.
    pub compared: bool,
}

impl Check {
    /// Checks that keeper and victim are as expected. They are guarded as long as the pair exists.
    pub fn files(&self) -> Result<Checked, Reason> {
        let open = |target: &StepFile| Opened::open(target, Bound::Strict, &self.ours, &self.reads);
        let victim = open(&self.victim)?;
        let keeper = self.keeper.as_ref().map(open);
        let keeper = keeper.transpose().map_err(Reason::of_keeper)?;
        let mut pair = Pair { keeper, victim };
        let (wanted, reported) = match self.proof {
            Proof::ByKernel => (None, None),
            Proof::Compared { wanted } => (Some(wanted), None),
            // One number for two names is what some file systems give to two files.
            Proof::Reported { wanted, .. } if pair.is_one_file() => (Some(wanted), None),
            Proof::Reported { digest, .. } => (None, digest),
        };
        if !matches!(self.proof, Proof::ByKernel) {
            let guarded = pair.keeper.as_mut().map_or(Ok(()), Opened::guard);
            guarded.map_err(Reason::of_keeper)?;
            pair.victim.guard()?;
        }
        let digest = match wanted {
            Some(wanted) => pair.compare(wanted)?,
            None => reported,
        };
        let compared = wanted.is_some();
        Ok(Checked {
            pair,
            digest,
            compared,
        })
    }

    fn may_be_ahead(&self) -> bool {
        self.victim.expected.size <= LARGEST && matches!(self.proof, Proof::Compared { .. })
    }
}

/// Splits groups into parts, without a change of their order, so that no two groups of a part have a file in common.
pub(super) fn apart(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let mut parts: Vec<Vec<Group>> = Vec::new();
    let mut met = HashSet::new();
    for group in groups {
        let files = files_of(&group);
        let is_apart = files.iter().all(|file| !met.contains(file));
        if !is_apart {
            met.clear();
        }
        met.extend(files);
        match parts.last_mut() {
            Some(part) if is_apart => part.push(group),
            _ => parts.push(vec![group]),
        }
    }
    parts
}

fn files_of(group: &Group) -> Vec<Identity> {
    let steps = group
        .iter()
        .filter_map(|(_, sketched)| sketched.as_ref().ok());
    let files = steps.flat_map(|sketched| sketched.keeper.iter().chain([&sketched.victim]));
    files.filter_map(|file| file.expected.identity()).collect()
}

/// True if these groups may be checked ahead: no check takes long, and each one ends before the act begins.
pub(super) fn is_worth_it(groups: &[Vec<Check>]) -> bool {
    groups.iter().flatten().all(Check::may_be_ahead)
}

/// Computes a result for each item, and passes the results on in order.
///
/// A second thread computes them ahead if there are enough and `may_run_ahead` allows it.
pub(super) fn in_order<T: Sync, R: Send>(
    items: &[T],
    may_run_ahead: bool,
    make: impl Fn(&T) -> R + Sync,
    mut hand_over: impl FnMut(R),
) {
    let here = |hand_over: &mut dyn FnMut(_)| items.iter().map(&make).for_each(hand_over);
    if !may_run_ahead || items.len() < FEWEST {
        return here(&mut hand_over);
    }
    thread::scope(|scope| {
        let (to_actor, from_thread) = bounded(DEPTH);
        let make = &make;
        let heartbeat = current::child();
        let ahead = move || {
            current::watched(heartbeat, || {
                for item in items {
                    let made = make(item);
                    current::rest();
                    if to_actor.send(made).is_err() {
                        break;
                    }
                }
            });
        };
        match thread::Builder::new()
            .name("check".to_owned())
            .spawn_scoped(scope, ahead)
        {
            Ok(_) => {
                let next = || {
                    current::rest();
                    from_thread.recv().ok()
                };
                iter::from_fn(next).for_each(&mut hand_over);
            }
            Err(_) => here(&mut hand_over),
        }
    });
}
