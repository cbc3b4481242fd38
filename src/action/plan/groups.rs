//! Files that belong together by their names: a photo and the files that programs put beside it.

use std::collections::HashMap;
use std::ffi::CString;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use super::set::{Group, PlannedName, SetPlan};
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
