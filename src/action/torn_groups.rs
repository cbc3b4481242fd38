//! Groups of files that belong together, of which a killed run acted on some.

use std::collections::{HashMap, HashSet};

use super::folder_entry::NameInFolder;
use super::past::{Fate, Past, PastStep};
use super::places::{Context, Manner, Scene};
use super::reads::Reads;
use super::undo_parent::Parents;

/// The numbers of these groups ([`Intent::together`](super::record::Intent)). Undo and a sweep move their files back;
/// those that were removed are named.
pub(super) fn of(past: &Past) -> HashSet<u64> {
    let (reads, parents) = (Reads::default(), Parents::default());
    let context = Context::new(Manner::Glance, &reads, &parents);
    let mut groups: HashMap<u64, Vec<&PastStep>> = HashMap::new();
    for step in &past.steps {
        if let Some(group) = step.intent.together {
            groups.entry(group).or_default().push(step);
        }
    }
    let is_ended = |step: &&PastStep| step.undone || step.fate != Fate::Unsaid;
    let is_torn = |steps: &Vec<&PastStep>| {
        !steps.iter().all(is_ended)
            && steps.iter().any(|step| is_taken(step, context))
            && !steps.iter().all(|step| is_taken(step, context))
    };
    let torn = groups.into_iter().filter(|(_, steps)| is_torn(steps));
    torn.map(|(group, _)| group).collect()
}

/// True if neither the file nor the leftover of a killed run is in its folder.
fn is_taken(step: &PastStep, context: Context<'_>) -> bool {
    let Ok(place) = NameInFolder::of(&step.intent.victim.0) else {
        return true;
    };
    !Scene::of_past(step, &place, None, context).is_ok_and(|scene| scene.is_in_folder())
}
