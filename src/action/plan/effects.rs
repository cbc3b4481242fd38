//! What a plan does beside its files: folders that it leaves empty, and symbolic links that it breaks.
//!
//! A search reports the links that it meets, if it is asked to. The check for them needs 16 bytes for each removed name.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CStr;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::Settings;
use super::planner::hides_files;
use super::set::{Fate, SetPlan};
use crate::action::coherence::FileSystems;
use crate::action::reason::Code;
use crate::action::ways::folder_entry::{NameInFolder, bare, join, parent};
use crate::action::{ActionKind, StepFile};
use crate::file::as_listed;
use crate::heartbeat::current;
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
struct EmptySearch<'a> {
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
        let mut search = EmptySearch {
            settings,
            going: HashMap::new(),
            no_noise: HashSet::new(),
            file_systems: FileSystems::default(),
        };
        sets.iter().for_each(|set| search.note(set));
        search.folders()
    }
}

impl EmptySearch<'_> {
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
        self.no_noise.extend(names.map(|name| name.path().to_vec()));
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

/// Maximum number of links that are named one by one; further ones are counted.
const NAMED: usize = 1000;

/// Maximum length of a chain of links to links that is followed.
const LINKS_IN_A_ROW: usize = 8;

/// A symbolic link that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenLink {
    /// The link, an absolute path.
    pub link: PathBuf,
    /// The file that it leads to, which the plan removes or moves.
    pub leads_to: PathBuf,
}

/// Links that will be broken.
#[derive(Clone, Debug, Default)]
pub struct Dangling {
    /// The first thousand.
    pub named: Vec<BrokenLink>,
    /// Number of all broken links.
    pub number: u64,
}

/// Names that the plan removes, and the links to them as far as they were found.
#[derive(Debug, Default)]
struct LinkSearch {
    /// Hashes of the whole paths of removed names. A clash of hashes names a link too many; it changes nothing.
    going: HashSet<u64>,
    /// Hashes of the names that the text of a relevant link ends in: removed files, and links to them.
    ends: HashSet<u64>,
    /// Links that were found.
    found: HashSet<u64>,
    hasher: RandomState,
    dangling: Dangling,
}

impl Dangling {
    /// Those of these links that lead to a name that the sets lose.
    pub(super) fn look(sets: &[SetPlan], action: ActionKind, links: &[PathBuf]) -> Self {
        let mut search = LinkSearch::default();
        if links.is_empty() {
            return search.dangling;
        }
        let steps = sets.iter().flat_map(|set| set.steps(action));
        steps.for_each(|step| search.note(&step.victim.path));
        // A link that is found may be what others lead to.
        for _ in 0..LINKS_IN_A_ROW {
            let before = search.dangling.number;
            links.iter().for_each(|link| search.link(link));
            if search.dangling.number == before {
                break;
            }
        }
        search.dangling
    }
}

impl LinkSearch {
    /// Records a removed name, by its real path.
    fn note(&mut self, path: &[u8]) {
        self.going.insert(self.hasher.hash_one(path));
        self.ends.insert(self.hasher.hash_one(bare(path)));
    }

    /// Looks where a link leads.
    fn link(&mut self, link: &Path) {
        current::ask_about(link.as_os_str().as_bytes());
        // Its text tells most links apart: nothing else is asked of what they lead to.
        let is_near = fs::read_link(link).is_ok_and(|text| {
            // It may be no name; then the link leads to no file.
            let last = bare(text.as_os_str().as_bytes());
            self.ends.contains(&self.hasher.hash_one(last))
        });
        if !is_near {
            return;
        }
        let Ok(leads_to) = link.canonicalize() else {
            return;
        };
        let leads_to = as_listed(&leads_to);
        let end = leads_to.as_os_str().as_bytes();
        if !self.going.contains(&self.hasher.hash_one(end)) {
            return;
        }
        let link = std::path::absolute(link).unwrap_or_else(|_| link.to_owned());
        let path = link.as_os_str().as_bytes();
        if !self.found.insert(self.hasher.hash_one(path)) {
            return;
        }
        self.ends.insert(self.hasher.hash_one(bare(path)));
        self.dangling.number += 1;
        if self.dangling.named.len() < NAMED {
            self.dangling.named.push(BrokenLink { link, leads_to });
        }
    }
}
