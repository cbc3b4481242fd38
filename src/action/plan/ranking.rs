//! Sorts the files of sets into the order in which a plan would keep them, for callers that only report them.

use std::collections::HashMap;

use super::inspector::Inspector;
use super::origin::{Listed, Origin};
use super::set::SetPlan;
use crate::action::bounds::Bounds;
use crate::action::keep::Rules;
use crate::action::reason::Code;
use crate::decide::DuplicateSet;

/// Sorts sets by rules, for callers that only report them.
#[derive(Debug)]
pub struct Ranking {
    rules: Rules,
    inspector: Inspector,
}

impl Ranking {
    /// A ranking by these rules, for files found at this origin.
    pub fn new(rules: Rules, origin: Origin) -> Self {
        let mut inspector = Inspector::new(origin, Bounds::default());
        inspector.finds_managed = true;
        Self { rules, inspector }
    }

    /// Rules whose pattern matched no file of any set.
    pub fn unmatched_rules(&self) -> impl Iterator<Item = &str> {
        self.rules.unmatched()
    }

    /// Moves the member to the front that a plan by the same rules keeps. Files that cannot be inspected any more come
    /// last, in their old order.
    pub fn sort(&mut self, set: &mut DuplicateSet) {
        let by_name = self.inspector.origin().hard_links;
        if set.members.len() < 2 && !by_name {
            return;
        }
        let mut planned = self.inspector.look_at_all(set, Listed::FOUND);
        planned.count_marks();
        let names = set.members.iter().map(|member| &member.names).zip(0..);
        let places: HashMap<&[u8], usize> = names
            .flat_map(|(names, place)| names.iter().map(move |name| (&name[..], place)))
            .collect();
        let mut ranks = vec![usize::MAX; set.members.len()];
        let mut of_names: HashMap<Vec<u8>, usize> = HashMap::new();
        for (rank, file) in self.order(&planned).into_iter().enumerate() {
            let names = &planned.files[file].names;
            let listed = names.iter().filter_map(|name| places.get(name.listed()));
            for &member in listed {
                ranks[member] = ranks[member].min(rank);
            }
            if by_name {
                let each = names.chunks(1).enumerate();
                let each: Vec<_> = each
                    .map(|(nth, name)| planned.traits(file, nth, name))
                    .collect();
                let order = self.rules.order(&each).into_iter().enumerate();
                of_names.extend(order.map(|(rank, nth)| (names[nth].listed().to_vec(), rank)));
            }
        }
        let mut order: Vec<usize> = (0..ranks.len()).collect();
        order.sort_by_key(|&member| ranks[member]);
        set.put_in_order(&order);
        let rank = |name: &Vec<u8>| of_names.get(name).copied().unwrap_or(usize::MAX);
        let members = set.members.iter_mut();
        members.for_each(|member| member.names.sort_by_key(rank));
    }

    /// Sorts files. As in a plan, files in a trash and leftovers of a killed run come last.
    fn order(&self, set: &SetPlan) -> Vec<usize> {
        let traits = (0..set.files.len()).map(|file| set.traits(file, 0, &set.files[file].names));
        let mut sorted = self.rules.order(&traits.collect::<Vec<_>>());
        // An action keeps what is older than the user asked for.
        let is_younger = |file: usize| set.files[file].hold() != Some(Code::Older);
        let is_managed = |file: usize| set.files[file].managed().is_some();
        sorted.sort_by_key(|&file| (is_younger(file), set.files[file].rank(), is_managed(file)));
        sorted
    }
}
