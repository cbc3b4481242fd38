//! Finds the groups of a folder from the names in it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::hash::BuildHasher;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use super::{Groups, live, shorter};
use crate::file::{Member, Role, clipped, is_edited, is_exported, numbered, original};
use crate::heartbeat::current;
use crate::scan::MOST_NAMES;
use crate::sys::names::{Entries, EntryBuffer};
use crate::sys::open;
use crate::sys::stat;

/// A name of a photo or film, the number that was taken out of it, and the key of the group.
type About<'a> = (Cow<'a, [u8]>, Option<&'a [u8]>, u64);

/// A name: the key of its group, its role, and its bare name.
type Named = (u64, Role, Box<[u8]>);

impl Groups {
    /// Finds all groups of a folder.
    pub(super) fn list(&mut self, handle: &OwnedFd, folder: &[u8]) -> Result<()> {
        let listed = open::folder(handle, c".")?;
        let mut buffer = EntryBuffer::default();
        let mut members: Vec<Named> = Vec::new();
        let mut clipped_names: Vec<Box<[u8]>> = Vec::new();
        let mut names = 0;
        let ended = Entries::of(&listed, &mut buffer).each(|name, _, kind| {
            let is_file = || match kind {
                FileType::Unknown => {
                    stat::entry(handle, name).is_ok_and(|stat| stat.kind == FileType::RegularFile)
                }
                kind => kind == FileType::RegularFile,
            };
            let name = name.to_bytes();
            if let Some(member) = Member::of(name) {
                if is_file() {
                    let key = self.key(folder, &member.stem);
                    members.push((key, member.role, name.into()));
                }
            } else if clipped(name).is_some() && is_file() {
                clipped_names.push(name.into());
            }
            current::beat();
            names += 1;
            names < MOST_NAMES
        })?;
        if !ended {
            return Err(Errno::OVERFLOW);
        }
        self.tell_lone(folder, &mut members);
        self.tell_clipped(folder, &mut members, clipped_names);
        self.tell_edited(folder, &mut members);
        self.tell_live(handle, folder, &mut members);
        members.sort_unstable();
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            let &(key, role, _) = &group[0];
            let is_lone = self.carries && group.len() == 1;
            let is_edited = |member: &Named| is_edited(&member.2);
            let is_of_one_sort = group.iter().all(|member| member.1 == role)
                && group.iter().any(is_edited) == group.iter().all(is_edited);
            if role == Role::Sidecar || !is_lone && is_of_one_sort {
                continue;
            }
            let files = group.iter();
            let files = files.map(|(_, role, name)| (*role, name.clone()));
            self.groups.insert(key, files.collect());
        }
        Ok(())
    }

    /// Adds the files whose clipped names show that they are about a photo or film of one group only.
    fn tell_clipped(&mut self, folder: &[u8], members: &mut Vec<Named>, names: Vec<Box<[u8]>>) {
        if names.is_empty() {
            return;
        }
        let keys: HashSet<u64> = members.iter().map(|member| member.0).collect();
        let mut about: Vec<About> = Vec::new();
        for (key, _, name) in members.iter().filter(|member| member.1 != Role::Sidecar) {
            // An edited version shares the file about its original.
            let original = self
                .original_key(folder, name)
                .filter(|key| keys.contains(key));
            let key = original.unwrap_or(*key);
            about.push((Cow::from(&**name), None, key));
            about.extend(numbered(name).map(|(plain, number)| (plain.into(), Some(number), key)));
        }
        about.sort_unstable();
        let told = names.into_iter().filter_map(|name| {
            let (start, number) = clipped(&name)?;
            let first = about.partition_point(|(name, ..)| &name[..] < start);
            let may = about[first..]
                .iter()
                .take_while(|(name, ..)| name.starts_with(start));
            let with = |number| {
                may.clone()
                    .filter(move |about| about.1 == number)
                    .map(|about| about.2)
            };
            let mut keys = with(Some(number)).peekable();
            if keys.peek().is_none() && number.is_empty() {
                // The title itself ends with a number.
                keys = with(None).peekable();
            }
            let key = keys.next()?;
            keys.all(|other| other == key)
                .then_some((key, Role::Sidecar, name))
        });
        let told: Vec<Named> = told.collect();
        for (key, role, name) in &told {
            self.tell(folder, name, *key, *role);
        }
        members.extend(told);
    }

    /// Moves sidecars that nothing else has the stem of to the photo or film that has a shorter one: `film.en.srt` to
    /// `film.mkv`, `a_01.cr2.xmp` to `a.cr2`.
    fn tell_lone(&mut self, folder: &[u8], members: &mut [Named]) {
        let mains = members.iter().filter(|member| member.1 != Role::Sidecar);
        let mains: HashSet<u64> = mains.map(|member| member.0).collect();
        for (key, role, name) in members
            .iter_mut()
            .filter(|member| !mains.contains(&member.0))
        {
            let Some(Member { stem, .. }) = Member::of(name).filter(|_| !mains.is_empty()) else {
                continue;
            };
            let mut keys = shorter(&stem).map(|stem| self.key(folder, stem));
            if let Some(main) = keys.find(|key| mains.contains(key)) {
                *key = main;
                self.tell(folder, name, main, *role);
            }
        }
    }

    /// Moves edited photos, and what belongs to them, to the groups of their originals if there is a file about these,
    /// but none about the edited photo: they share it.
    fn tell_edited(&mut self, folder: &[u8], members: &mut [Named]) {
        let is_about = |name: &[u8]| is_exported(name) || clipped(name).is_some();
        let described = members.iter().filter(|(.., name)| is_about(name));
        let described: HashSet<u64> = described.map(|member| member.0).collect();
        let undescribed = members
            .iter()
            .filter(|member| !described.contains(&member.0));
        let shares = undescribed.filter_map(|(key, _, name)| {
            let original = self.original_key(folder, name)?;
            described.contains(&original).then_some((*key, original))
        });
        let shares: HashMap<u64, u64> = shares.collect();
        for (key, role, name) in members {
            if let Some(&original) = shares.get(key) {
                *key = original;
                self.tell(folder, name, original, *role);
            }
        }
    }

    /// Moves photos and films to the groups that their identifiers tell.
    fn tell_live(&mut self, handle: &OwnedFd, folder: &[u8], members: &mut [Named]) {
        if self.identifiers.is_empty() {
            return;
        }
        let of_file = |name: &[u8]| {
            let stat = stat::entry(handle, &CString::new(name).ok()?).ok()?;
            self.identifiers.get((stat.dev, stat.ino))
        };
        let halves = members.iter().map(|(key, role, name)| {
            let identifier = matches!(role, Role::Still | Role::Film).then(|| of_file(name));
            (*key, *role, identifier.flatten())
        });
        let halves: Vec<live::Half> = halves.collect();
        let keys = live::keys(&halves, |film| self.hasher.hash_one((folder, film)));
        for ((key, role, name), told) in members.iter_mut().zip(keys) {
            if *key != told {
                self.parted.insert(*key);
                *key = told;
                self.tell(folder, name, told, *role);
            }
        }
    }

    /// Notes the group of a name that only other files of the folder explain.
    fn tell(&mut self, folder: &[u8], name: &[u8], key: u64, role: Role) {
        let place = self.hasher.hash_one((folder, name));
        self.told.insert(place, (key, role));
    }

    /// The key of the group of the photo of which this name may be an edited version.
    fn original_key(&self, folder: &[u8], name: &[u8]) -> Option<u64> {
        Some(self.key(folder, &Member::of(&original(name)?)?.stem))
    }
}
