//! Puts the files of a set that was found into the order in which a plan would keep them.

use std::collections::HashMap;

use crate::action::bounds::Bounds;
use crate::action::keep::Rules;
use crate::pipeline::DuplicateSet;

use super::claim::{Claim, Origin};
use super::lookout::Lookout;
use super::set::SetPlan;

/// Sorts sets by rules, for whoever only reports them.
#[derive(Debug)]
pub struct Ranking {
    rules: Rules,
    lookout: Lookout,
}

impl Ranking {
    /// By these rules, for what is found at this origin.
    pub fn new(rules: Rules, origin: Origin) -> Self {
        Self {
            rules,
            lookout: Lookout::new(origin, Bounds::default(), false),
        }
    }

    /// Puts the member first that a plan by the same rules keeps. What cannot be looked at any more
    /// comes last, as it was.
    pub fn sort(&mut self, set: &mut DuplicateSet) {
        if set.members.len() < 2 {
            return;
        }
        let planned = self.lookout.look_at_all(Claim::from(&*set));
        let mut ranks = vec![usize::MAX; set.members.len()];
        let names = set.members.iter().map(|member| &member.names);
        let places = names.zip(0_usize..);
        let places: HashMap<&[u8], usize> = places
            .flat_map(|(names, place)| names.iter().map(move |name| (&name[..], place)))
            .collect();
        for (rank, place) in self.order(&planned).into_iter().enumerate() {
            for name in &planned.files[place].names {
                if let Some(&member) = places.get(&name.listed[..]) {
                    ranks[member] = ranks[member].min(rank);
                }
            }
        }
        let members = std::mem::take(&mut set.members);
        let mut ranked: Vec<_> = ranks.into_iter().zip(members).collect();
        ranked.sort_by_key(|&(rank, _)| rank);
        set.members = ranked.into_iter().map(|(_, member)| member).collect();
    }

    /// What a killed run left behind stays for nobody, as in a plan.
    fn order(&self, set: &SetPlan) -> Vec<usize> {
        let (leftover, whole): (Vec<usize>, Vec<usize>) =
            (0..set.files.len()).partition(|&place| set.files[place].is_leftover());
        let sorted = [whole, leftover].map(|among| {
            let traits: Vec<_> = among.iter().map(|&p| set.files[p].traits()).collect();
            let order = self.rules.order(&traits).into_iter();
            order.map(|place| among[place]).collect::<Vec<_>>()
        });
        sorted.concat()
    }
}
