//! Groups of files that go as a whole, of which a killed run took a part.

use std::collections::{HashMap, HashSet};

use super::past::{Fate, Past, PastStep};
use super::undo_step;

/// The numbers of these groups ([`Intent::together`](super::record::Intent)). All their files have to come back.
pub fn groups(past: &Past) -> HashSet<u64> {
    let mut groups: HashMap<u64, Vec<&PastStep>> = HashMap::new();
    for step in &past.steps {
        if let Some(group) = step.intent.together {
            groups.entry(group).or_default().push(step);
        }
    }
    let is_torn = |steps: &Vec<&PastStep>| {
        let was_ended = steps
            .iter()
            .all(|step| step.undone || step.fate != Fate::Unsaid);
        !was_ended && steps.iter().any(|step| !undo_step::is_gone(step))
    };
    let torn = groups.into_iter().filter(|(_, steps)| is_torn(steps));
    torn.map(|(group, _)| group).collect()
}

/// True if a step belongs to one of these groups, and its file went.
pub fn took(step: &PastStep, torn: &HashSet<u64>) -> bool {
    let is_torn = step
        .intent
        .together
        .is_some_and(|group| torn.contains(&group));
    is_torn && !step.undone && undo_step::is_gone(step)
}
