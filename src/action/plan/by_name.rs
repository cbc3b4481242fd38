//! Decides name by name (`--hard-links`): names of one file count as duplicates of each other.

use std::collections::BTreeSet;

use super::decide::Policy;
use super::set::{Fate, PlannedName, Rank, SetPlan};
use crate::action::bounds::Hold;
use crate::action::keep::Traits;
use crate::action::reason::{Code, Reason};

/// The place of a file in its set, and of a name in its file.
pub type Unit = (usize, usize);

/// The kept files in order of preference, and their names.
#[derive(Default)]
struct Staying {
    files: Vec<(usize, Reason)>,
    names: BTreeSet<Unit>,
}

impl Staying {
    fn add(&mut self, (file, name): Unit, why: Reason) {
        self.names.insert((file, name));
        if !self.files.iter().any(|&(known, _)| known == file) {
            self.files.push((file, why));
        }
    }
}

impl Policy {
    /// Decides about names of files of which each can replace each other. At least one stays.
    pub(super) fn by_name(&self, set: &mut SetPlan, group: &[usize]) {
        let units: Vec<Unit> = units(set, group);
        let (held, free): (Vec<Unit>, Vec<Unit>) = units
            .into_iter()
            .partition(|&unit| name_of(set, unit).hold.is_some());
        let mut staying = Staying::default();
        for hold in Hold::ALL {
            let with = held.iter().copied();
            let with: Vec<Unit> = with
                .filter(|&unit| name_of(set, unit).hold == Some(hold))
                .collect();
            for (unit, _) in self.best_units(set, &with, with.len()) {
                staying.add(unit, hold.into());
            }
        }
        let (marked, free): (Vec<Unit>, Vec<Unit>) = free
            .into_iter()
            .partition(|&unit| name_of(set, unit).marked);
        for (unit, _) in self.best_units(set, &marked, marked.len()) {
            staying.add(unit, Code::Marked.into());
        }
        for rank in Rank::ALL {
            let among = free.iter().copied();
            let among: Vec<Unit> = among
                .filter(|&unit| name_of(set, unit).rank() == rank)
                .collect();
            let names = staying.names.iter();
            let relied_on =
                names.filter(|&&unit| rank != Rank::Normal || name_of(set, unit).is_relied_on());
            let wanted = self.keep.max(1).saturating_sub(relied_on.count());
            for (unit, why) in self.best_units(set, &among, wanted) {
                staying.add(unit, Code::ByRule.about(why));
            }
        }
        if self.isolate {
            let root = |unit: Unit| name_of(set, unit).root;
            let kept: BTreeSet<u32> = staying.names.iter().filter_map(|&u| root(u)).collect();
            let beside = free.iter().copied();
            let beside = beside.filter(|&unit| root(unit).is_some_and(|root| kept.contains(&root)));
            for unit in beside.collect::<Vec<_>>() {
                staying.add(unit, Code::SamePath.into());
            }
        }
        self.give_fates(set, group, staying);
    }

    fn give_fates(&self, set: &mut SetPlan, group: &[usize], staying: Staying) {
        let mut relied_on = staying.files.iter().filter(|&&(file, _)| {
            let mut names = staying.names.range((file, 0)..=(file, usize::MAX));
            names.any(|&unit| name_of(set, unit).is_relied_on())
        });
        let Some(&(keeper, _)) = relied_on.next().or(staying.files.first()) else {
            return;
        };
        for &index in group {
            set.files[index].fate = Fate::Act { keeper, frees: 0 };
        }
        for (index, why) in staying.files {
            let file = &mut set.files[index];
            file.fate = Fate::Keep(why);
            // More names than the file has: who knows which of them are one.
            let is_known = file.names.len() as u64 <= file.links;
            for (place, name) in file.names.iter_mut().enumerate() {
                name.goes = is_known && !staying.names.contains(&(index, place));
            }
        }
    }

    /// The best of these names, each with the reason.
    fn best_units(&self, set: &SetPlan, among: &[Unit], count: usize) -> Vec<(Unit, String)> {
        let name = |unit| std::slice::from_ref(name_of(set, unit));
        self.best_of(among, count, name, |unit| traits(set, unit))
    }
}

/// All names of these files.
pub fn units(set: &SetPlan, files: &[usize]) -> Vec<Unit> {
    let names = |&file: &usize| (0..set.files[file].names.len()).map(move |name| (file, name));
    files.iter().flat_map(names).collect()
}

/// The properties of a single name that rules compare.
pub fn traits(set: &SetPlan, (file, name): Unit) -> Traits<'_> {
    let mut traits = set.traits_as(file, &set.files[file].names[name..=name]);
    traits.place.1 = if set.is_ordered { name } else { 0 };
    traits
}

fn name_of(set: &SetPlan, (file, name): Unit) -> &PlannedName {
    &set.files[file].names[name]
}
