//! Names that go together or stay together: the files of a photo, and with a report of folders, the files of a hidden
//! or managed folder.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::set::{Fate, Group, PlannedFile, PlannedName, SetPlan};
use crate::action::reason::{Code, Reason};
use crate::heartbeat::current;

/// Maximum number of groups among which the copies of a photo and of its sidecars are looked for.
const COPIES: usize = 16;

/// What goes whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Whole {
    /// The group with this key.
    Group(u64),
    /// The folder with this path.
    Folder(Vec<u8>),
}

/// The names of it that go.
#[derive(Clone, Copy, Debug, Default)]
struct Going {
    number: u64,
    /// A bit for each of the first names of a group.
    places: u64,
    /// Number of all its names; `None` if that is not known.
    all: Option<u64>,
}

impl Going {
    fn is_part(&self) -> bool {
        self.all != Some(self.number)
    }
}

/// What the plan does with groups and folders. Each of the sidecars of a group goes only if another group that stays has
/// a copy of it and of its photo; else the group stays.
#[derive(Debug, Default)]
struct Together {
    going: HashMap<Whole, Going>,
    /// What stays, and the place of the name because of which a group does.
    held: HashMap<Whole, u32>,
    /// For each group that goes: groups that stay and have a copy of a file of it that is no sidecar.
    copies: HashMap<u64, Vec<u64>>,
}

/// Leaves alone what does not go whole. Returns the places of the changed sets.
pub fn keep_together(sets: &mut [SetPlan]) -> Vec<usize> {
    let mut together = Together::default();
    sets.iter().for_each(|set| together.count(set));
    if together.going.is_empty() {
        return Vec::new();
    }
    sets.iter().for_each(|set| together.hold(set));
    // Once is enough: what stays later are further copies.
    sets.iter().for_each(|set| together.note_copies(set));
    sets.iter().for_each(|set| together.hold_without_copy(set));
    // What is held lets more be held.
    let mut before = 0;
    while together.held.len() != before {
        before = together.held.len();
        sets.iter().for_each(|set| together.hold(set));
    }
    let changed = sets.iter_mut().enumerate();
    let changed = changed.filter_map(|(place, set)| together.apply(set).then_some(place));
    changed.collect()
}

impl Together {
    /// Counts the names of a set that go.
    fn count(&mut self, set: &SetPlan) {
        for name in set.files.iter().flat_map(going_of) {
            for whole in wholes(name) {
                let going = self.going.entry(whole).or_insert_with_key(|whole| Going {
                    all: match (whole, &name.group) {
                        (Whole::Group(_), Some(group)) => Some(group.richness.into()),
                        (Whole::Folder(folder), _) => files_in(folder).ok(),
                        _ => None,
                    },
                    ..Going::default()
                });
                going.number += 1;
                let place = name.group.as_ref().map_or(0, |group| group.at);
                going.places |= 1u64.checked_shl(place).unwrap_or_default();
            }
        }
    }

    /// Holds what has a name that stays, once all sets were [counted](Self::count). A file that stays because of one of
    /// its names holds what belongs to the others.
    fn hold(&mut self, set: &SetPlan) {
        for file in &set.files {
            let names: Vec<(&PlannedName, Whole)> = going_of(file)
                .flat_map(|name| wholes(name).map(move |whole| (name, whole)))
                .collect();
            let going = |whole: &Whole| self.going.get(whole).copied().unwrap_or_default();
            let stays =
                |(_, whole): &(_, Whole)| self.held.contains_key(whole) || going(whole).is_part();
            let all = matches!(file.fate, Fate::Act { .. }) && names.iter().any(stays);
            for (name, whole) in names {
                let going = going(&whole);
                // Of the names that do not go, the first one; else this one, since its file stays.
                let holder = if going.is_part() {
                    going.places.trailing_ones()
                } else if all {
                    name.group.as_ref().map_or(0, |group| group.at)
                } else {
                    continue;
                };
                self.held.entry(whole).or_insert(holder);
            }
        }
    }

    /// Notes which groups have copies of the photos of groups that go.
    fn note_copies(&mut self, set: &SetPlan) {
        let stay: Vec<u64> = self.staying(set).take(COPIES).collect();
        for group in going_groups(set).filter(|group| !group.is_sidecar) {
            let copies = self.copies.entry(group.key).or_default();
            for &key in &stay {
                if copies.len() < COPIES && !copies.contains(&key) {
                    copies.push(key);
                }
            }
        }
    }

    /// Holds the groups that have a sidecar of which no group has a copy that also has one of its photo, once the copies
    /// of all sets were [noted](Self::note_copies).
    fn hold_without_copy(&mut self, set: &SetPlan) {
        let stay: HashSet<u64> = self.staying(set).collect();
        for group in going_groups(set).filter(|group| group.is_sidecar) {
            let copies = self.copies.get(&group.key);
            if !copies.is_some_and(|copies| copies.iter().any(|copy| stay.contains(copy))) {
                let group_held = self.held.entry(Whole::Group(group.key));
                group_held.or_insert(group.at);
            }
        }
    }

    /// The groups of the names of a set that stay.
    fn staying(&self, set: &SetPlan) -> impl Iterator<Item = u64> {
        let names = set.files.iter().flat_map(|file| {
            let names = file.names.iter();
            names.map(|name| (name, file.acts_on(name)))
        });
        names.filter_map(|(name, goes)| {
            let key = name.group.as_ref()?.key;
            (!goes || self.held.contains_key(&Whole::Group(key))).then_some(key)
        })
    }

    /// Takes what stays out of a set; returns whether there was any.
    fn apply(&self, set: &mut SetPlan) -> bool {
        let mut is_changed = false;
        for file in &mut set.files {
            let acts = matches!(file.fate, Fate::Act { .. });
            if acts && file.names.iter().any(|name| self.holds(name)) {
                self.leave(file);
                is_changed = true;
            }
            for name in &mut file.names {
                is_changed |= name.goes && self.holds(name);
                name.goes &= !self.holds(name);
            }
        }
        is_changed
    }

    fn leave(&self, file: &mut PlannedFile) {
        let held_folder = |name: &&PlannedName| {
            wholes(name).any(|at| matches!(at, Whole::Folder(_)) && self.held.contains_key(&at))
        };
        if let Some(place) = file
            .names
            .iter()
            .find(held_folder)
            .and_then(|name| name.managed)
        {
            file.fate = Fate::Leave(Reason::managed(place.row));
            return;
        }
        let others = file.names.iter().filter_map(|name| {
            let holder = self.holder(name)?;
            (holder != name.bare()).then(|| holder.to_vec())
        });
        let other = others.min();
        file.fate = Fate::Leave(match other {
            Some(_) => Code::Group.into(),
            None => Code::NoPair.into(),
        });
        let groups = file.names.iter_mut().filter_map(|name| name.group.as_mut());
        groups.for_each(|group| group.stays_with = other.clone().unwrap_or_default());
    }

    fn holds(&self, name: &PlannedName) -> bool {
        wholes(name).any(|whole| self.held.contains_key(&whole))
    }

    /// The bare name of the file because of which the group of a name stays.
    fn holder<'n>(&self, name: &'n PlannedName) -> Option<&'n [u8]> {
        let group = name.group.as_ref()?;
        let holder = *self.held.get(&Whole::Group(group.key))? as usize;
        let mut names = group.names.split(|&byte| byte == b'/');
        Some(names.nth(holder).unwrap_or(&group.names))
    }
}

/// What a name belongs to. A file that is hidden itself is whole.
fn wholes(name: &PlannedName) -> impl Iterator<Item = Whole> + use<> {
    let group = name.group.as_ref().map(|group| Whole::Group(group.key));
    let managed = name.managed.filter(|place| place.end < name.path.len());
    let folder = managed.map(|place| Whole::Folder(name.path[..place.end].to_vec()));
    group.into_iter().chain(folder)
}

/// The group of each name of a set that goes, by its path, and the number of names that go with it.
pub fn sizes(set: &SetPlan) -> HashMap<&[u8], (u64, usize)> {
    let names = set.files.iter().flat_map(going_of);
    let groups = names.filter_map(|name| {
        let group = name.group.as_deref()?;
        Some((&name.path[..], (group.key, group.richness as usize)))
    });
    groups.collect()
}

/// The names of a file that the plan acts on.
fn going_of(file: &PlannedFile) -> impl Iterator<Item = &PlannedName> {
    file.names.iter().filter(|name| file.acts_on(name))
}

/// The groups of the names of a set that the plan acts on.
fn going_groups(set: &SetPlan) -> impl Iterator<Item = &Group> {
    let names = set.files.iter().flat_map(going_of);
    names.filter_map(|name| name.group.as_deref())
}

/// Number of the files in a folder and all folders in it.
fn files_in(folder: &[u8]) -> io::Result<u64> {
    let mut files = 0;
    let mut waiting = vec![Path::new(OsStr::from_bytes(folder)).to_owned()];
    while let Some(folder) = waiting.pop() {
        current::ask_about(folder.as_os_str().as_bytes());
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(entry.path());
            }
            files += u64::from(kind.is_file());
        }
    }
    Ok(files)
}
