//! The steps that carry out a set's plan.

use super::set::{PlannedFile, PlannedName, SetPlan};
use crate::action::{ActionKind, Expected, Step, StepFile};
use crate::hash::ContentDigest;

/// The steps of a set: the keeper of each is a name that stays.
pub fn steps(set: &SetPlan, action: ActionKind) -> impl Iterator<Item = Step> + use<'_> {
    let digest = set.digest.as_deref().and_then(ContentDigest::from_hex);
    set.files.iter().flat_map(move |file| {
        let acted = file.acted(action);
        acted.filter_map(move |victim| {
            let (kept, name) = set.kept_for(file)?;
            Some(Step {
                action,
                keeper: Some(target(kept, set.size, name)),
                victim: target(file, set.size, victim),
                below: None,
                digest,
            })
        })
    })
}

/// The target of a step for a file. A step of the run itself may change a file's change time; the actor knows about
/// this change.
fn target(file: &PlannedFile, size: u64, name: &PlannedName) -> StepFile {
    StepFile {
        path: name.path.clone(),
        expected: Expected {
            size,
            dev: Some(file.dev),
            ino: Some(file.ino),
            mtime_ns: Some(file.mtime_ns),
            ctime_ns: Some(file.ctime_ns),
            not_after_ns: None,
        },
    }
}
