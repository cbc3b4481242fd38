//! Sorts the files of a set that was found into the order in which a plan would keep them.

use std::collections::HashMap;

use crate::action::bounds::{Bounds, Hold};
use crate::action::keep::Rules;
use crate::decide::DuplicateSet;

use super::claim::{Claim, Origin};
use super::inspector::Inspector;
use super::set::{Rank, SetPlan, Unit};

/// Sorts sets by rules, for callers that only report them.
#[derive(Debug)]
pub struct Ranking {
    rules: Rules,
    inspector: Inspector,
}

impl Ranking {
    /// A ranking by these rules, for files found at this origin.
    pub fn new(rules: Rules, origin: Origin) -> Self {
        let mut inspector = Inspector::new(origin, Bounds::default(), false);
        inspector.finds_managed = true;
        Self { rules, inspector }
    }

    /// Rules whose pattern matched no file of any set.
    pub fn unmatched_rules(&self) -> impl Iterator<Item = &str> {
        self.rules.unmatched()
    }

    /// Sets the origin of the next sets.
    pub fn set_origin(&mut self, origin: Origin) {
        self.inspector.set_origin(origin);
    }

    /// Moves the member to the front that a plan by the same rules keeps. Files that cannot be inspected any more come
    /// last, in their old order.
    pub fn sort(&mut self, set: &mut DuplicateSet) {
        let by_name = self.inspector.origin().hard_links;
        if set.members.len() < 2 && !by_name {
            return;
        }
        let mut planned = self.inspector.look_at_all(Claim::from(&*set));
        planned.count_marks();
        let mut ranks = vec![usize::MAX; set.members.len()];
        let names = set.members.iter().map(|member| &member.names);
        let places = names.zip(0_usize..);
        let places: HashMap<&[u8], usize> = places
            .flat_map(|(names, place)| names.iter().map(move |name| (&name[..], place)))
            .collect();
        let mut names_ranks: HashMap<Vec<u8>, usize> = HashMap::new();
        for (rank, unit) in self.order(&planned, by_name).into_iter().enumerate() {
            let names = planned.names_of(unit);
            for name in names {
                if let Some(&member) = places.get(&name.listed[..]) {
                    ranks[member] = ranks[member].min(rank);
                }
                if by_name {
                    names_ranks.insert(name.listed.clone(), rank);
                }
            }
        }
        let members = std::mem::take(&mut set.members);
        let mut ranked: Vec<_> = ranks.into_iter().zip(members).collect();
        ranked.sort_by_key(|&(rank, _)| rank);
        set.members = ranked.into_iter().map(|(_, member)| member).collect();
        if by_name {
            let rank = |name: &Vec<u8>| names_ranks.get(name).copied().unwrap_or(usize::MAX);
            let members = set.members.iter_mut();
            members.for_each(|member| member.names.sort_by_key(rank));
        }
    }

    /// Sorts files, or names if names count. As in a plan, files in a trash and leftovers of a killed run come last.
    fn order(&self, set: &SetPlan, by_name: bool) -> Vec<Unit> {
        let files: Vec<usize> = (0..set.files.len()).collect();
        let units = set.units(&files, by_name);
        let sorted = Rank::ALL.map(|rank| {
            let among = units.iter().copied();
            let among = among.filter(|&unit| set.rank(unit) == rank);
            let among: Vec<Unit> = among.collect();
            let traits: Vec<_> = among.iter().map(|&unit| set.traits(unit)).collect();
            let order = self.rules.order(&traits).into_iter();
            order.map(|place| among[place]).collect::<Vec<_>>()
        });
        let mut sorted = sorted.concat();
        // An action keeps what is older than the user asked for.
        sorted.sort_by_key(|&(file, _)| set.files[file].hold() != Some(Hold::Older));
        sorted
    }
}
