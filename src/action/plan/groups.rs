//! Files that belong together by their names: a photo and the files that programs put beside it.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use super::set::{Fate, Group, PlannedFile, PlannedName, SetPlan};
use crate::action::reason::Code;
use crate::action::ways::folder_entry::{NameInFolder, bare, join, parent};
use crate::file::{Member, Role};
use crate::heartbeat::current;
use crate::scan::MOST_NAMES;
use crate::sys::dirent::{Buffer, Entries};
use crate::sys::open;
use crate::sys::stat::{self, Stat};

/// Finds the groups of names. Lists each folder that has a name with a role once, and keeps about 100 bytes for each
/// group in it: sets come in any order, so a folder that was forgotten would be listed again and again.
#[derive(Debug, Default)]
pub struct Groups {
    /// Hashes of the folders that were looked at, and whether they can be listed. The names in others stay.
    folders: HashMap<u64, bool>,
    /// The bare names of each group, the main file first, with slashes between them.
    names: HashMap<u64, Box<[u8]>>,
    /// Where each group stands in the first set of a report that has one of its photos.
    places: HashMap<u64, usize>,
    hasher: RandomState,
}

impl Groups {
    /// Finds the groups of all names of a set.
    pub fn look(&mut self, set: &mut SetPlan) {
        for name in set.files.iter_mut().flat_map(|file| &mut file.names) {
            name.group = self.group(name).map(Box::new);
        }
        if set.is_ordered {
            self.order(set);
        }
    }

    /// Sorts the files of a set of a report as the report sorts the photos of their groups. Where it has no such photo,
    /// its order does not count.
    fn order(&mut self, set: &mut SetPlan) {
        let mut places = Vec::new();
        for (nth, file) in set.files.iter().enumerate() {
            let groups = file.names.iter().map(|name| name.group.as_deref());
            let known = groups.map(|group| match group {
                None => Some(nth),
                Some(group) if group.is_sidecar => self.places.get(&group.key).copied(),
                Some(group) => Some(*self.places.entry(group.key).or_insert(nth)),
            });
            places.push(known.min().flatten());
        }
        set.is_ordered = places.iter().all(Option::is_some);
        if set.is_ordered {
            let mut files: Vec<_> = places.into_iter().zip(set.files.drain(..)).collect();
            files.sort_by_key(|&(place, _)| place);
            set.files.extend(files.into_iter().map(|(_, file)| file));
        }
    }

    fn group(&mut self, name: &PlannedName) -> Option<Group> {
        let member = Member::of(name.bare())?;
        let folder = parent(&name.path);
        let key = self.key(folder, member.stem);
        current::ask_about(&name.path);
        let (names, richness, facts) = match self.found(&name.path, folder, key) {
            Ok(None) => return None,
            Ok(Some((names, main))) => {
                let number = names.split(|&byte| byte == b'/').count();
                let facts = (main.mtime_ns, main.atime_ns, main.links.into());
                (names.into(), number as u32, facts)
            }
            // It may have files that nobody sees: it stays.
            Err(_) => {
                let unseen: &[u8] = b"files of a folder that cannot be listed";
                (
                    [name.bare(), unseen].join(&b'/'),
                    u32::MAX,
                    Default::default(),
                )
            }
        };
        let above = name.listed.strip_suffix(bare(&name.listed));
        let mut members = names.split(|&byte| byte == b'/');
        let first = members.clone().next().unwrap_or_default();
        let at = members.position(|other| other == name.bare());
        Some(Group {
            key,
            richness,
            main: join(folder, first),
            listed: [above.unwrap_or_default(), first].concat(),
            facts,
            at: at.unwrap_or_default() as u32,
            stays_with: Vec::new(),
            is_sidecar: member.role == Role::Sidecar && richness != u32::MAX,
            names,
        })
    }

    /// The names of a group as it is now, and the metadata of its main file; `None` if there is no such group.
    fn found(&mut self, path: &[u8], folder: &[u8], key: u64) -> Result<Option<(Box<[u8]>, Stat)>> {
        let hash = self.hasher.hash_one(folder);
        let is_listed = self.folders.get(&hash).copied();
        match is_listed {
            Some(false) => return Err(Errno::ACCESS),
            Some(true) if !self.names.contains_key(&key) => return Ok(None),
            _ => {}
        }
        let place = NameInFolder::of(path).map_err(|_| Errno::NOENT)?;
        if is_listed.is_none() {
            let listed = self.list(&place.folder, folder);
            self.folders.insert(hash, listed.is_ok());
            listed?;
        }
        let Some(names) = self.names.get(&key) else {
            return Ok(None);
        };
        let first = names.split(|&byte| byte == b'/').next().unwrap_or_default();
        let first = CString::new(first).map_err(|_| Errno::INVAL)?;
        let main = stat::entry(&place.folder, &first)?;
        Ok(Some((names.clone(), main)))
    }

    /// Finds all groups of a folder.
    fn list(&mut self, handle: &OwnedFd, folder: &[u8]) -> Result<()> {
        let listed = open::folder(handle, c".")?;
        let mut buffer = Buffer::default();
        let mut members: Vec<(u64, Role, Box<[u8]>)> = Vec::new();
        let mut names = 0;
        let ended = Entries::of(&listed, &mut buffer).each(|name, _, kind| {
            let is_file = || match kind {
                FileType::Unknown => {
                    stat::entry(handle, name).is_ok_and(|stat| stat.kind == FileType::RegularFile)
                }
                kind => kind == FileType::RegularFile,
            };
            if let Some(member) = Member::of(name.to_bytes())
                && is_file()
            {
                let key = self.key(folder, member.stem);
                members.push((key, member.role, name.to_bytes().into()));
            }
            current::beat();
            names += 1;
            names < MOST_NAMES
        })?;
        if !ended {
            return Err(Errno::OVERFLOW);
        }
        members.sort_unstable();
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            if group.iter().any(|member| member.1 != group[0].1) {
                let names: Vec<&[u8]> = group.iter().map(|member| &member.2[..]).collect();
                self.names.insert(group[0].0, names.join(&b'/').into());
            }
        }
        Ok(())
    }

    /// Where the file system ignores case, a file has both names.
    fn key(&self, folder: &[u8], stem: &[u8]) -> u64 {
        self.hasher.hash_one((folder, stem.to_ascii_lowercase()))
    }
}

/// Maximum number of groups among which the copies of a photo and of its sidecars are looked for.
const COPIES: usize = 16;

/// The names of a group that go: their number, and a bit for each of the first ones.
#[derive(Clone, Copy, Debug, Default)]
struct Going {
    number: u32,
    places: u64,
}

/// What the plan does with groups. A group goes as a whole, and each of its sidecars only if another group that stays
/// has a copy of it and of its photo; else the group stays as a whole.
#[derive(Debug, Default)]
pub struct Together {
    /// Names of each group that go.
    going: HashMap<u64, Going>,
    /// Groups that stay, and the place of the name because of which they do.
    held: HashMap<u64, u32>,
    /// For each group that goes: groups that stay and have a copy of a file of it that is no sidecar.
    copies: HashMap<u64, Vec<u64>>,
}

impl Together {
    /// Counts the names of a set that go.
    pub fn count(&mut self, set: &SetPlan) {
        for (_, group) in going(set) {
            let going = self.going.entry(group.key).or_default();
            going.number += 1;
            going.places |= 1u64.checked_shl(group.at).unwrap_or_default();
        }
    }

    /// Number of groups that stay or go.
    pub fn len(&self) -> (usize, usize) {
        (self.going.len(), self.held.len())
    }

    /// Holds the groups of which a file stays, once all sets were [counted](Self::count). A file that stays because of
    /// one of its names holds what belongs to the others.
    pub fn hold(&mut self, set: &SetPlan) {
        for file in &set.files {
            let groups: Vec<&Group> = going_of(file).map(|(_, group)| group).collect();
            let going = |group: &Group| self.going.get(&group.key).copied().unwrap_or_default();
            let is_part = |group: &Group| going(group).number != group.richness;
            let stays = |group: &&Group| self.held.contains_key(&group.key) || is_part(group);
            let all = matches!(file.fate, Fate::Act { .. }) && groups.iter().any(stays);
            for group in groups {
                // Of the names that do not go, the first one; else this one, since its file stays.
                let holder = match is_part(group) {
                    true => going(group).places.trailing_ones(),
                    false if all => group.at,
                    false => continue,
                };
                self.held.entry(group.key).or_insert(holder);
            }
        }
    }

    /// Notes which groups have copies of the photos of groups that go.
    pub fn note_copies(&mut self, set: &SetPlan) {
        let stay: Vec<u64> = self.staying(set).take(COPIES).collect();
        for (_, group) in going(set).filter(|(_, group)| !group.is_sidecar) {
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
    pub fn hold_without_copy(&mut self, set: &SetPlan) {
        let stay: HashSet<u64> = self.staying(set).collect();
        for (_, group) in going(set).filter(|(_, group)| group.is_sidecar) {
            let copies = self.copies.get(&group.key);
            if !copies.is_some_and(|copies| copies.iter().any(|copy| stay.contains(copy))) {
                self.held.entry(group.key).or_insert(group.at);
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
            (!goes || self.held.contains_key(&key)).then_some(key)
        })
    }

    /// The bare name of the file because of which the group of a name stays.
    fn holder<'n>(&self, name: &'n PlannedName) -> Option<&'n [u8]> {
        let group = name.group.as_ref()?;
        let holder = *self.held.get(&group.key)? as usize;
        let mut names = group.names.split(|&byte| byte == b'/');
        Some(names.nth(holder).unwrap_or(&group.names))
    }

    /// Takes the groups that stay out of a set; returns whether there were any.
    pub fn apply(&self, set: &mut SetPlan) -> bool {
        let mut any = false;
        let is_held = |name: &PlannedName| self.holder(name).is_some();
        for file in &mut set.files {
            if matches!(file.fate, Fate::Act { .. }) && file.names.iter().any(is_held) {
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
                any = true;
            }
            for name in &mut file.names {
                any |= name.goes && is_held(name);
                name.goes &= !is_held(name);
            }
        }
        any
    }
}

/// The group of each name of a set that goes, by its path, and the number of names that go with it.
pub fn sizes(set: &SetPlan) -> HashMap<&[u8], (u64, usize)> {
    let groups = going(set);
    groups
        .map(|(name, group)| (&name.path[..], (group.key, group.richness as usize)))
        .collect()
}

/// The names of a file that belong to groups and that the plan acts on.
fn going_of(file: &PlannedFile) -> impl Iterator<Item = (&PlannedName, &Group)> {
    let names = file.names.iter().filter(|name| file.acts_on(name));
    names.filter_map(|name| Some((name, name.group.as_deref()?)))
}

/// Those of all files of a set.
fn going(set: &SetPlan) -> impl Iterator<Item = (&PlannedName, &Group)> {
    set.files.iter().flat_map(going_of)
}
