//! Decides which files of a set stay.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::CString;

use super::by_folder::FolderPairs;
use super::set::{Fate, PlannedFile, PlannedName, Rank, SetPlan, Unit};
use crate::action::ActionKind;
use crate::action::access::{Apart, Common, Rights};
use crate::action::bounds::Hold;
use crate::action::coherence::Location;
use crate::action::keep::Rules;
use crate::action::reason::{Code, Reason};
use crate::sys::attributes;

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
            return self.pairs.decide(set, group);
        }
        // A user chooses files.
        let by_name = self.by_name && chosen.is_none();
        let is_chosen =
            |(file, _): Unit| chosen.is_some_and(|chosen: &HashSet<usize>| chosen.contains(&file));
        let units = set.units(group, by_name).into_iter();
        let (held, free): (Vec<Unit>, Vec<Unit>) =
            units.partition(|&unit| set.hold(unit).is_some());
        let mut stay: Vec<(Unit, Reason)> = Vec::new();
        for hold in Hold::ALL {
            let with = held.iter().copied();
            let with = with.filter(|&unit| set.hold(unit) == Some(hold));
            let ordered = self.best(set, with.collect(), usize::MAX);
            stay.extend(ordered.into_iter().map(|(unit, _)| (unit, hold.into())));
        }
        let asked: Vec<Unit> = free.iter().copied().filter(|&u| is_chosen(u)).collect();
        let is_relied_on = |unit: Unit| set.is_relied_on(unit);
        // A held file in a trash is lost when the trash is emptied, unless the user chose it.
        let is_enough = |&(unit, _): &(Unit, Reason)| is_relied_on(unit) || is_chosen(unit);
        if chosen.is_some() && (!asked.is_empty() || stay.iter().any(is_enough)) {
            let ordered = self.best(set, asked, usize::MAX).into_iter();
            stay.extend(ordered.map(|(unit, _)| (unit, Code::Chosen.into())));
        } else {
            // What the user marked wins over rules.
            let is_marked = |&unit: &Unit| set.names_of(unit).iter().any(|name| name.marked);
            let (marked, free): (Vec<Unit>, Vec<Unit>) = free.iter().partition(|u| is_marked(u));
            let ordered = self.best(set, marked, usize::MAX).into_iter();
            stay.extend(ordered.map(|(unit, _)| (unit, Code::Marked.into())));
            for rank in Rank::ALL {
                let among = free.iter().copied();
                let among = among.filter(|&unit| set.rank(unit) == rank);
                // A protected file in a trash stays, but no other file may go because of it.
                let relied_on = stay
                    .iter()
                    .filter(|&&(unit, _)| rank != Rank::Normal || is_relied_on(unit));
                let wanted = self.keep.max(1).saturating_sub(relied_on.count());
                let best = self.best(set, among.collect(), wanted).into_iter();
                stay.extend(best.map(|(unit, why)| (unit, Code::ByRule.about(why))));
            }
        }
        if self.isolate && chosen.is_none() {
            let more = beside(set, &free, &stay);
            stay.extend(more);
        }
        // A held file in a trash comes first, but is lost when the trash is emptied.
        let relied_on = stay.iter().filter(|&&(unit, _)| is_relied_on(unit));
        let relied_on: HashSet<usize> = relied_on.map(|((file, _), _)| *file).collect();
        let mut of_relied_on = stay
            .iter()
            .filter(|((file, _), _)| relied_on.contains(file));
        let chosen_one = || stay.iter().find(|kept| is_enough(kept));
        let keeper = of_relied_on.next().or_else(chosen_one).or(stay.first());
        let Some(&((keeper, _), _)) = keeper else {
            return;
        };
        for &index in group {
            set.files[index].fate = Fate::Act { keeper, frees: 0 };
        }
        let names: HashSet<Unit> = stay.iter().map(|&(unit, _)| unit).collect();
        for ((index, _), why) in stay {
            let file = &mut set.files[index];
            if matches!(file.fate, Fate::Keep(_)) {
                continue;
            }
            file.fate = Fate::Keep(why);
            // More names than the file has: who knows which of them are one.
            let is_known = by_name && file.names.len() as u64 <= file.links;
            for (place, name) in file.names.iter_mut().enumerate() {
                name.goes = is_known && !names.contains(&(index, Some(place)));
            }
        }
    }

    /// The best of these, each with the reason: those of richer groups first, and of equally rich ones, those that the
    /// rules prefer.
    fn best(&self, set: &SetPlan, among: Vec<Unit>, count: usize) -> Vec<(Unit, String)> {
        let mut classes: BTreeMap<_, Vec<Unit>> = BTreeMap::new();
        for unit in among {
            let richness = set.names_of(unit).iter().map(PlannedName::richness).max();
            classes.entry(Reverse(richness)).or_default().push(unit);
        }
        let mut best = Vec::new();
        while let Some((_, class)) = classes.pop_first() {
            let of_class: Vec<_> = class.iter().map(|&unit| set.traits(unit)).collect();
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

/// What lies below the same given path as what stays.
fn beside(set: &SetPlan, free: &[Unit], stay: &[(Unit, Reason)]) -> Vec<(Unit, Reason)> {
    let roots_of = |unit: Unit| set.names_of(unit).iter().filter_map(|name| name.root);
    let kept: BTreeSet<u32> = stay.iter().flat_map(|&(unit, _)| roots_of(unit)).collect();
    let stays: HashSet<Unit> = stay.iter().map(|&(unit, _)| unit).collect();
    let beside = free.iter().copied();
    let beside = beside.filter(|unit| !stays.contains(unit));
    beside
        .filter(|&unit| roots_of(unit).any(|root| kept.contains(&root)))
        .map(|unit| (unit, Code::SamePath.into()))
        .collect()
}

/// Reads the ACLs and labels of all files of a set, which `stat` does not report; with `same_metadata`, files of
/// different metadata get different rights.
///
/// A name that no longer exists has none; its step finds that out.
pub fn look_at_rights(set: &mut SetPlan, same_metadata: bool) {
    for file in &mut set.files {
        let path = file.names.first().map(|name| name.path.as_slice());
        let path = path.and_then(|path| CString::new(path).ok());
        let extended = path.and_then(|path| attributes::extended_of(&path).ok());
        let extended = extended.unwrap_or_default();
        let pairs = extended
            .iter()
            .map(|(name, value)| (name.to_bytes(), &value[..]));
        file.rights = file.rights.with(pairs.clone());
        if same_metadata {
            file.rights = file.rights.with_all(file.mtime_ns, pairs);
        }
    }
}

impl Policy {
    /// Decides about files of one place. The files of each class are decided on separately: one of them stays.
    fn by_class(&self, set: &mut SetPlan, group: &[usize], chosen: Option<&HashSet<usize>>) {
        let mut classes: BTreeMap<Rights, Vec<usize>> = BTreeMap::new();
        for &index in group {
            let class = self.common.counted(&set.files[index].rights);
            classes.entry(class).or_default().push(index);
        }
        if classes.len() < 2 {
            return self.group(set, group, chosen);
        }
        for class in classes.into_values() {
            let has_others = match class[..] {
                [only] => self.by_name && set.files[only].names.len() > 1,
                _ => true,
            };
            let has_reference =
                !self.by_reference || class.iter().any(|&i| is_reference(&set.files[i]));
            if has_others && has_reference {
                self.group(set, &class, chosen);
                continue;
            }
            for index in class {
                set.files[index].fate = match set.files[index].hold() {
                    Some(hold) => Fate::Keep(hold.into()),
                    None => Fate::Leave(self.why_apart(set, index, group)),
                };
            }
        }
    }

    /// The reason why a file does not match the references if there are some, or else the others: what it has in common
    /// with none of them. That is how it differs from the most similar one, since differences come in order of weight.
    fn why_apart(&self, set: &SetPlan, index: usize, group: &[usize]) -> Reason {
        let from = |other: &usize| {
            let (one, other) = (&set.files[index], &set.files[*other]);
            self.common.apart(&one.rights, &other.rights)
        };
        let references = group.iter().filter(|&&i| is_reference(&set.files[i]));
        let from_reference = references.filter_map(from).max();
        let from_other = || group.iter().filter_map(from).max();
        match from_reference {
            Some(apart) => Reason::apart_from_reference(apart),
            None => from_other().map_or(Code::NotAsked.into(), |apart| {
                // The most similar copy has the same owner.
                let whom = match apart {
                    Apart::Owner | Apart::Metadata => "its copies",
                    _ => "its copies of the same owner",
                };
                Reason::apart(apart, whom)
            }),
        }
    }
}

#[cfg(test)]
mod tests;
