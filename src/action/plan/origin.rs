//! Where sets come from: a report or a search.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::file::{Spellings, as_listed, as_path};
use crate::heartbeat::current;
use crate::scan::filter::Filter;

/// What is said of the files of a set beside their names.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Their numbers and times are known; a report in text has none.
    pub has_facts: bool,
    /// The places of the files that the user marked to stay, against all rules; sorted.
    pub marked: &'a [usize],
}

impl Listed<'_> {
    /// A set that was just found.
    pub const FOUND: Self = Self {
        has_facts: true,
        marked: &[],
    };
}

/// The properties of all sets of one source. By default it does not know where files were searched.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The folder where relative names start; without it, relative names are not understood.
    pub folder: Option<PathBuf>,
    /// The time at which the files were examined, nanoseconds since 1970.
    pub not_after_ns: Option<i64>,
    /// Copies below one of the given paths do not count as duplicates of each other.
    pub isolate: bool,
    /// Names of one file count as duplicates of each other.
    pub hard_links: bool,
    /// Symbolic links were followed: what lies behind one is left alone.
    pub follow_links: bool,
    /// Files that were modified before this time (nanoseconds since 1970) can only be kept.
    pub newer_ns: Option<i64>,
    /// The order of the files counts: it is that of a report, which was made by rules that are not known here, and
    /// which the user saw and may have changed.
    pub is_ordered: bool,
    /// The filter of the search: what it excludes is not carried.
    pub filter: Filter,
    /// Ignore files were obeyed: only what was found is carried.
    pub obeys_ignore_files: bool,
    /// The given paths that are catalogs, by their numbers, each with the time of its scan: copies that only they know
    /// count as copies that stay.
    pub catalogs: HashMap<u32, (PathBuf, String)>,
    /// The absolute paths of the catalogs that a report is of: their files are only there.
    pub reported_catalogs: Vec<PathBuf>,
    /// The searched paths.
    pub(crate) roots: Option<HashMap<PathBuf, u32>>,
    /// The numbers of the given paths that are files, in order.
    pub(crate) given_files: Vec<u32>,
    /// Real paths. Nothing outside them is included, whatever the source says. Without any, there is no limit.
    pub(crate) limits: Vec<PathBuf>,
    /// If set, only these real paths were given by the user who acts; the roots are those of a report.
    pub(crate) given: Option<Vec<PathBuf>>,
}

impl Origin {
    /// Sets the searched paths: nothing outside them is included. Relative paths start in `folder`. A path that does
    /// not exist (any more) includes nothing.
    pub fn with_roots<'a>(mut self, roots: impl IntoIterator<Item = &'a Path>) -> Self {
        let base = self.folder.clone().unwrap_or_default();
        let mut real = HashMap::new();
        let mut spellings = Spellings::default();
        for (index, root) in (0..).zip(roots) {
            let root = base.join(root);
            current::ask_about(root.as_os_str().as_bytes());
            if let Ok(root) = root.canonicalize() {
                if root.is_file() {
                    self.given_files.push(index);
                }
                let root = spellings.path(root.as_os_str().as_bytes());
                real.entry(PathBuf::from(OsString::from_vec(root)))
                    .or_insert(index);
            }
        }
        current::rest();
        self.roots = Some(real);
        self
    }

    /// Limits a report to these real paths, which the user gave: nothing outside them is included, wherever the source
    /// searched. With none, there is no limit.
    #[must_use]
    pub fn within(self, limits: &[PathBuf]) -> Self {
        let mut origin = self.given(limits);
        origin.limits = origin.given.clone().unwrap_or_default();
        origin
    }

    /// Sets the real paths that the user gave with the action, if the searched paths are those of a report.
    #[must_use]
    pub fn given(mut self, given: &[PathBuf]) -> Self {
        self.given = Some(given.iter().map(|path| as_listed(path)).collect());
        self
    }

    /// A listed name, behind the folder where relative names start.
    pub(super) fn absolute(&self, listed: &[u8]) -> Vec<u8> {
        match &self.folder {
            Some(folder) => folder.join(as_path(listed)).into_os_string().into_vec(),
            None => listed.to_vec(),
        }
    }

    /// Length of the innermost path that contains this real path and that the user gave with the action; 0 without any.
    pub(super) fn given_end(&self, path: &[u8]) -> usize {
        let mut above = as_path(path).ancestors();
        let given = above.find(|above| match (&self.given, &self.roots) {
            (Some(given), _) => given.iter().any(|given| given == above),
            (None, Some(roots)) => roots.contains_key(*above),
            (None, None) => false,
        });
        given.map_or(0, |given| given.as_os_str().len())
    }

    /// True if the limits include this real path.
    pub(super) fn admits(&self, path: &[u8]) -> bool {
        let path = as_path(path);
        let mut limits = self.limits.iter();
        self.limits.is_empty() || limits.any(|limit| path.starts_with(limit))
    }

    /// True if the search did not look at a file of this name because the user excluded it.
    pub(super) fn excludes(&self, listed: &[u8]) -> bool {
        self.obeys_ignore_files || self.filter.excludes(listed)
    }

    /// The place of a given path among all, as in a search: all given files have that of the first one.
    pub fn place_of(&self, root: u32) -> u32 {
        match self.given_files.binary_search(&root) {
            Ok(_) => self.given_files[0],
            Err(_) => root,
        }
    }

    /// True if a report found this absolute path in a catalog.
    pub(super) fn is_of_catalog(&self, path: &[u8]) -> bool {
        let path = as_path(path);
        let mut catalogs = self.reported_catalogs.iter();
        catalogs.any(|catalog| path.starts_with(catalog))
    }

    /// The number of the innermost given path that contains this real path, as in a search.
    pub(super) fn root_of(&self, path: &[u8]) -> Inside {
        let Some(roots) = &self.roots else {
            return Inside::Unsaid;
        };
        let path = as_path(path);
        let number = path.ancestors().find_map(|path| roots.get(path));
        number.map_or(Inside::No, |&number| Inside::Root(number))
    }
}

/// Whether a path was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// It is below this given path.
    Root(u32),
    /// It is below none.
    No,
    /// It is not known which paths were given.
    Unsaid,
}
