//! Decides which files of a set stay, by rules in the order in which they were given.
//!
//! A rule gives each file a score; the lowest is best. The first rule decides. The next rule decides between files with
//! equal scores. A rule is one row of [`RULES`]. Between files that no rule tells apart, the default order decides.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use regex::Regex;

use super::bounds::Place;
use super::ways::folder_entry::bare;
use crate::file::{ByParts, Preference};
use crate::scan::Globs;

mod rules;

pub use rules::RULES;

/// The properties of a file that rules compare.
#[derive(Clone, Debug, Default)]
pub struct Traits<'a> {
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Number of names of the inode, inside and outside the given paths.
    pub links: u32,
    /// Number of its tags, in a set of files that are alike but for their tags.
    pub tags: usize,
    /// Its place in the set of a report; the same for all files of a search.
    pub place: (usize, usize),
    /// Its names in the set; never empty.
    pub names: Vec<Named<'a>>,
}

/// One name of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Named<'a> {
    /// The real absolute path.
    pub path: &'a [u8],
    /// The name as it was listed.
    pub listed: &'a [u8],
    /// The given path below which it was found, counted from 0.
    pub root: Option<u32>,
    /// The default preference for it in its set.
    pub preference: Preference,
}

impl<'a> Named<'a> {
    /// The part behind the last slash.
    fn bare(&self) -> &'a [u8] {
        bare(self.path)
    }
}

/// A row of [`RULES`].
pub struct KeepRule {
    /// The name on the command line.
    pub name: &'static str,
    /// The argument, if the rule needs one.
    pub argument: Option<&'static str>,
    /// The preferred file, in a few words.
    pub about: &'static str,
    /// Makes the rule. The argument is empty where none is taken.
    make: fn(&str) -> Result<Score, String>,
}

/// Gives a score; the lowest is best.
type Score = Box<dyn Fn(&Traits<'_>) -> i128 + Send + Sync>;

/// Why a text is no rule.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadRule(String);

fn names() -> String {
    let name = |rule: &KeepRule| match rule.argument {
        Some(argument) => format!("'{} {argument}'", rule.name),
        None => rule.name.to_owned(),
    };
    RULES.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Rules ready to use, in order.
#[derive(Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// A rule ready to use.
struct Rule {
    text: String,
    score: Score,
    /// The score of a file that its pattern matches, if it has one.
    matching: Option<i128>,
    /// Its pattern has matched a file.
    has_matched: AtomicBool,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.rules.iter().map(|rule| &rule.text))
            .finish()
    }
}

impl Rule {
    fn score_of(&self, file: &Traits<'_>) -> i128 {
        let score = (self.score)(file);
        if self.matching == Some(score) {
            self.has_matched.store(true, Ordering::Relaxed);
        }
        score
    }
}

/// By what files are sorted; the least is best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    scores: Vec<i128>,
    /// Of files that are alike, the one with more tags is better.
    tags: Reverse<usize>,
    place: (usize, usize),
    /// That of the best name, and the name as it was listed.
    preference: Option<(Preference, ByParts<'a>)>,
}

impl Key<'_> {
    /// Why a file is first that no rule tells apart from the next one.
    fn reason(&self, next: &Self) -> &'static str {
        match (&self.preference, &next.preference) {
            _ if self.tags != next.tags => "more tags",
            _ if self.place != next.place => "first in the report",
            (Some((one, _)), Some((other, _))) => one.reason(other),
            _ => "the only one with a name",
        }
    }
}

/// A file that was chosen to stay, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its place among the candidates.
    pub index: usize,
    /// The rule that prefers it to the next one.
    pub why: String,
}

impl Rules {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reads rules as they are typed: `newest`, `under DIR`, `newest,shortest-path`.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, BadRule> {
        let mut rules = Self::default();
        for part in texts.iter().flat_map(|text| parts(text.as_ref().trim())) {
            let (name, argument) = part
                .split_once([' ', '=', ':'])
                .map_or((part, ""), |(name, argument)| (name, argument.trim()));
            let rule = RULES.iter().find(|rule| rule.name == name);
            let rule =
                rule.ok_or_else(|| BadRule(format!("{part:?} is not a rule: use {}", names())))?;
            let score = match rule.argument {
                Some(wanted) if argument.is_empty() => {
                    return Err(BadRule(format!(
                        "{name} needs {wanted}: write '{name} {wanted}'"
                    )));
                }
                None if !argument.is_empty() => {
                    return Err(BadRule(format!(
                        "{name} takes no argument: remove {argument:?}"
                    )));
                }
                _ => (rule.make)(argument).map_err(|why| BadRule(format!("{name}: {why}")))?,
            };
            let has_pattern = rule.argument.is_some() && !Path::new(argument).exists();
            rules.rules.push(Rule {
                text: part.to_owned(),
                score,
                matching: has_pattern.then(|| i128::from(rule.name == "not-under")),
                has_matched: AtomicBool::new(false),
            });
        }
        Ok(rules)
    }

    /// The places of the files, the best first.
    pub fn order(&self, files: &[Traits<'_>]) -> Vec<usize> {
        ordered(&self.keys(files))
    }

    /// Rules whose pattern has matched no file: it may be mistyped.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        let has_none =
            |rule: &&Rule| rule.matching.is_some() && !rule.has_matched.load(Ordering::Relaxed);
        self.rules.iter().filter(has_none).map(|rule| &*rule.text)
    }

    fn keys<'a>(&self, files: &[Traits<'a>]) -> Vec<Key<'a>> {
        let keys = files.iter().map(|file| Key {
            scores: self.rules.iter().map(|rule| rule.score_of(file)).collect(),
            tags: Reverse(file.tags),
            place: file.place,
            preference: file
                .names
                .iter()
                .map(|name| (name.preference, ByParts(name.listed)))
                .min(),
        });
        keys.collect()
    }

    /// Chooses up to this many of the files, the best first.
    pub fn choose(&self, files: &[Traits<'_>], count: usize) -> Vec<Chosen> {
        let keys = self.keys(files);
        let order = ordered(&keys);
        let chosen = (0..count.min(order.len())).map(|nth| Chosen {
            index: order[nth],
            why: self.why(&keys, &order[nth..]),
        });
        chosen.collect()
    }

    /// What prefers the first of these to the next one: a rule, or the default order.
    fn why(&self, keys: &[Key<'_>], order: &[usize]) -> String {
        let [best, next, ..] = order else {
            return "the only one left".to_owned();
        };
        let (best, next) = (&keys[*best], &keys[*next]);
        let differs = |(at, _): &(usize, &Rule)| best.scores[*at] != next.scores[*at];
        match self.rules.iter().enumerate().find(differs) {
            Some((_, rule)) => rule.text.clone(),
            None => best.reason(next).to_owned(),
        }
    }
}

fn ordered(keys: &[Key<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    order
}

/// Rules without arguments may be joined by commas; an argument may hold commas of its own.
fn parts(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().all(|part| is_bare(part)) {
        parts
    } else {
        vec![text]
    }
}

/// True for a rule without an argument.
fn is_bare(part: &str) -> bool {
    let mut rules = RULES.iter();
    rules.any(|rule| rule.name == part && rule.argument.is_none())
}

/// Compiles a folder, or a pattern of folders, for `under` and `not-under`.
fn place(path: &str) -> Result<Place, String> {
    // A choice among copies must not spread to other folders because of the characters in a folder's name.
    if let Ok(real) = std::fs::canonicalize(path) {
        return Ok(Place::from_real(&real));
    }
    let here = std::env::current_dir().unwrap_or_default();
    Place::parse(OsStr::new(path), None, &here).map_err(|error| error.to_string())
}

/// Compiles the glob of `name`.
fn glob(text: &str) -> Result<Globs, String> {
    if text.contains('/') {
        return Err(format!(
            "{text:?} contains a slash, which a file name cannot contain: use 'under DIR' or 'regex REGEX'"
        ));
    }
    let globs = Globs::of_names(&[text.to_owned()]).map_err(|error| error.to_string())?;
    globs.ok_or_else(|| "no pattern".to_owned())
}

/// Compiles the expression of `regex`.
fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default();
        let why = why.trim_start_matches("error: ");
        format!("{text:?} is not a regular expression: {why}")
    })
}

#[cfg(test)]
mod tests;
