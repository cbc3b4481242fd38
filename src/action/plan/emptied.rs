//! Finds the folders that a plan leaves empty.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;

use super::checks::hides_files;
use super::set::{Fate, SetPlan};
use super::settings::Settings;
use crate::action::StepFile;
use crate::action::coherence::FileSystems;
use crate::action::reason::Code;
use crate::action::ways::folder_entry::{NameInFolder, join, parent};
use crate::sys::attributes::{self, Time};
use crate::sys::dirent::{Buffer, Entries};
use crate::sys::{open, stat};

/// A folder that is removed after its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptyFolder {
    /// Real absolute path.
    pub path: Vec<u8>,
    /// Noise that is removed before it, sorted by name.
    pub noise: Vec<StepFile>,
    /// Device and inode number.
    pub(in crate::action) identity: (u64, u64),
    /// Last access and last modification before the run.
    pub(in crate::action) times: [Time; 2],
}

/// Counts the names that the plan removes.
#[derive(Debug)]
struct Search<'a> {
    settings: &'a Settings,
    /// Number of removed names of each folder. Each name is in one step at most.
    going: HashMap<Vec<u8>, u64>,
    /// Names that look like noise, but have a step of their own or must stay.
    no_noise: HashSet<Vec<u8>>,
    file_systems: FileSystems,
}

impl EmptyFolder {
    /// The folders that these sets leave empty, each after the folders in it.
    pub(super) fn look(sets: &[SetPlan], settings: &Settings) -> Vec<Self> {
        let mut search = Search {
            settings,
            going: HashMap::new(),
            no_noise: HashSet::new(),
            file_systems: FileSystems::default(),
        };
        sets.iter().for_each(|set| search.note(set));
        search.folders()
    }
}

impl Search<'_> {
    /// Records the removed files of a set.
    fn note(&mut self, set: &SetPlan) {
        for step in set.steps(self.settings.policy.action) {
            let folder = parent(&step.victim.path);
            match self.going.get_mut(folder) {
                Some(going) => *going += 1,
                None => {
                    self.going.insert(folder.to_vec(), 1);
                }
            }
        }
        let Some(noise) = &self.settings.noise else {
            return;
        };
        let acts = set.acts();
        let stays = |fate: &Fate| match fate {
            Fate::Leave(why) => why.code != Code::NoReference,
            _ => acts,
        };
        let known = set.files.iter().filter(|file| stays(&file.fate));
        let names = known
            .flat_map(|file| &file.names)
            .filter(|name| noise.is(name.bare(), set.size));
        self.no_noise.extend(names.map(|name| name.path.clone()));
        // A hidden file may be noise, such as .DS_Store.
        let left = set.left.iter();
        let left = left.filter(|left| left.why.code != Code::Managed);
        self.no_noise.extend(left.map(|left| left.path.clone()));
    }

    /// Folders that will be empty, each after the folders in it.
    fn folders(mut self) -> Vec<EmptyFolder> {
        let depth = |path: &[u8]| Reverse(path.iter().filter(|&&byte| byte == b'/').count());
        let mut waiting: BTreeSet<_> = self
            .going
            .keys()
            .map(|path| (depth(path), path.clone()))
            .collect();
        let mut buffer = Buffer::default();
        let mut empty = Vec::new();
        while let Some((_, path)) = waiting.pop_first() {
            let going = self.going.get(&path).copied().unwrap_or(0);
            if !self.settings.bounds.lets_folder_go(&path) {
                continue;
            }
            let Some(folder) = self.look(&path, going, &mut buffer) else {
                continue;
            };
            let above = parent(&path).to_vec();
            waiting.insert((depth(&above), above.clone()));
            *self.going.entry(above).or_default() += 1;
            empty.push(folder);
        }
        empty
    }

    /// The folder, if it has only removed names and noise, and nothing is mounted there.
    fn look(&mut self, path: &[u8], going: u64, buffer: &mut Buffer) -> Option<EmptyFolder> {
        let place = NameInFolder::of(path).ok()?;
        let folder = open::folder(&place.folder, &place.name).ok()?;
        let (now, was) = attributes::both(&folder).ok()?;
        // A subvolume is no folder that undo could make again.
        let above = stat::descriptor(&place.folder).ok()?;
        if now.mount_root || now.dev != above.dev {
            return None;
        }
        let mut names = 0;
        let mut noise = Vec::new();
        let listed = Entries::of(&folder, buffer).each(|name, _, kind| {
            match self.noise(&folder, path, name, kind) {
                Some(target) => noise.push(target),
                None => names += 1,
            }
            names <= going
        });
        noise.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        (listed.ok()? && names == going).then(|| EmptyFolder {
            path: path.to_vec(),
            noise,
            identity: (now.dev, now.ino),
            times: [was.accessed, was.modified],
        })
    }

    /// The present file of this name, if it is noise that may be removed.
    fn noise(
        &mut self,
        folder: &OwnedFd,
        path: &[u8],
        name: &CStr,
        kind: FileType,
    ) -> Option<StepFile> {
        let noise = self.settings.noise.as_ref()?;
        if !matches!(kind, FileType::RegularFile | FileType::Unknown) {
            return None;
        }
        let now = stat::fresh_entry(folder, name).ok()?;
        let whole = join(path, name.to_bytes());
        let bounds = &self.settings.bounds;
        let is_noise = now.kind == FileType::RegularFile
            && noise.is(name.to_bytes(), now.size)
            && !self.no_noise.contains(&whole)
            && !bounds.is_aside(&whole)
            && bounds.hold(&whole, &whole).is_none()
            && !(self.file_systems.has_branches(now.dev) && hides_files(&whole));
        is_noise.then_some(StepFile {
            path: whole,
            expected: (&now).into(),
        })
    }
}

impl EmptyFolder {
    /// True if the folder contains only its noise, and folders of these paths.
    pub(in crate::action) fn is_clear(&self, cleared: &HashSet<&[u8]>) -> bool {
        let noise: HashSet<_> = self.noise.iter().map(|file| &file.path[..]).collect();
        let mut buffer = Buffer::default();
        let listed = NameInFolder::of(&self.path).ok().and_then(|place| {
            let folder = open::folder(&place.folder, &place.name).ok()?;
            let mut entries = Entries::of(&folder, &mut buffer);
            let listed = entries.each(|name, _, _| {
                let path = join(&self.path, name.to_bytes());
                noise.contains(&path[..]) || cleared.contains(&path[..])
            });
            listed.ok()
        });
        listed == Some(true)
    }
}
