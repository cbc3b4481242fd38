//! Decides which files of a set stay.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::folder_pairs::FolderPairs;
use super::set::{Fate, PlannedFile, PlannedName, Rank, SetPlan};
use crate::action::ActionKind;
use crate::action::access::Common;
use crate::action::bounds::Hold;
use crate::action::coherence::Location;
use crate::action::keep::{Rules, Traits};
use crate::action::reason::{Code, Reason};

/// The rules and limits of decisions.
#[derive(Debug)]
pub struct Policy {
    /// The action on files that do not stay.
    pub action: ActionKind,
    /// The rules that choose the file that stays.
    pub rules: Rules,
    /// Minimum number of files that stay; not 0.
    pub keep: usize,
    /// Copies below one given path do not count as duplicates of each other.
    pub isolate: bool,
    /// Act only on sets with a file below a reference.
    pub by_reference: bool,
    /// Names of one file count as duplicates of each other: this many *names* stay, and others are removed.
    pub by_name: bool,
    /// The pairs of folders that replace each other, by a report of folders. If there are any, nothing else decides.
    pub pairs: FolderPairs,
    /// The properties that files must share to replace each other.
    pub common: Common,
    /// `hardlink` and `symlink`: files replace each other only if all their metadata is the same.
    pub same_metadata: bool,
}

/// The reason why a file stays rather than one that fewer files belong to, or with less in its sidecars.
const RICHER: &str = "richer group";

/// The choice for one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// As the rules decide.
    ByRule,
    /// These files stay.
    Keep(Vec<usize>),
    /// All files stay.
    KeepAll,
    /// Nothing is decided yet.
    Undecided,
}

impl Policy {
    /// Decides the fate of each file of the set. The freed bytes are estimated afterwards.
    pub fn decide(&self, set: &mut SetPlan, choice: &Choice) {
        set.count_marks();
        // An earlier decision may have let names of files that stay go.
        let names = set.files.iter_mut().flat_map(|file| &mut file.names);
        names.for_each(|name| name.goes = false);
        if self.by_reference && !set.files.iter().any(is_reference) {
            let files = set.files.iter_mut();
            return files.for_each(|file| file.fate = Fate::Leave(Code::NoReference.into()));
        }
        match choice {
            Choice::KeepAll => set.files.iter_mut().for_each(|file| {
                file.fate = Fate::Keep(Code::Chosen.into());
            }),
            Choice::Undecided => set.files.iter_mut().for_each(|file| {
                file.fate = Fate::Leave(Code::NotAsked.into());
            }),
            Choice::ByRule => self.by_group(set, None),
            Choice::Keep(chosen) => {
                let chosen = chosen.iter().copied().collect();
                self.by_group(set, Some(&chosen));
            }
        }
        for file in &mut set.files {
            if matches!(file.fate, Fate::Keep(_)) {
                // Steps rely on the first name.
                file.names
                    .sort_by_key(|name| (name.goes, !name.is_relied_on()));
            }
        }
    }

    fn by_group(&self, set: &mut SetPlan, chosen: Option<&HashSet<usize>>) {
        let all: Vec<usize> = (0..set.files.len()).collect();
        let groups: Vec<Vec<usize>> = match self.action {
            // A link cannot leave its file system and its mount, so one file stays on each.
            ActionKind::Hardlink => {
                let mut groups: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
                for index in all {
                    groups
                        .entry(set.files[index].volume)
                        .or_default()
                        .push(index);
                }
                groups.into_values().collect()
            }
            _ => vec![all],
        };
        let single = groups.len() == 1;
        for group in groups {
            if group.len() == 1 && !single {
                set.files[group[0]].fate = Fate::Leave(alone(set, group[0]));
            } else if self.by_reference && !group.iter().any(|&i| is_reference(&set.files[i])) {
                for index in group {
                    set.files[index].fate = Fate::Leave(Code::ReferenceElsewhere.into());
                }
            } else {
                self.by_class(set, &group, chosen);
            }
        }
    }

    /// Decides about files of which each can replace each other. At least one stays, whatever rules, bounds and users
    /// say.
    pub(super) fn group(
        &self,
        set: &mut SetPlan,
        group: &[usize],
        chosen: Option<&HashSet<usize>>,
    ) {
        if !self.pairs.is_empty() {
            return self.by_folder(set, group);
        }
        if self.by_name && chosen.is_none() {
            return self.by_name(set, group);
        }
        let (held, free): (Vec<usize>, Vec<usize>) = group
            .iter()
            .partition(|&&index| set.files[index].hold().is_some());
        let mut stay: Vec<(usize, Reason)> = Vec::new();
        for hold in Hold::ALL {
            let with = held.iter().copied();
            let with: Vec<usize> = with
                .filter(|&index| set.files[index].hold() == Some(hold))
                .collect();
            let ordered = self.best(set, &with, with.len());
            stay.extend(ordered.into_iter().map(|(i, _)| (i, hold.into())));
        }
        let asked = chosen.map(|chosen| {
            let asked = free.iter().copied().filter(|index| chosen.contains(index));
            asked.collect::<Vec<usize>>()
        });
        // A held file in a trash is lost when the trash is emptied, unless the user chose it.
        let is_enough = |&(index, _): &(usize, Reason)| {
            set.files[index].is_relied_on() || chosen.is_some_and(|chosen| chosen.contains(&index))
        };
        match asked {
            Some(asked) if !asked.is_empty() || stay.iter().any(is_enough) => {
                let ordered = self.best(set, &asked, asked.len());
                let chosen = || Code::Chosen.into();
                stay.extend(ordered.into_iter().map(|(i, _)| (i, chosen())));
            }
            _ => {
                // What the user marked wins over rules.
                let (marked, free): (Vec<usize>, Vec<usize>) = free
                    .iter()
                    .partition(|&&index| set.files[index].is_marked());
                let ordered = self.best(set, &marked, marked.len());
                let marked = || Code::Marked.into();
                stay.extend(ordered.into_iter().map(|(i, _)| (i, marked())));
                for rank in Rank::ALL {
                    let among = free.iter().copied();
                    let among: Vec<usize> = among
                        .filter(|&index| set.files[index].rank() == rank)
                        .collect();
                    // A protected file in a trash stays, but no other file may go because of it.
                    let relied_on = stay.iter().filter(|&&(index, _)| {
                        rank != Rank::Normal || set.files[index].is_relied_on()
                    });
                    let wanted = self.keep.max(1).saturating_sub(relied_on.count());
                    stay.extend(self.best(set, &among, wanted));
                }
            }
        }
        if self.isolate && chosen.is_none() {
            let more = beside(set, &free, &stay);
            stay.extend(more);
        }
        // A held file in a trash comes first, but is lost when the trash is emptied.
        let mut relied_on = stay
            .iter()
            .filter(|&&(index, _)| set.files[index].is_relied_on());
        let chosen_one = || stay.iter().find(|kept| is_enough(kept));
        let keeper = relied_on.next().or_else(chosen_one).or(stay.first());
        let Some(&(keeper, _)) = keeper else {
            return;
        };
        for &index in &free {
            set.files[index].fate = Fate::Act { keeper, frees: 0 };
        }
        for (index, why) in stay {
            set.files[index].fate = Fate::Keep(why);
        }
    }

    /// The best of these files, each with the reason.
    fn best(&self, set: &SetPlan, among: &[usize], count: usize) -> Vec<(usize, Reason)> {
        let best = self.best_of(
            among,
            count,
            |index| &set.files[index].names,
            |index| set.traits(index),
        );
        let because = |(index, why)| (index, Code::ByRule.about(why));
        best.into_iter().map(because).collect()
    }

    /// The best of these, each with the reason: those of richer groups first, and of equally rich ones, those that the
    /// rules prefer.
    pub(super) fn best_of<'a, U: Copy>(
        &self,
        among: &[U],
        count: usize,
        names: impl Fn(U) -> &'a [PlannedName],
        traits: impl Fn(U) -> Traits<'a>,
    ) -> Vec<(U, String)> {
        let mut classes: BTreeMap<_, Vec<U>> = BTreeMap::new();
        for &unit in among {
            let richness = names(unit).iter().map(PlannedName::richness).max();
            classes.entry(Reverse(richness)).or_default().push(unit);
        }
        let mut best = Vec::new();
        while let Some((_, class)) = classes.pop_first() {
            let of_class: Vec<_> = class.iter().map(|&unit| traits(unit)).collect();
            for chosen in self.rules.choose(&of_class, count - best.len()) {
                let why = match (classes.is_empty(), class.len()) {
                    (true, _) => chosen.why,
                    (false, 1) => RICHER.to_owned(),
                    (false, _) => format!("{RICHER}; {}", chosen.why),
                };
                best.push((class[chosen.index], why));
            }
        }
        best
    }
}

/// The reason why no file can be a hard link to this one.
fn alone(set: &SetPlan, index: usize) -> Reason {
    let dev = set.files[index].volume.dev;
    let mut others = set.files.iter().enumerate();
    match others.any(|(other, file)| other != index && file.volume.dev == dev) {
        true => Code::OtherMount.into(),
        false => Code::OtherFileSystem.into(),
    }
}

/// True for a file that others are copies of.
pub(super) fn is_reference(file: &PlannedFile) -> bool {
    file.hold() == Some(Hold::Reference)
}

/// Files below the same given path as one that stays.
fn beside(set: &SetPlan, free: &[usize], stay: &[(usize, Reason)]) -> Vec<(usize, Reason)> {
    let roots_of = |index: usize| set.files[index].names.iter().filter_map(|name| name.root);
    let kept: BTreeSet<u32> = stay
        .iter()
        .flat_map(|&(index, _)| roots_of(index))
        .collect();
    let stays: HashSet<usize> = stay.iter().map(|&(index, _)| index).collect();
    let beside = free.iter().copied();
    let beside = beside.filter(|index| !stays.contains(index));
    beside
        .filter(|&index| roots_of(index).any(|root| kept.contains(&root)))
        .map(|index| (index, Code::SamePath.into()))
        .collect()
}

#[cfg(test)]
mod tests;
