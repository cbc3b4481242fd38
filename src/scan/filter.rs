//! Filters entries by name, size and time.
//!
//! A [`FilterSpec`](super::FilterSpec) holds the user's filters and is checked once. The [`Filter`] made from it tests
//! each entry, on raw bytes. Tests of different kinds must all agree; patterns of one kind are alternatives.

use regex::RegexSet;

use super::glob::Globs;
use crate::file::Kind;

/// The result of a filter for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The entry is kept (a folder: is entered).
    Keep,
    /// Its name starts with a dot, and the user skips hidden entries.
    Hidden,
    /// A name, path, type, size or time test rules it out.
    Filtered,
    /// It is an empty file, and the user does not include empty files.
    Empty,
}

/// The tests, ready to use. The default keeps everything but empty files.
///
/// The tests run in three steps, cheapest first. [`entry`](Self::entry) knows only the name. [`path`](Self::path) is
/// called only if [`needs_path`](Self::needs_path) is true. [`metadata`](Self::metadata) comes after the file was
/// looked up.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub(super) skip_hidden: bool,
    pub(super) keep_empty: bool,
    pub(super) names: Option<Globs>,
    pub(super) paths: Option<Globs>,
    pub(super) excluded: Option<Globs>,
    pub(super) excluded_folders: Option<Globs>,
    pub(super) regexes: Option<RegexSet>,
    pub(super) kinds: Vec<Kind>,
    pub(super) extensions: Vec<Vec<u8>>,
    pub(super) min_size: Option<u64>,
    pub(super) max_size: Option<u64>,
    pub(super) newer_ns: Option<i64>,
    pub(super) older_ns: Option<i64>,
}

impl Filter {
    /// Tests the bare name of a folder's entry, before anything else is known about the entry.
    ///
    /// Name globs and kinds apply to files only: the walk must enter a folder to find files.
    #[inline]
    pub fn entry(&self, name: &[u8], is_folder: bool) -> Verdict {
        if self.skip_hidden && name.first() == Some(&b'.') {
            Verdict::Hidden
        } else {
            keep_if(is_folder || self.name(name))
        }
    }

    /// Tests a root that the user named, by its name and its path. A hidden root is kept, since the user named it, and
    /// so is a folder without a name: "/", ".", "..".
    pub fn root(&self, path: &[u8], is_folder: bool) -> Verdict {
        let mut parts = path.rsplit(|&byte| byte == b'/');
        match parts.find(|part| !part.is_empty()) {
            None | Some(b"." | b"..") => Verdict::Keep,
            Some(name) if is_folder || self.name(name) => self.path(path, is_folder),
            Some(_) => Verdict::Filtered,
        }
    }

    #[inline]
    fn name(&self, name: &[u8]) -> bool {
        self.names.as_ref().is_none_or(|globs| globs.matches(name))
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind.includes(name)))
            && (self.extensions.is_empty() || self.has_extension(name))
    }

    /// A dot at the start of a name begins no extension: ".zip" is a hidden file called zip.
    fn has_extension(&self, name: &[u8]) -> bool {
        self.extensions.iter().any(|ending| {
            let start = name.len().checked_sub(ending.len());
            start.is_some_and(|start| start > 0 && name[start..].eq_ignore_ascii_case(ending))
        })
    }

    /// True if [`path`](Self::path) has something to test.
    pub fn needs_path(&self) -> bool {
        self.paths.is_some()
            || self.excluded.is_some()
            || self.excluded_folders.is_some()
            || self.regexes.is_some()
    }

    /// Tests the whole path as reached from a root. Only exclusions apply to a folder.
    pub fn path(&self, path: &[u8], is_folder: bool) -> Verdict {
        let in_folders = || {
            self.excluded_folders
                .as_ref()
                .is_some_and(|it| it.matches(path))
        };
        let is_excluded = self.excludes(path) || is_folder && in_folders();
        // Bytes that are no UTF-8 count as a character, so that a dot matches them.
        let in_regexes = |set: &RegexSet| set.is_match(&String::from_utf8_lossy(path));
        let is_wanted = || {
            self.paths.as_ref().is_none_or(|globs| globs.matches(path))
                && self.regexes.as_ref().is_none_or(in_regexes)
        };
        keep_if(!is_excluded && (is_folder || is_wanted()))
    }

    /// True if a pattern excludes this path, as reached from a root.
    pub fn excludes(&self, path: &[u8]) -> bool {
        let excluded = self.excluded.as_ref();
        excluded.is_some_and(|globs| globs.matches(path))
    }

    /// Tests the size and the time of last modification of a regular file.
    pub fn metadata(&self, size: u64, mtime_ns: i64) -> Verdict {
        let in_bounds = self.min_size.is_none_or(|min| size >= min)
            && self.max_size.is_none_or(|max| size <= max)
            && self.newer_ns.is_none_or(|since| mtime_ns >= since)
            && self.older_ns.is_none_or(|until| mtime_ns < until);
        // What other tests rule out would not come back with empty files: blame those first.
        if !in_bounds {
            Verdict::Filtered
        } else if size == 0 && !self.keep_empty {
            Verdict::Empty
        } else {
            Verdict::Keep
        }
    }
}

fn keep_if(is_wanted: bool) -> Verdict {
    if is_wanted {
        Verdict::Keep
    } else {
        Verdict::Filtered
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::scan::FilterSpec;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn built(spec: FilterSpec) -> Filter {
        let spec = FilterSpec {
            working_folder: PathBuf::from("/home/me"),
            ..spec
        };
        spec.build().expect("the patterns of this test are right")
    }

    fn check(filter: &Filter, cases: &[(&[u8], bool)]) {
        for &(path, kept) in cases {
            let (path, is_folder) = match path.strip_suffix(b"/") {
                Some(folder) => (folder, true),
                None => (path, false),
            };
            let verdict = filter.root(path, is_folder);
            assert_eq!(verdict == Verdict::Keep, kept, "{}", path.escape_ascii());
        }
    }

    #[test]
    fn paths_float_unless_anchored() {
        let floating = built(FilterSpec {
            paths: words("2024/*.jpg"),
            ..FilterSpec::default()
        });
        check(
            &floating,
            &[
                (b"2024/a.jpg", true),
                (b"./2024/a.jpg", true),
                (b"/mnt/x/2024/a.jpg", true),
                (b"2024/05/a.jpg", false),
                (b"x2024/a.jpg", false),
                (b"2024/", true),
            ],
        );
        let anchored = built(FilterSpec {
            paths: words("/home/me/photos/** ./music/**"),
            ..FilterSpec::default()
        });
        check(
            &anchored,
            &[
                (b"photos/a", true),
                (b"./photos/b/a", true),
                (b"/home/me/photos/a", true),
                (b"music/a", true),
                (b"/home/me/music/a", true),
                (b"old/photos/a", false),
                (b"old/music/a", false),
            ],
        );
    }

    #[test]
    fn exclusions_take_out_files_and_folders() {
        let filter = built(FilterSpec {
            excludes: words("*.tmp node_modules cache/ build/out /srv/skip"),
            ..FilterSpec::default()
        });
        check(
            &filter,
            &[
                (b"a.tmp", false),
                (b"x.tmp/", false),
                (b"x/node_modules/", false),
                (b"x/cache/", false),
                (b"x/cache", true),
                (b"x/build/out/", false),
                (b"x/build/", true),
                (b"/srv/skip/", false),
                (b"/mnt/srv/skip/", true),
                (b"./", true),
                (b"../", true),
            ],
        );
    }
}
