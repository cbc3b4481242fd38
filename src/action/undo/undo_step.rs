//! Undoes one step, or sweeps up after it. The files show what happened; the journal says which files to look for.

use std::os::fd::OwnedFd;

use crate::action::action_kind::ActionKind;
use crate::action::journal::past::{Fate, PastStep};
use crate::action::journal::undone::Undone;
use crate::action::places::{self, Context, End, Purpose, Recovered, Scene};
use crate::action::reason::{Code, Reason};
use crate::action::ways::folder_entry::NameInFolder;

/// Recovers a step; also returns the folder whose names it may have changed.
///
/// `companion` is another name that the file had, and that is restored.
pub(in crate::action) fn recover(
    step: &PastStep,
    purpose: Purpose,
    companion: Option<&[u8]>,
    context: Context<'_>,
) -> (Undone, Option<OwnedFd>) {
    let place = match NameInFolder::of(&step.intent.victim.0) {
        Ok(place) => place,
        Err(why) if why.code == Code::Gone && is_removed(step) => {
            return (Undone::Impossible, None);
        }
        Err(why) => return (Undone::Refused(unreachable(why)), None),
    };
    let scene = Scene::of_past(step, &place, companion, context);
    let recovered = scene.and_then(|scene| places::recover(scene, purpose));
    let undone = match undone(recovered) {
        Undone::Impossible if context.torn_group => Undone::Torn,
        undone => undone,
    };
    (undone, Some(place.folder))
}

/// True if a file was removed permanently.
fn is_removed(step: &PastStep) -> bool {
    step.intent.action == ActionKind::Remove && matches!(step.fate, Fate::Done(_))
}

/// The reason why a folder above a file or a removed folder cannot be opened.
pub(in crate::action) fn unreachable(why: Reason) -> Reason {
    match why.code {
        Code::Gone => Code::FolderGone.into(),
        Code::ThroughLink => Code::FolderIsLink.into(),
        _ => why,
    }
}

fn undone(recovered: Result<Recovered, Reason>) -> Undone {
    let recovered = match recovered {
        Ok(recovered) => recovered,
        Err(why) => return Undone::Refused(why),
    };
    match recovered.end {
        End::Gone => Undone::Impossible,
        _ if recovered.is_restored => Undone::restored(recovered.lack),
        _ if recovered.is_cleaned => Undone::Cleaned,
        _ => Undone::AsBefore,
    }
}

/// The expected result for a moved file whose folder will be created again: no file has its name there.
pub(in crate::action) fn foretell_in_new_folder(step: &PastStep) -> Undone {
    let intent = &step.intent;
    let place = intent
        .destination
        .as_ref()
        .map(|path| NameInFolder::of(&path.0));
    let there = place.and_then(|place| place.ok()?.stat().ok());
    let was = &intent.victim_state;
    let code = match there {
        Some(now) if (now.size, now.mtime_ns) == (was.size, was.mtime_ns) => {
            return Undone::Restored;
        }
        Some(_) => Code::ChangedSinceRun,
        None => Code::Gone,
    };
    Undone::Refused(Reason::from(code).of_other("the moved file"))
}
