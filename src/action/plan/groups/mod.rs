//! Files that belong together by their names: a photo and the files that programs put beside it.

mod listing;
mod live;

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::hash::{BuildHasher, RandomState};

use rustix::io::{Errno, Result};

use super::name::{Group, PlannedName};
use super::set::SetPlan;
use crate::action::ways::folder_entry::{NameInFolder, bare, join, parent};
use crate::file::{Member, Role, clipped};
use crate::heartbeat::current;
use crate::media::Identifiers;
use crate::sys::stat::{self, Stat};

/// Finds the groups of names. Lists each folder that has a name with a role once, and keeps the names of the groups in
/// it: sets come in any order, so a folder that was forgotten would be listed again and again.
#[derive(Debug, Default)]
pub struct Groups {
    /// Hashes of the folders that were looked at, and whether they can be listed. The names in others stay.
    folders: HashMap<u64, bool>,
    /// The files of each group, the main file first.
    groups: HashMap<u64, Box<[GroupFile]>>,
    /// For names that only other files of the folder explain, by the hash of folder and name: the key of the group, and
    /// the role in it.
    told: HashMap<u64, (u64, Role)>,
    /// Sidecar files may be carried: a photo that is alone is a group as well.
    carries: bool,
    /// Groups by name that identifiers change. A further sidecar file could be about what left them.
    parted: HashSet<u64>,
    /// Where each group stands in the first set of a report that has one of its photos.
    places: HashMap<u64, usize>,
    /// Which Live Photos files belong to.
    pub identifiers: Identifiers,
    hasher: RandomState,
}

/// The bare name of the main file of a group, the number of its files, and the metadata of its main file.
type MainFile = (Box<[u8]>, u32, Stat);

/// The role of a file, and its bare name.
type GroupFile = (Role, Box<[u8]>);

impl Groups {
    /// No folder was looked at yet.
    pub fn new(carries: bool) -> Self {
        Self {
            carries,
            ..Self::default()
        }
    }

    /// True if sidecar files may be carried.
    pub fn carries(&self) -> bool {
        self.carries
    }

    /// The bare names of the sidecar files of a group.
    pub fn sidecars(&self, key: u64) -> impl Iterator<Item = &[u8]> {
        let files = self.files(key).iter();
        let sidecars = files.filter(|(role, _)| *role == Role::Sidecar);
        sidecars.map(|(_, name)| &**name)
    }

    /// The bare names of the files of a group, that of the main file first.
    pub fn names(&self, key: u64) -> impl Iterator<Item = &[u8]> {
        self.files(key).iter().map(|(_, name)| &**name)
    }

    fn files(&self, key: u64) -> &[GroupFile] {
        self.groups.get(&key).map_or(&[], |files| files)
    }

    /// True if a new sidecar file of this name, in a folder that was looked at, belongs to this group.
    pub fn takes(&self, key: u64, folder: &[u8], name: &[u8]) -> bool {
        let Some(Member { stem, role }) = Member::of(name) else {
            return false;
        };
        let stems = [&stem[..]].into_iter().chain(shorter(&stem));
        let mut keys = stems.map(|stem| self.key(folder, stem));
        let first = keys.find(|key| self.groups.contains_key(key));
        role == Role::Sidecar && first == Some(key) && !self.parted.contains(&key)
    }

    /// Finds the groups of all names of a set.
    pub fn look(&mut self, set: &mut SetPlan) {
        for file in &mut set.files {
            for name in &mut file.names {
                let group = match &file.recorded {
                    Some(recorded) => self.of_catalog(&recorded.copy.0),
                    None => self.group(name),
                };
                name.group = group.map(Box::new);
            }
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
        let (folder, bare_name) = (parent(name.path()), name.bare());
        if Member::of(bare_name).is_none() && clipped(bare_name).is_none() {
            return None;
        }
        current::ask_about(name.path());
        let listed = self.list_once(name.path(), folder);
        let (key, role) = self.place(folder, bare_name)?;
        let (main, richness, facts) = match listed.and_then(|()| self.found(name.path(), key)) {
            Ok(None) => return None,
            Ok(Some((main, number, now))) => (main, number, (now.mtime_ns, now.links)),
            // It may have files that nobody sees: it stays.
            Err(_) => (bare_name.into(), u32::MAX, Default::default()),
        };
        let above = name.listed().strip_suffix(bare(name.listed()));
        Some(Group {
            key,
            richness,
            main: join(folder, &main),
            listed: [above.unwrap_or_default(), &main].concat(),
            facts,
            is_sidecar: role == Role::Sidecar && richness != u32::MAX,
            lets_file_come: false,
        })
    }

    /// The group of a file in a catalog, by its own name: its folder cannot be listed.
    fn of_catalog(&self, copy: &[u8]) -> Option<Group> {
        let Member { stem, role } = Member::of(bare(copy))?;
        Some(Group {
            key: self.key(parent(copy), &stem),
            richness: 1,
            main: copy.to_vec(),
            listed: copy.to_vec(),
            facts: Default::default(),
            is_sidecar: role == Role::Sidecar,
            lets_file_come: false,
        })
    }

    /// Finds the groups of the folder of this path, if it was not listed before.
    fn list_once(&mut self, path: &[u8], folder: &[u8]) -> Result<()> {
        let hash = self.hasher.hash_one(folder);
        match self.folders.get(&hash) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Errno::ACCESS),
            None => {}
        }
        let place = NameInFolder::of(path).map_err(|_| Errno::NOENT)?;
        let listed = self.list(&place.folder, folder);
        self.folders.insert(hash, listed.is_ok());
        listed
    }

    /// The group of the file at this path as it is now; `None` if there is no such group.
    fn found(&self, path: &[u8], key: u64) -> Result<Option<MainFile>> {
        let files = self.files(key);
        let Some((_, main)) = files.first() else {
            return Ok(None);
        };
        let place = NameInFolder::of(path).map_err(|_| Errno::NOENT)?;
        let name = CString::new(&main[..]).map_err(|_| Errno::INVAL)?;
        let now = stat::entry(&place.folder, &name)?;
        Ok(Some((main.clone(), files.len() as u32, now)))
    }

    /// The key of the group of a name in a folder, and its role in the group.
    fn place(&self, folder: &[u8], name: &[u8]) -> Option<(u64, Role)> {
        let told = self.told.get(&self.hasher.hash_one((folder, name)));
        let own = || Member::of(name).map(|own| (self.key(folder, &own.stem), own.role));
        told.copied().or_else(own)
    }

    /// Where the file system ignores case, a file has both names.
    fn key(&self, folder: &[u8], stem: &[u8]) -> u64 {
        self.hasher.hash_one((folder, stem.to_ascii_lowercase()))
    }
}

/// The stems that the photo of a lone sidecar may have: without words behind a dot, the longest first, and without the
/// number that darktable gives a second edit (`_01`).
fn shorter(stem: &[u8]) -> impl Iterator<Item = &[u8]> {
    let dots = (0..stem.len()).rev().filter(|&at| stem[at] == b'.');
    let edited = stem.split_last_chunk::<3>().filter(|(_, number)| {
        matches!(number, [b'_', tens, ones] if tens.is_ascii_digit() && ones.is_ascii_digit())
    });
    dots.map(|dot| &stem[..dot])
        .chain(edited.map(|(stem, _)| stem))
}
