//! The filters that the user asked for, and their check before the run.

use std::path::PathBuf;

use regex::{RegexSet, RegexSetBuilder};

use super::filter::Filter;
use super::glob::{BadPattern, Globs};
use crate::file::Kind;
use crate::units::Bytes;

/// The tests that the user asked for, not yet checked.
///
/// The default has no tests: every file but the empty ones is included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterSpec {
    /// Globs, one of which must match a file's bare name.
    pub names: Vec<String>,
    /// Globs, one of which must match a file's whole path.
    ///
    /// A pattern that starts with `/`, `./` or `../` is anchored; any other may start at any folder of the path.
    pub paths: Vec<String>,
    /// Globs that exclude files and whole folders. They match the bare name, or work like [`paths`](Self::paths) if
    /// they contain a slash. A slash at the end means folders only.
    pub excludes: Vec<String>,
    /// Regular expressions, one of which must match somewhere in a file's whole path.
    pub regexes: Vec<String>,
    /// All patterns ignore case.
    pub ignore_case: bool,
    /// Kinds of files, one of which must fit the extension.
    pub kinds: Vec<Kind>,
    /// Extensions, one of which a file's name must have, with or without the dot. Case does not matter.
    pub extensions: Vec<String>,
    /// Skip files and folders whose name starts with a dot.
    pub skip_hidden: bool,
    /// Include empty files.
    pub keep_empty: bool,
    /// Minimum size of a file.
    pub min_size: Option<Bytes>,
    /// Maximum size of a file.
    pub max_size: Option<Bytes>,
    /// Modified at this time or later (nanoseconds since 1970).
    pub newer_ns: Option<i64>,
    /// Modified before this time (nanoseconds since 1970).
    pub older_ns: Option<i64>,
    /// The folder from which relative paths start; needed by anchored patterns only.
    pub working_folder: PathBuf,
}

impl FilterSpec {
    /// True if a file that is not empty may be left out.
    pub fn has_tests(&self) -> bool {
        let none = Self {
            keep_empty: self.keep_empty,
            working_folder: self.working_folder.clone(),
            ..Self::default()
        };
        *self != none
    }
}

/// Why no file can pass a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFile {
    /// The least size is larger than the largest. Without empty files it is 1 byte.
    #[error(
        "no file that takes part has {0} or more and {1} or less: swap the two sizes, change one, or include empty files"
    )]
    Sizes(Bytes, Bytes),
    /// The earliest time is not before the latest, or before now.
    #[error(
        "no file is newer than the one time and older than the other, or than now: swap the two times, or omit one"
    )]
    Times,
}

impl FilterSpec {
    /// Refuses bounds that no file keeps to, at this time (nanoseconds since 1970).
    ///
    /// # Errors
    /// The contradiction.
    pub fn check(&self, now_ns: i64) -> Result<(), NoFile> {
        let least = self.min_size.unwrap_or_default();
        let least = least.max(Bytes(u64::from(!self.keep_empty)));
        let latest_ns = self.older_ns.unwrap_or(now_ns);
        match self.max_size {
            Some(most) if least > most => Err(NoFile::Sizes(least, most)),
            _ if self.newer_ns.is_some_and(|newer| newer >= latest_ns) => Err(NoFile::Times),
            _ => Ok(()),
        }
    }

    /// Compiles the patterns.
    pub fn build(&self) -> Result<Filter, BadPattern> {
        if let Some(name) = self.names.iter().find(|name| name.contains('/')) {
            return Err(BadPattern::SlashInName(name.clone()));
        }
        if let Some(path) = self.paths.iter().find(|path| path.ends_with('/')) {
            return Err(BadPattern::SlashAtEnd(path.clone()));
        }
        let (folders, any): (Vec<_>, Vec<_>) = self
            .excludes
            .iter()
            .cloned()
            .partition(|pattern| is_folder_pattern(pattern));
        let folders: Vec<String> = folders
            .iter()
            .map(|pattern| pattern.trim_end_matches('/').to_owned())
            .collect();
        let globs =
            |patterns: &[String]| Globs::new(patterns, self.ignore_case, &self.working_folder);
        Ok(Filter {
            skip_hidden: self.skip_hidden,
            keep_empty: self.keep_empty,
            names: globs(&self.names)?,
            paths: globs(&self.paths)?,
            excluded: globs(&any)?,
            excluded_folders: globs(&folders)?,
            regexes: regexes(&self.regexes, self.ignore_case)?,
            kinds: self.kinds.clone(),
            extensions: self
                .extensions
                .iter()
                .map(|extension| ending(extension))
                .collect(),
            min_size: self.min_size.map(|size| size.0),
            max_size: self.max_size.map(|size| size.0),
            newer_ns: self.newer_ns,
            older_ns: self.older_ns,
        })
    }
}

/// The end of a name with this extension, in lower case.
fn ending(extension: &str) -> Vec<u8> {
    let bare = extension.trim_start_matches('.');
    format!(".{bare}").to_ascii_lowercase().into_bytes()
}

/// True if the pattern ends in a slash (and is more than one).
fn is_folder_pattern(pattern: &str) -> bool {
    pattern.ends_with('/') && pattern.bytes().any(|byte| byte != b'/')
}

fn regexes(patterns: &[String], ignore_case: bool) -> Result<Option<RegexSet>, BadPattern> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let compile = |patterns: &[String]| {
        RegexSetBuilder::new(patterns)
            .case_insensitive(ignore_case)
            .build()
    };
    // A set does not say which of its members is at fault.
    let culprit = || {
        patterns
            .iter()
            .find(|&p| compile(std::slice::from_ref(p)).is_err())
    };
    compile(patterns)
        .map(Some)
        .map_err(|error| BadPattern::Regex {
            pattern: culprit().map_or_else(|| patterns.join(" "), Clone::clone),
            reason: reason_in_one_line(&error),
        })
}

/// Picks the sentence from the parser's picture of several lines.
fn reason_in_one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}
