//! Checks the files of the next steps in a second thread, while the actor carries out the steps before.
//!
//! Opening and comparing two small files takes longer than the act itself. Steps that share a file are never checked
//! ahead of each other: the first step changes the state that the second one has to find.

use std::collections::HashSet;
use std::sync::Mutex;
use std::{iter, thread};

use crossbeam_channel::bounded;

use crate::action::access::{ActionKind, Reversal};
use crate::action::reason::Reason;
use crate::action::step::check::Opened;
use crate::action::step::pair::Act;
use crate::action::step::{Bond, Step};
use crate::action::ways::folder_entry::Identity;
use crate::hash::ContentDigest;
use crate::heartbeat::current;
use crate::lock::locked;

/// Number of groups that are handed over together: to wake the other thread takes as long as to check a group.
const TOGETHER: usize = 8;

/// Maximum number of groups that are checked and wait in the channel. Each step keeps four descriptors open, and delays
/// writers of its two files.
const DEPTH: usize = 16;

/// Number of descriptors of checked steps that wait, where no step belongs together with another: in the channel, for
/// room in it, and with the thread that took them out.
pub(super) const DESCRIPTORS: usize = 4 * (DEPTH + 2 * TOGETHER);

/// Maximum size of files that are checked ahead, so that writers wait no longer than such a check takes. Larger files
/// are checked when it is their turn.
const LARGEST: u64 = 1 << 20;

/// Minimum number of groups that are worth a thread.
const FEWEST: usize = 8;

/// A group of steps, each with its draft, or the reason why it is not fit.
pub(super) type Group = Vec<(Step, Result<Act, Reason>)>;

/// Compares the files of a group. They are guarded as long as they are open.
pub(super) fn check(group: &mut Group) {
    for (step, drafted) in group {
        if let Ok(drafted) = drafted {
            drafted.checked = compared(step, drafted);
        }
    }
}

fn compared(step: &Step, drafted: &mut Act) -> Result<Option<ContentDigest>, Reason> {
    let Act { intent, pair, .. } = drafted;
    current::ask_about(&step.victim.path);
    pair.victim.is_on_its_way(&step.victim.path)?;
    let found = pair.keeper.is_on_its_way(&step.keeper.path);
    found.map_err(Reason::of_keeper)?;
    // The kernel compares while it acts.
    if step.action == ActionKind::Reflink {
        return Ok(None);
    }
    pair.keeper.guard().map_err(Reason::of_keeper)?;
    pair.victim.guard()?;
    let gives_back = step.action.reversal() == Reversal::GivesBack;
    let wanted = gives_back || intent.together.is_some();
    match &step.bond {
        Bond::Bytes => pair.compare(wanted),
        Bond::Shown => pair.compare_shown(wanted),
        Bond::Recorded(copy) => pair.compare_recorded(copy).map(Some),
        Bond::Carried(_) => pair.digest_of_victim().map(Some),
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
    let pairs = group
        .iter()
        .filter_map(|(_, drafted)| Some(&drafted.as_ref().ok()?.pair));
    let files = pairs.flat_map(|pair| [&pair.keeper, &pair.victim]);
    files.map(Opened::identity).collect()
}

/// True if no check of these groups takes long.
pub(super) fn is_worth_it(groups: &[Group]) -> bool {
    let mut steps = groups.iter().flatten().map(|(step, _)| step);
    steps.all(|step| step.victim.expected.size <= LARGEST && step.action != ActionKind::Reflink)
}

/// Computes a result for each item, and passes the results on in order.
///
/// A second thread computes them ahead if there are enough and `may_run_ahead` allows it.
pub(super) fn in_order<T: Send, R: Send>(
    items: Vec<T>,
    may_run_ahead: bool,
    make: impl Fn(T) -> R + Sync,
    mut hand_over: impl FnMut(R),
) {
    let may_run_ahead = may_run_ahead && items.len() >= FEWEST;
    let together = if may_run_ahead { TOGETHER } else { 1 };
    let items = Mutex::new(items.into_iter());
    let next = || {
        let taken: Vec<T> = locked(&items).by_ref().take(together).collect();
        let made: Vec<R> = taken.into_iter().map(&make).collect();
        (!made.is_empty()).then_some(made)
    };
    thread::scope(|scope| {
        let (to_actor, from_thread) = bounded(DEPTH / TOGETHER);
        let heartbeat = current::child();
        let ahead = move || {
            current::watched(heartbeat, || {
                for made in iter::from_fn(next) {
                    current::rest();
                    if to_actor.send(made).is_err() {
                        break;
                    }
                }
            });
        };
        if may_run_ahead {
            // If it cannot be started, the items are left to this thread.
            let _ = thread::Builder::new()
                .name("check".to_owned())
                .spawn_scoped(scope, ahead);
        } else {
            drop(ahead);
        }
        let ahead = iter::from_fn(|| {
            current::rest();
            from_thread.recv().ok()
        });
        let all = ahead.chain(iter::from_fn(next)).flatten();
        all.for_each(&mut hand_over);
    });
}
