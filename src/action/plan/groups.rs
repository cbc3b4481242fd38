//! Files that belong together by their names, a photo and the files that programs put beside it: they go together or
//! stay together.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use super::live;
use super::set::{Fate, Group, PlannedFile, PlannedName, SetPlan};
use crate::action::reason::Code;
use crate::action::ways::folder_entry::{NameInFolder, bare, join, parent};
use crate::file::{Member, Role, clipped, is_exported, numbered, original};
use crate::heartbeat::current;
use crate::media::Identifiers;
use crate::scan::MOST_NAMES;
use crate::sys::names::{Entries, EntryBuffer};
use crate::sys::open;
use crate::sys::stat::{self, Stat};

/// Finds the groups of names. Lists each folder that has a name with a role once, and keeps about 60 bytes for each
/// group in it: sets come in any order, so a folder that was forgotten would be listed again and again.
#[derive(Debug, Default)]
pub struct Groups {
    /// Hashes of the folders that were looked at, and whether they can be listed. The names in others stay.
    folders: HashMap<u64, bool>,
    /// The bare name of the main file of each group, and the number of its files.
    groups: HashMap<u64, (Box<[u8]>, u32)>,
    /// For names that only other files of the folder explain, by the hash of folder and name: the key of the group, and
    /// the role in it.
    told: HashMap<u64, (u64, Role)>,
    /// Where each group stands in the first set of a report that has one of its photos.
    places: HashMap<u64, usize>,
    /// Which Live Photos files belong to.
    pub identifiers: Identifiers,
    hasher: RandomState,
}

/// The bare name of the main file of a group, the number of its files, and the metadata of its main file.
type MainFile = (Box<[u8]>, u32, Stat);

/// A name of a photo or film, the number that was taken out of it, and the key of the group.
type About<'a> = (Cow<'a, [u8]>, Option<&'a [u8]>, u64);

/// A name: the key of its group, its role, and its bare name.
type Named = (u64, Role, Box<[u8]>);

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
        let Some((main, number)) = self.groups.get(&key) else {
            return Ok(None);
        };
        let place = NameInFolder::of(path).map_err(|_| Errno::NOENT)?;
        let name = CString::new(&main[..]).map_err(|_| Errno::INVAL)?;
        let now = stat::entry(&place.folder, &name)?;
        Ok(Some((main.clone(), *number, now)))
    }

    /// The key of the group of a name in a folder, and its role in the group.
    fn place(&self, folder: &[u8], name: &[u8]) -> Option<(u64, Role)> {
        let told = self.told.get(&self.hasher.hash_one((folder, name)));
        let own = || Member::of(name).map(|own| (self.key(folder, &own.stem), own.role));
        told.copied().or_else(own)
    }

    /// Finds all groups of a folder.
    fn list(&mut self, handle: &OwnedFd, folder: &[u8]) -> Result<()> {
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
            if group.iter().any(|member| member.1 != group[0].1) {
                let main = group[0].2.clone();
                self.groups.insert(group[0].0, (main, group.len() as u32));
            }
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

    /// Moves sidecars that nothing else has the stem of to the photo or film whose stem theirs begins with, up to a dot:
    /// `film.en.srt` to `film.mkv`.
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
            let dots = (0..stem.len()).rev().filter(|&at| stem[at] == b'.');
            let mut shorter = dots.map(|dot| self.key(folder, &stem[..dot]));
            if let Some(main) = shorter.find(|key| mains.contains(key)) {
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

    /// Where the file system ignores case, a file has both names.
    fn key(&self, folder: &[u8], stem: &[u8]) -> u64 {
        self.hasher.hash_one((folder, stem.to_ascii_lowercase()))
    }
}

/// Maximum number of groups among which the copies of a photo and of its sidecars are looked for.
const COPIES: usize = 16;

/// What the plan does with groups. Each of the sidecars of a group goes only if one group that stays has a copy of it
/// and of each file of the group that is no sidecar; else the group stays. Which of those files a sidecar is about, its
/// name need not tell.
#[derive(Debug, Default)]
struct Together {
    /// Number of the files of each group that go.
    going: HashMap<u64, u32>,
    /// Groups that stay, and whether that is for lack of a copy.
    held: HashMap<u64, bool>,
    /// For each group that goes: groups that stay and have a copy of each file of it that is no sidecar.
    copies: HashMap<u64, Vec<u64>>,
}

/// Leaves alone the groups that do not go whole. Returns the places of the changed sets.
pub fn keep_together(sets: &mut [SetPlan]) -> Vec<usize> {
    let mut together = Together::default();
    for group in sets.iter().flat_map(going_groups) {
        *together.going.entry(group.key).or_default() += 1;
    }
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
    /// Holds the groups of which a file stays. A file that stays because of one of its names holds the groups of the
    /// others.
    fn hold(&mut self, set: &SetPlan) {
        for file in set.files.iter().filter(|file| file.goes()) {
            let is_whole = |group: &Group| self.going.get(&group.key) == Some(&group.richness);
            let stays = |group: &Group| self.held.contains_key(&group.key) || !is_whole(group);
            if groups_of(file).any(stays) {
                for group in groups_of(file) {
                    self.held.entry(group.key).or_insert(false);
                }
            }
        }
    }

    /// Notes which groups have copies of the photos and films of groups that go.
    fn note_copies(&mut self, set: &SetPlan) {
        let first: Vec<u64> = self.staying(set).take(COPIES).collect();
        let stay: HashSet<u64> = self.staying(set).collect();
        for group in going_groups(set).filter(|group| !group.is_sidecar) {
            let copies = self.copies.entry(group.key);
            let copies = copies.and_modify(|known| known.retain(|key| stay.contains(key)));
            copies.or_insert_with(|| first.clone());
        }
    }

    /// Holds the groups that have a sidecar of which no group has a copy that also has copies of its photos and films,
    /// once the copies of all sets were [noted](Self::note_copies).
    fn hold_without_copy(&mut self, set: &SetPlan) {
        let stay: HashSet<u64> = self.staying(set).collect();
        for group in going_groups(set).filter(|group| group.is_sidecar) {
            let copies = self.copies.get(&group.key);
            if !copies.is_some_and(|copies| copies.iter().any(|copy| stay.contains(copy))) {
                self.held.entry(group.key).or_insert(true);
            }
        }
    }

    /// The groups of the files of a set that stay.
    fn staying(&self, set: &SetPlan) -> impl Iterator<Item = u64> {
        let groups = set.files.iter().flat_map(|file| {
            let goes = file.goes();
            groups_of(file).map(move |group| (group.key, goes))
        });
        let staying = groups.filter(|(key, goes)| !goes || self.held.contains_key(key));
        staying.map(|(key, _)| key)
    }

    /// Takes what stays out of a set; returns whether there was any.
    fn apply(&self, set: &mut SetPlan) -> bool {
        let mut is_changed = false;
        for file in set.files.iter_mut().filter(|file| file.goes()) {
            let mut held =
                groups_of(file).filter_map(|group| Some((group, *self.held.get(&group.key)?)));
            let Some(first) = held.next() else { continue };
            let has_no_pair = [first]
                .into_iter()
                .chain(held)
                .any(|(group, lacks_copy)| group.is_sidecar && lacks_copy);
            let code = if has_no_pair {
                Code::NoPair
            } else {
                Code::Group
            };
            file.fate = Fate::Leave(code.into());
            is_changed = true;
        }
        is_changed
    }
}

/// The group of each name of a set that goes, by its path, and the number of names that go with it.
pub fn sizes(set: &SetPlan) -> HashMap<&[u8], (u64, usize)> {
    let going = set.files.iter().filter(|file| file.goes());
    let groups = going.flat_map(|file| &file.names).filter_map(|name| {
        let group = name.group.as_deref()?;
        Some((name.path(), (group.key, group.richness as usize)))
    });
    groups.collect()
}

/// The groups of the names of a file.
fn groups_of(file: &PlannedFile) -> impl Iterator<Item = &Group> {
    file.names.iter().filter_map(|name| name.group.as_deref())
}

/// The groups of the names of a set that the plan acts on.
fn going_groups(set: &SetPlan) -> impl Iterator<Item = &Group> {
    let going = set.files.iter().filter(|file| file.goes());
    going.flat_map(groups_of)
}
