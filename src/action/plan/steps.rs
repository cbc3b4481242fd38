//! The steps that carry out a set's plan.

use super::set::{Fate, PlannedFile, PlannedName, SetPlan};
use crate::action::{ActionKind, Expected, Step, StepFile};
use crate::hash::ContentDigest;

/// The names of a file that are acted on: one is enough where only the blocks count.
pub(super) fn acted_names(file: &PlannedFile, action: ActionKind) -> &[PlannedName] {
    match action {
        ActionKind::Reflink => file.names.get(..1).unwrap_or_default(),
        _ => &file.names,
    }
}

/// The steps of a set: keeper and victim are two files, and every keeper is one that stays.
pub fn steps(set: &SetPlan, action: ActionKind) -> impl Iterator<Item = Step> + use<'_> {
    let digest = set.digest.as_deref().and_then(ContentDigest::from_hex);
    let keeper = |place: usize| target(set.files.get(place)?, set.size, 0);
    let further = set
        .files
        .iter()
        .flat_map(move |file| further(file, set.size, action, digest));
    let acted = set.files.iter().filter_map(move |file| match file.fate {
        Fate::Act { keeper, .. } if is_kept(set, keeper) => Some((file, keeper)),
        _ => None,
    });
    let replaced = acted.flat_map(move |(file, place)| {
        let names = 0..acted_names(file, action).len();
        names.filter_map(move |nth| {
            Some(Step {
                action,
                keeper: Some(keeper(place)?),
                victim: target(file, set.size, nth)?,
                below: None,
                digest,
            })
        })
    });
    replaced.chain(further)
}

/// The steps for names of a file that stays under another one.
fn further(
    file: &PlannedFile,
    size: u64,
    action: ActionKind,
    digest: Option<ContentDigest>,
) -> Vec<Step> {
    let places = 0..file.names.len();
    let (going, stay): (Vec<usize>, Vec<usize>) = match file.fate {
        Fate::Keep(_) => places.partition(|&place| file.names[place].goes),
        _ => return Vec::new(),
    };
    let Some(&first) = stay.first() else {
        return Vec::new();
    };
    let is_relied_on = file.names[first].is_relied_on();
    let step = |victim: usize| {
        let others = stay.iter().copied();
        let mut others = others.filter(|&other| file.names[other].is_relied_on() == is_relied_on);
        Some(Step {
            action,
            keeper: Some(target(file, size, others.next()?)?),
            victim: target(file, size, victim)?,
            below: None,
            digest,
        })
    };
    going.into_iter().filter_map(step).collect()
}

fn is_kept(set: &SetPlan, place: usize) -> bool {
    let file = set.files.get(place);
    file.is_some_and(|file| matches!(file.fate, Fate::Keep(_)))
}

/// The target of a step for a file. A step of the run itself may change a file's change time; the actor knows about
/// this change.
fn target(file: &PlannedFile, size: u64, name: usize) -> Option<StepFile> {
    Some(StepFile {
        path: file.names.get(name)?.path.clone(),
        expected: Expected {
            size,
            dev: Some(file.dev),
            ino: Some(file.ino),
            mtime_ns: Some(file.mtime_ns),
            ctime_ns: Some(file.ctime_ns),
            not_after_ns: None,
        },
    })
}
