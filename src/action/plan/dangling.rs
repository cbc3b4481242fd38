//! Symbolic links that a plan breaks.
//!
//! A search only counts links, so this check costs `find` nothing. A plan that removes names looks for the links. The
//! check needs 16 bytes for each of these names, and a walk through the folders that may contain links.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use crate::file::as_listed;
use crate::heartbeat::current;
use crate::scan::MOST_NAMES;
use crate::scan::filter::{Filter, Verdict};
use crate::sys::open::CWD;
use crate::sys::{stat, statfs};

/// Maximum number of links that are named one by one; further ones are counted.
const NAMED: usize = 1000;

/// Maximum length of a chain of links to links that is followed: each step needs one more walk, made only if a link was
/// found.
pub const LINKS_IN_A_ROW: usize = 8;

/// The places where links are looked for.
#[derive(Clone, Debug)]
pub enum LinkPlaces<'a> {
    /// Nowhere: there are none.
    Nowhere,
    /// In the folders that lose a name, and no deeper.
    Beside,
    /// Below these paths, as far as a search went.
    Below {
        /// The paths as they were given.
        roots: Vec<&'a Path>,
        /// Folders that the filter excludes are not searched.
        filter: &'a Filter,
        /// As for the search.
        max_depth: Option<u32>,
        /// As for the search.
        one_file_system: bool,
    },
}

/// A link, and the name that it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DanglingLink {
    /// The link itself, absolute.
    pub link: Vec<u8>,
    /// The final target.
    pub leads_to: Vec<u8>,
}

/// Links that will be broken.
#[derive(Clone, Debug, Default)]
pub struct Dangling {
    /// The first thousand.
    pub named: Vec<DanglingLink>,
    /// Number of all broken links.
    pub number: u64,
}

/// Names that the plan removes, and the links to them as far as they were found.
#[derive(Debug, Default)]
pub struct Search {
    /// Hashes of the whole paths of removed names. A clash of hashes names a link too many; it changes nothing.
    going: HashSet<u64>,
    /// Hashes of the names that the text of a relevant link ends in: removed files, and links to them.
    ends: HashSet<u64>,
    /// Links that were found.
    found: HashSet<u64>,
    hasher: RandomState,
    dangling: Dangling,
}

impl Search {
    /// Records a removed name, by its real path.
    pub fn note(&mut self, path: &[u8]) {
        self.going.insert(self.hasher.hash_one(path));
        self.ends.insert(self.hasher.hash_one(last_part(path)));
    }

    /// Searches the folder of a name, unless it was searched in this round.
    pub fn beside(&mut self, path: &[u8], looked: &mut HashSet<u64>) {
        let folder = &path[..path.len() - last_part(path).len()];
        if looked.insert(self.hasher.hash_one(folder)) {
            current::ask_about(folder);
            let folder = Path::new(std::ffi::OsStr::from_bytes(folder));
            let entries = WalkDir::new(folder).min_depth(1).max_depth(1);
            let entries = entries.into_iter().take(MOST_NAMES as usize);
            let entries = entries.filter_map(Result::ok);
            entries.for_each(|entry| self.entry(&entry));
        }
    }

    /// Searches everything that a search searched.
    pub fn below(&mut self, places: &LinkPlaces<'_>) {
        if let LinkPlaces::Below { roots, .. } = places {
            roots.iter().for_each(|root| self.below_one(root, places));
        }
    }

    /// The result.
    pub fn dangling(&self) -> &Dangling {
        &self.dangling
    }

    /// Searches below one root. Ignores folders that cannot be listed: the search has reported them.
    fn below_one(&mut self, root: &Path, places: &LinkPlaces<'_>) {
        let &LinkPlaces::Below {
            filter,
            max_depth,
            one_file_system,
            ..
        } = places
        else {
            return;
        };
        current::ask_about(root.as_os_str().as_bytes());
        let deepest = max_depth.map_or(usize::MAX, |depth| depth as usize);
        let walk = WalkDir::new(root).min_depth(1).max_depth(deepest.max(1));
        let look = |path: &Path| {
            let path = CString::new(path.as_os_str().as_bytes()).ok()?;
            stat::target(CWD, &path).ok()
        };
        let top = match one_file_system {
            true => look(root),
            false => None,
        };
        let is_on = |top: stat::Stat, entry: &DirEntry| {
            look(entry.path()).is_none_or(|here| here.dev == top.dev || here.is_in_mount(top.mount))
        };
        let stays = |entry: &DirEntry| top.is_none_or(|top| is_on(top, entry));
        let mut pseudo = HashMap::new();
        let entries = walk.into_iter().filter_entry(|entry| {
            current::ask_about(entry.path().as_os_str().as_bytes());
            !entry.file_type().is_dir()
                || entry.depth() == 0
                || (is_wanted(filter, entry) && stays(entry) && !is_pseudo(entry, &mut pseudo))
        });
        if deepest > 0 {
            let entries = entries.take(MOST_NAMES as usize).filter_map(Result::ok);
            entries.for_each(|entry| self.entry(&entry));
        }
    }

    fn entry(&mut self, entry: &DirEntry) {
        if !entry.path_is_symlink() {
            return;
        }
        let link = entry.path();
        // Its text tells most links apart: nothing else is asked of what they lead to.
        let is_near = fs::read_link(link).is_ok_and(|text| {
            let last = last_part(text.as_os_str().as_bytes());
            self.ends.contains(&self.hasher.hash_one(last))
        });
        if !is_near {
            return;
        }
        let Ok(leads_to) = link.canonicalize() else {
            return;
        };
        let leads_to = as_listed(&leads_to);
        let leads_to = leads_to.as_os_str().as_bytes();
        if !self.going.contains(&self.hasher.hash_one(leads_to)) {
            return;
        }
        let link = std::path::absolute(link).unwrap_or_else(|_| link.to_owned());
        let link = link.as_os_str().as_bytes();
        if !self.found.insert(self.hasher.hash_one(link)) {
            return;
        }
        self.ends.insert(self.hasher.hash_one(last_part(link)));
        self.dangling.number += 1;
        if self.dangling.named.len() < NAMED {
            self.dangling.named.push(DanglingLink {
                link: link.to_vec(),
                leads_to: leads_to.to_vec(),
            });
        }
    }
}

/// The name at the end of a path. The text of a link may end in a component that is no name; then the link leads to no
/// file.
fn last_part(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    &path[slash.map_or(0, |slash| slash + 1)..]
}

fn is_wanted(filter: &Filter, entry: &DirEntry) -> bool {
    let by_name = filter.entry(entry.file_name().as_bytes(), true) == Verdict::Keep;
    let path = || entry.path().as_os_str().as_bytes();
    by_name && (!filter.needs_path() || filter.path(path(), true) == Verdict::Keep)
}

/// Asks each file system once.
fn is_pseudo(entry: &DirEntry, known: &mut HashMap<u64, bool>) -> bool {
    let Ok(metadata) = entry.metadata() else {
        return true;
    };
    let ask = || File::open(entry.path()).is_ok_and(statfs::is_pseudo);
    *known.entry(metadata.dev()).or_insert_with(ask)
}
