//! Files that belong together go together or stay together.

use std::collections::{HashMap, HashSet};

use super::carry::Carrying;
use super::groups::Groups;
use super::name::{Group, PlannedName};
use super::set::{Fate, PlannedFile, SetPlan};
use crate::action::reason::{Code, Reason};
use crate::action::ways::folder_entry::{join, parent};

/// Maximum number of groups among which the copies of a photo and of its sidecars are looked for.
const COPIES: usize = 16;

/// What the plan does with groups. Each of the sidecars of a group goes only if one group that stays has a copy of it
/// and of each file of the group that is no sidecar; else the sidecar is carried, or the group stays. Which of those
/// files a sidecar is about, its name need not tell.
#[derive(Debug, Default)]
struct Together {
    /// Sidecars without such a copy may be carried.
    carries: bool,
    /// Number of the files of each group that may go.
    going: HashMap<u64, u32>,
    /// Groups that stay, and whether that is for lack of a copy.
    held: HashMap<u64, bool>,
    /// For each group that goes: groups that stay and have a copy of each file of it that is no sidecar. Those come
    /// first whose file steps rely on.
    copies: HashMap<u64, Vec<u64>>,
    /// The places of the sidecars that go only if they are carried: of the set, and in it.
    lacking: Vec<(usize, usize)>,
}

/// Leaves alone the groups that do not go whole, and says which sidecars are carried. `refuse` says why one must not
/// be. Returns the places of the changed sets.
pub fn keep_together(
    sets: &mut [SetPlan],
    groups: &Groups,
    refuse: impl FnMut(&PlannedFile) -> Option<Reason>,
) -> Vec<usize> {
    let mut together = Together {
        carries: groups.carries(),
        ..Together::default()
    };
    sets.iter().for_each(|set| together.count(set));
    if together.going.is_empty() {
        return Vec::new();
    }
    sets.iter().for_each(|set| together.hold(set));
    if together.carries {
        sets.iter().for_each(|set| together.hold_relied_on(set));
    }
    // Once is enough: what stays later are further copies.
    sets.iter().for_each(|set| together.note_copies(set));
    let places = sets.iter().enumerate();
    places.for_each(|(place, set)| together.hold_without_copy(set, place));
    let carried = together.carry(sets, groups, refuse);
    // What is held lets more be held.
    let mut before = 0;
    while together.held.len() != before {
        before = together.held.len();
        sets.iter().for_each(|set| together.hold(set));
    }
    let reasons = together.reasons(sets, groups);
    let changed = sets.iter_mut().enumerate();
    let changed = changed.filter_map(|(place, set)| together.apply(set, &reasons).then_some(place));
    let mut changed: Vec<usize> = changed.collect();
    for ((set, file), fate) in carried {
        let file = &mut sets[set].files[file];
        let is_held = file
            .groups()
            .any(|group| together.held.contains_key(&group.key));
        if !is_held || matches!(fate, Fate::Leave(_)) {
            file.fate = fate;
            changed.push(set);
        }
    }
    changed
}

impl Together {
    /// True if a file goes, or is a sidecar that no rule keeps for itself: it goes with its photo if it is carried.
    fn may_go(&self, file: &PlannedFile) -> bool {
        let is_free = || match &file.fate {
            Fate::Keep(why) => why.code == Code::ByRule,
            Fate::Leave(why) => why.code == Code::NoReference,
            Fate::Act { .. } | Fate::Carry(_) => false,
        };
        let is_sidecar = || file.names.len() == 1 && file.groups().any(|group| group.is_sidecar);
        file.goes() || self.carries && is_sidecar() && is_free()
    }

    /// The groups of the names of a set that may go.
    fn going_groups<'s>(&self, set: &'s SetPlan) -> impl Iterator<Item = &'s Group> + use<'s, '_> {
        let going = set.files.iter().filter(|file| self.may_go(file));
        going.flat_map(PlannedFile::groups)
    }

    fn count(&mut self, set: &SetPlan) {
        let keys: Vec<u64> = self.going_groups(set).map(|group| group.key).collect();
        for key in keys {
            *self.going.entry(key).or_default() += 1;
        }
    }

    /// Holds the groups of which a file stays. A file that stays because of one of its names holds the groups of the
    /// others.
    fn hold(&mut self, set: &SetPlan) {
        for file in &set.files {
            let is_whole = |group: &Group| self.going.get(&group.key) == Some(&group.richness);
            let stays = |group: &Group| self.held.contains_key(&group.key) || !is_whole(group);
            if self.may_go(file) && file.groups().any(stays) {
                for group in file.groups() {
                    self.held.entry(group.key).or_insert(false);
                }
            }
        }
    }

    /// Holds the groups of sidecars because of which another file goes: where they are now, they are looked for.
    fn hold_relied_on(&mut self, set: &SetPlan) {
        let is_held = |file: &PlannedFile| file.groups().any(|it| self.held.contains_key(&it.key));
        let mut going = set.files.iter().filter(|file| file.goes());
        if going.any(|file| !is_held(file)) {
            let kept = set.files.iter().filter(|file| !file.goes());
            let kept = kept
                .filter(|file| self.may_go(file))
                .flat_map(PlannedFile::groups);
            let kept: Vec<u64> = kept.map(|group| group.key).collect();
            self.held.extend(kept.into_iter().map(|key| (key, false)));
        }
    }

    /// Notes which groups have copies of the photos and films of groups that go.
    fn note_copies(&mut self, set: &SetPlan) {
        let relied_on = set.files.iter().find_map(|file| set.kept_for(file));
        let relied_on = relied_on.into_iter().flat_map(|(file, _)| file.groups());
        let mut first: Vec<u64> = relied_on.map(|group| group.key).collect();
        let stay: HashSet<u64> = self.staying(set).collect();
        let others = self.staying(set).filter(|key| !first.contains(key));
        let others: Vec<u64> = others.take(COPIES).collect();
        first.retain(|key| stay.contains(key));
        first.extend(others);
        let going: Vec<&Group> = self.going_groups(set).collect();
        for group in going.into_iter().filter(|group| !group.is_sidecar) {
            let copies = self.copies.entry(group.key);
            let copies = copies.and_modify(|known| known.retain(|key| stay.contains(key)));
            copies.or_insert_with(|| first.clone());
        }
    }

    /// Holds the groups that have a sidecar of which no group has a copy that also has copies of its photos and films,
    /// once the copies of all sets were [noted](Self::note_copies), unless it may be carried.
    fn hold_without_copy(&mut self, set: &SetPlan, place: usize) {
        let stay: HashSet<u64> = self.staying(set).collect();
        for (nth, file) in set.files.iter().enumerate() {
            let is_copied = |group: &Group| {
                let copies = self.copies.get(&group.key);
                file.goes()
                    && copies.is_some_and(|copies| copies.iter().any(|it| stay.contains(it)))
            };
            let sidecars = file.groups().filter(|group| group.is_sidecar);
            let lacking = sidecars.filter(|group| !is_copied(group));
            let lacking: Vec<u64> = lacking.map(|group| group.key).collect();
            if !self.may_go(file) || lacking.is_empty() {
                continue;
            }
            if self.carries && file.names.len() == 1 {
                self.lacking.push((place, nth));
                continue;
            }
            for key in lacking {
                self.held.entry(key).or_insert(true);
            }
        }
    }

    /// Decides where sidecars without a copy go. Holds the groups of those that have no place.
    fn carry(
        &mut self,
        sets: &[SetPlan],
        groups: &Groups,
        mut refuse: impl FnMut(&PlannedFile) -> Option<Reason>,
    ) -> Vec<((usize, usize), Fate)> {
        let mut decided = Vec::new();
        let lacking = std::mem::take(&mut self.lacking).into_iter();
        let group_at = |&(set, file): &(usize, usize)| sets[set].files[file].groups().next();
        let lacking = lacking.filter_map(|place| Some((place, group_at(&place)?)));
        let mut lacking: Vec<_> = lacking.collect();
        lacking.retain(|(_, group)| !self.held.contains_key(&group.key));
        let keys = lacking.iter().map(|(_, group)| group.key);
        let copies = keys.filter_map(|key| Some((key, self.copies.get(&key)?)));
        let mut carrying = Carrying::new(groups, copies.collect());
        if !lacking.is_empty() {
            sets.iter().for_each(|set| carrying.note_twins(set));
        }
        for (place, group) in lacking {
            let file = &sets[place.0].files[place.1];
            let fate = match refuse(file).map_or_else(|| carrying.place(file, group), Err) {
                Ok(carried) => Fate::Carry(Box::new(carried)),
                Err(why) => {
                    self.held.entry(group.key).or_insert(false);
                    Fate::Leave(why)
                }
            };
            decided.push((place, fate));
        }
        decided
    }

    /// The groups of the files of a set that stay.
    fn staying(&self, set: &SetPlan) -> impl Iterator<Item = u64> {
        let groups = set.files.iter().flat_map(|file| {
            let goes = self.may_go(file);
            file.groups().map(move |group| (group.key, goes))
        });
        let staying = groups.filter(|(key, goes)| !goes || self.held.contains_key(key));
        staying.map(|(key, _)| key)
    }

    /// Why groups stay, as far as one file of a group tells.
    fn reasons(&self, sets: &[SetPlan], groups: &Groups) -> HashMap<u64, Reason> {
        let mut known: HashMap<u64, Vec<(&PlannedName, bool)>> = HashMap::new();
        for file in sets.iter().flat_map(|set| &set.files) {
            for name in &file.names {
                if let Some(key) = name.group.as_deref().map(|group| group.key)
                    && let Some(&lacks_copy) = self.held.get(&key)
                {
                    let stays = !lacks_copy && !self.may_go(file);
                    known.entry(key).or_default().push((name, stays));
                }
            }
        }
        let left = sets.iter().flat_map(|set| &set.left);
        let left: HashSet<&[u8]> = left.map(|name| &name.path[..]).collect();
        let reasons = known.into_iter().filter_map(|(key, names)| {
            let is_in_set = |bare: &[u8]| names.iter().any(|(name, _)| name.bare() == bare);
            let absent = groups.names(key).find(|bare| !is_in_set(bare));
            let absent = absent.map(|bare| join(parent(names[0].0.path()), bare));
            let reason = match absent {
                Some(path) if left.contains(&path[..]) => Code::StaysToo.of_other(&path),
                Some(path) => Code::NoCopyOf.of_other(&path),
                None => Code::StaysToo.of_other(names.iter().find(|it| it.1)?.0.path()),
            };
            Some((key, reason))
        });
        reasons.collect()
    }

    /// Takes what stays out of a set; returns whether there was any. `reasons` are those of groups.
    fn apply(&self, set: &mut SetPlan, reasons: &HashMap<u64, Reason>) -> bool {
        let mut is_changed = false;
        for file in set.files.iter_mut().filter(|file| file.goes()) {
            let held = |group: &&Group| self.held.contains_key(&group.key);
            let Some(first) = file.groups().find(held) else {
                continue;
            };
            let lacks_pair =
                |group: &Group| group.is_sidecar && self.held.get(&group.key) == Some(&true);
            let why = match reasons.get(&first.key) {
                Some(why) => why.clone(),
                None if file.groups().any(lacks_pair) => Code::NoPair.into(),
                None => Code::Group.into(),
            };
            file.fate = Fate::Leave(why);
            is_changed = true;
        }
        is_changed
    }
}
