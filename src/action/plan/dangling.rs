//! Symbolic links that a plan breaks.
//!
//! A search reports the links that it meets, if it is asked to. The check needs 16 bytes for each removed name.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::set::SetPlan;
use crate::action::ActionKind;
use crate::action::ways::folder_entry::bare;
use crate::file::as_listed;
use crate::heartbeat::current;
use crate::scan::MOST_NAMES;

/// Maximum number of links that are named one by one; further ones are counted.
const NAMED: usize = 1000;

/// Maximum length of a chain of links to links that is followed.
const LINKS_IN_A_ROW: usize = 8;

/// The links that may lead to removed names.
#[derive(Clone, Debug)]
pub enum LinkPlaces {
    /// Those in the folders that lose a name, and no deeper.
    Beside,
    /// These.
    Found(Vec<PathBuf>),
}

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
struct Search {
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
    /// The links that lead to a name that these sets lose.
    pub(super) fn look(sets: &[SetPlan], action: ActionKind, places: &LinkPlaces) -> Self {
        let mut search = Search::default();
        if matches!(places, LinkPlaces::Found(links) if links.is_empty()) {
            return search.dangling;
        }
        let steps = || sets.iter().flat_map(|set| set.steps(action));
        steps().for_each(|step| search.note(&step.victim.path));
        // A link that is found may be what others lead to.
        for _ in 0..LINKS_IN_A_ROW {
            let before = search.dangling.number;
            match places {
                LinkPlaces::Beside => {
                    let mut looked = HashSet::new();
                    steps().for_each(|step| search.beside(&step.victim.path, &mut looked));
                }
                LinkPlaces::Found(links) => links.iter().for_each(|link| search.link(link)),
            }
            if search.dangling.number == before {
                break;
            }
        }
        search.dangling
    }
}

impl Search {
    /// Records a removed name, by its real path.
    fn note(&mut self, path: &[u8]) {
        self.going.insert(self.hasher.hash_one(path));
        self.ends.insert(self.hasher.hash_one(bare(path)));
    }

    /// Searches the folder of a name, unless it was searched in this round.
    fn beside(&mut self, path: &[u8], looked: &mut HashSet<u64>) {
        let folder = &path[..path.len() - bare(path).len()];
        if looked.insert(self.hasher.hash_one(folder)) {
            current::ask_about(folder);
            let entries = fs::read_dir(OsStr::from_bytes(folder))
                .into_iter()
                .flatten();
            let entries = entries.take(MOST_NAMES as usize).filter_map(Result::ok);
            let links =
                entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
            links.for_each(|link| self.link(&link.path()));
        }
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
