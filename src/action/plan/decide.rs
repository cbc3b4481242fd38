//! Decides which files of a set stay.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::CString;

use super::by_folder::FolderPairs;
use super::name::{PlannedName, Rank};
use super::set::{Fate, PlannedFile, SetPlan};
use crate::action::ActionKind;
use crate::action::access::{Apart, Common, Rights};
use crate::action::bounds::HOLDS;
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
    /// The pairs of folders that replace each other, by a report of folders. If there are any, nothing else decides.
    pub pairs: FolderPairs,
    /// The properties that files must share to replace each other.
    pub common: Common,
}

/// The reason why a file stays rather than one that fewer files belong to.
const RICHER: &str = "more sidecar files";

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
    /// The default rules for this action.
    pub fn new(action: ActionKind) -> Self {
        Self {
            action,
            rules: Rules::default(),
            keep: 1,
            isolate: false,
            by_reference: false,
            pairs: FolderPairs::default(),
            common: Common::Nothing,
        }
    }

    /// Decides the fate of each file of the set. The freed bytes are estimated afterwards.
    pub fn decide(&self, set: &mut SetPlan, choice: &Choice) {
        set.count_marks();
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
                file.names.sort_by_key(|name| !name.is_relied_on());
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
                        .entry(set.files[index].volume.location)
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
                set.files[group[0]].fate = Fate::Leave(Code::OtherFileSystem.into());
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
        let is_chosen = |file| chosen.is_some_and(|chosen| chosen.contains(&file));
        let is_held = |&file: &usize| set.files[file].hold().is_some();
        let (held, free): (Vec<usize>, Vec<usize>) = group.iter().partition(|&file| is_held(file));
        let mut stay: Vec<(usize, Reason)> = Vec::new();
        for hold in HOLDS {
            let with = held.iter().copied();
            let with = with.filter(|&file| set.files[file].hold() == Some(hold));
            let ordered = self.best(set, with.collect(), usize::MAX);
            let held = |file: usize| (file, set.files[file].held_by(hold));
            stay.extend(ordered.into_iter().map(|(file, _)| held(file)));
        }
        let asked: Vec<usize> = free
            .iter()
            .copied()
            .filter(|&file| is_chosen(file))
            .collect();
        let is_relied_on = |file: usize| set.files[file].is_relied_on();
        // A held file in a trash is lost when the trash is emptied, unless the user chose it.
        let is_enough = |&(file, _): &(usize, Reason)| is_relied_on(file) || is_chosen(file);
        if chosen.is_some() && (!asked.is_empty() || stay.iter().any(is_enough)) {
            let ordered = self.best(set, asked, usize::MAX).into_iter();
            stay.extend(ordered.map(|(file, _)| (file, Code::Chosen.into())));
        } else {
            // What the user marked wins over rules.
            let is_marked = |&file: &usize| set.files[file].names.iter().any(|name| name.marked);
            let (marked, free): (Vec<usize>, Vec<usize>) =
                free.iter().partition(|&file| is_marked(file));
            let ordered = self.best(set, marked, usize::MAX).into_iter();
            stay.extend(ordered.map(|(file, _)| (file, Code::Marked.into())));
            for rank in Rank::ALL {
                let among = free.iter().copied();
                let among = among.filter(|&file| set.files[file].rank() == rank);
                // A protected file in a trash stays, but no other file may go because of it.
                let relied_on = stay
                    .iter()
                    .filter(|&&(file, _)| rank != Rank::Normal || is_relied_on(file));
                let wanted = self.keep.max(1).saturating_sub(relied_on.count());
                let best = self.best(set, among.collect(), wanted).into_iter();
                stay.extend(best.map(|(file, why)| (file, Code::ByRule.about(why))));
            }
        }
        if self.isolate && chosen.is_none() {
            let more = beside(set, &free, &stay);
            stay.extend(more);
        }
        // A held file in a trash comes first, but is lost when the trash is emptied.
        let relied_on = stay.iter().find(|&&(file, _)| is_relied_on(file));
        let chosen_one = || stay.iter().find(|kept| is_enough(kept));
        let Some(&(keeper, _)) = relied_on.or_else(chosen_one).or(stay.first()) else {
            return;
        };
        for &index in group {
            set.files[index].fate = Fate::Act { keeper, frees: 0 };
        }
        for (index, why) in stay {
            set.files[index].fate = Fate::Keep(why);
        }
    }

    /// The best of these, each with the reason: those of richer groups first, and of equally rich ones, those that the
    /// rules prefer.
    fn best(&self, set: &SetPlan, among: Vec<usize>, count: usize) -> Vec<(usize, String)> {
        let mut classes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for file in among {
            let names = set.files[file].names.iter();
            let richness = names.map(PlannedName::richness).max();
            classes.entry(Reverse(richness)).or_default().push(file);
        }
        let mut best = Vec::new();
        while let Some((_, class)) = classes.pop_first() {
            let of_class = class.iter();
            let of_class = of_class.map(|&file| set.traits(file, 0, &set.files[file].names));
            for chosen in self
                .rules
                .choose(&of_class.collect::<Vec<_>>(), count - best.len())
            {
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

/// True for a file that others are copies of.
pub(super) fn is_reference(file: &PlannedFile) -> bool {
    file.hold() == Some(Code::Reference)
}

/// What lies below the same given path as what stays.
fn beside(set: &SetPlan, free: &[usize], stay: &[(usize, Reason)]) -> Vec<(usize, Reason)> {
    let roots_of = |file: usize| set.files[file].names.iter().filter_map(|name| name.root);
    let kept: BTreeSet<u32> = stay.iter().flat_map(|&(file, _)| roots_of(file)).collect();
    let stays: HashSet<usize> = stay.iter().map(|&(file, _)| file).collect();
    let is_beside =
        |file: &usize| !stays.contains(file) && roots_of(*file).any(|root| kept.contains(&root));
    let beside = free.iter().copied().filter(is_beside);
    beside.map(|file| (file, Code::SamePath.into())).collect()
}

/// Reads the ACLs and labels of all files of a set, which `stat` does not report; with `same_metadata`, files of
/// different metadata get different rights.
///
/// A name that no longer exists has none; its step finds that out.
pub fn look_at_rights(set: &mut SetPlan, same_metadata: bool) {
    for file in &mut set.files {
        let path = file.names.first().map(PlannedName::path);
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
            let has_others = class.len() > 1;
            let has_reference =
                !self.by_reference || class.iter().any(|&i| is_reference(&set.files[i]));
            if has_others && has_reference {
                self.group(set, &class, chosen);
                continue;
            }
            for index in class {
                set.files[index].fate = match set.files[index].hold() {
                    Some(hold) => Fate::Keep(set.files[index].held_by(hold)),
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
            Some(apart) => Reason::apart(apart, "its copy below a reference folder"),
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
