//! The steps that carry out a set's plan.

use std::collections::HashMap;

use super::set::{Fate, PlannedFile, PlannedName, SetPlan};
use crate::action::access::{Common, PermissionClass};
use crate::action::coherence::Location;
use crate::action::{ActionKind, Expected, Step, StepFile};
use crate::hash::ContentDigest;

/// The names of a file that are acted on: one is enough where only the blocks count.
pub(super) fn acted_names(file: &PlannedFile, action: ActionKind) -> &[PlannedName] {
    match action {
        ActionKind::Reflink => file.names.get(..1).unwrap_or_default(),
        _ => &file.names,
    }
}

/// Maximum number of further keepers of a step; one more than the first is seldom needed.
const ALTERNATES: usize = 3;

/// The steps of a set: keeper and victim are two files, and every keeper is one that stays.
pub fn steps(set: &SetPlan, action: ActionKind) -> impl Iterator<Item = Step> + use<'_> {
    let digest = set.digest.as_deref().and_then(ContentDigest::from_hex);
    let keeper = |place: usize| target(set.files.get(place)?, set.size, 0);
    let staying = staying(set, action);
    let further = set
        .files
        .iter()
        .flat_map(move |file| further(file, set.size, action, digest));
    let acted = set.files.iter().filter_map(move |file| match file.fate {
        Fate::Act { keeper, .. } if is_kept(set, keeper) => Some((file, keeper)),
        _ => None,
    });
    let replaced = acted.flat_map(move |(file, place)| {
        let near = staying.get(&place_of(&set.files[place], action));
        let others = near.into_iter().flatten().copied();
        let others = others.filter(|&other| other != place);
        let alternates: Vec<StepFile> = others.filter_map(keeper).take(ALTERNATES).collect();
        let names = 0..acted_names(file, action).len();
        names.filter_map(move |nth| {
            Some(Step {
                action,
                keeper: Some(keeper(place)?),
                alternates: alternates.clone(),
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
        let others = others.filter(|&other| file.names[other].is_relied_on() == is_relied_on);
        let mut others = others.filter_map(|name| target(file, size, name));
        Some(Step {
            action,
            keeper: Some(others.next()?),
            alternates: others.take(ALTERNATES).collect(),
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

/// The properties that another keeper must share with the first one: its file system and its mount, since a hard
/// link cannot leave either, its rights, and whether files may go because it stays.
type KeeperClass = (Option<Location>, PermissionClass, bool);

fn place_of(file: &PlannedFile, action: ActionKind) -> KeeperClass {
    let volume = match action {
        ActionKind::Hardlink => Some(file.volume),
        _ => None,
    };
    // Whatever was let through for the keeper, or need not be asked: nothing else is let through in its place.
    let common = Common::demanded(action, false, true);
    let name = file.names.first();
    let is_relied_on = name.is_some_and(PlannedName::is_relied_on);
    (volume, common.class(&file.rights), is_relied_on)
}

/// The first files that stay, as many as a step can use.
fn staying(set: &SetPlan, action: ActionKind) -> HashMap<KeeperClass, Vec<usize>> {
    let mut staying: HashMap<KeeperClass, Vec<usize>> = HashMap::new();
    for (place, file) in set.files.iter().enumerate() {
        if matches!(file.fate, Fate::Keep(_)) {
            let near = staying.entry(place_of(file, action)).or_default();
            if near.len() <= ALTERNATES {
                near.push(place);
            }
        }
    }
    staying
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
