//! What a plan does beside its files: folders that it leaves empty, and symbolic links that it breaks.
//!
//! A search reports the links that it meets, if it is asked to. The check for them needs 16 bytes for each removed
//! name.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::Settings;
use super::set::SetPlan;
use crate::action::ActionKind;
use crate::action::ways::folder_entry::{NameInFolder, bare, parent};
use crate::file::as_listed;
use crate::heartbeat::current;
use crate::sys::attributes::{self, Time};
use crate::sys::names::{Entries, EntryBuffer};
use crate::sys::{open, stat};

/// A folder that is removed after its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptyFolder {
    /// Real absolute path.
    pub path: Vec<u8>,
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
}

impl EmptyFolder {
    /// The folders that these sets leave empty, each after the folders in it.
    pub(super) fn look(sets: &[SetPlan], settings: &Settings) -> Vec<Self> {
        let mut search = EmptySearch {
            settings,
            going: HashMap::new(),
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
    }

    /// Folders that will be empty, each after the folders in it.
    fn folders(mut self) -> Vec<EmptyFolder> {
        let depth = |path: &[u8]| Reverse(path.iter().filter(|&&byte| byte == b'/').count());
        let mut waiting: BTreeSet<_> = self
            .going
            .keys()
            .map(|path| (depth(path), path.clone()))
            .collect();
        let mut buffer = EntryBuffer::default();
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

    /// The folder, if it has only removed names, and nothing is mounted there.
    fn look(&self, path: &[u8], going: u64, buffer: &mut EntryBuffer) -> Option<EmptyFolder> {
        let place = NameInFolder::of(path).ok()?;
        let folder = open::folder(&place.folder, &place.name).ok()?;
        let (now, was) = attributes::both(&folder).ok()?;
        // A subvolume is no folder that undo could make again.
        let above = stat::descriptor(&place.folder).ok()?;
        if now.mount_root || now.dev != above.dev {
            return None;
        }
        let mut names = 0;
        let listed = Entries::of(&folder, buffer).each(|_, _, _| {
            names += 1;
            names <= going
        });
        (listed.ok()? && names == going).then(|| EmptyFolder {
            path: path.to_vec(),
            identity: (now.dev, now.ino),
            times: [was.accessed, was.modified],
        })
    }
}

/// Maximum number of links that are named one by one; further ones are counted.
const NAMED: usize = 1000;

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

impl Dangling {
    /// Those of these links that lead to a name that the sets lose.
    pub(super) fn look(sets: &[SetPlan], action: ActionKind, links: &[PathBuf]) -> Self {
        let mut dangling = Self::default();
        if links.is_empty() {
            return dangling;
        }
        // A clash of hashes names a link too many; it changes nothing.
        let hasher = RandomState::new();
        let (mut going, mut names) = (HashSet::new(), HashSet::new());
        for step in sets.iter().flat_map(|set| set.steps(action)) {
            going.insert(hasher.hash_one(&step.victim.path[..]));
            names.insert(hasher.hash_one(bare(&step.victim.path)));
        }
        // Walkers find them in any order.
        let mut left: Vec<&PathBuf> = links.iter().collect();
        left.sort_unstable();
        let mut before = usize::MAX;
        // A link that breaks may be what others lead to.
        while left.len() < before {
            before = left.len();
            left.retain(|link| {
                current::ask_about(link.as_os_str().as_bytes());
                // What its text names tells most links apart: the others are not followed.
                let text = fs::read_link(link).unwrap_or_default();
                if !names.contains(&hasher.hash_one(bare(text.as_os_str().as_bytes()))) {
                    return true;
                }
                let leads_to = link.canonicalize().unwrap_or_default();
                let leads_to = as_listed(&leads_to);
                if !going.contains(&hasher.hash_one(leads_to.as_os_str().as_bytes())) {
                    return true;
                }
                names.insert(hasher.hash_one(bare(link.as_os_str().as_bytes())));
                dangling.number += 1;
                if dangling.named.len() < NAMED {
                    let link = std::path::absolute(link).unwrap_or_else(|_| link.to_path_buf());
                    dangling.named.push(BrokenLink { link, leads_to });
                }
                false
            });
        }
        dangling
    }
}
