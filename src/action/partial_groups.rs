//! Groups of files that belong together, of which a killed run removed or replaced only a part.

use std::collections::{HashMap, HashSet};

use super::past::{Fate, Past, PastStep};
use super::undo_step;

/// The numbers of these groups ([`Intent::together`](super::record::Intent)). Undo and a sweep restore all of their
/// files.
pub fn of(past: &Past) -> HashSet<u64> {
    let mut groups: HashMap<u64, Vec<&PastStep>> = HashMap::new();
    for step in &past.steps {
        if let Some(group) = step.intent.together {
            groups.entry(group).or_default().push(step);
        }
    }
    let is_partial = |steps: &Vec<&PastStep>| {
        let was_ended = steps
            .iter()
            .all(|step| step.undone || step.fate != Fate::Unsaid);
        !was_ended && steps.iter().any(|step| !undo_step::is_gone(step))
    };
    let partial = groups.into_iter().filter(|(_, steps)| is_partial(steps));
    partial.map(|(group, _)| group).collect()
}

/// True if a step belongs to one of these groups, and its file was removed or replaced.
pub fn took(step: &PastStep, partial: &HashSet<u64>) -> bool {
    let is_in_one = step
        .intent
        .together
        .is_some_and(|group| partial.contains(&group));
    is_in_one && !step.undone && undo_step::is_gone(step)
}
