//! The rules that say which file of a set stays.

use std::ffi::OsStr;
use std::path::PathBuf;

/// A rule that prefers some files of a set to others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The file with the latest modification time.
    Newest,
    /// The file with the earliest modification time.
    Oldest,
    /// The file with the shortest path in bytes.
    ShortestPath,
    /// The file with the longest path in bytes.
    LongestPath,
    /// The file with the fewest parent folders.
    Shallowest,
    /// The file with the most parent folders.
    Deepest,
    /// The file with the latest access time, if the file system records it.
    MostRecentlyAccessed,
    /// The file under the path that was given first.
    FirstRoot,
    /// A file in or under this folder, which must exist, or one that matches this pattern: `2024*`.
    Under(PathBuf),
    /// A file that has no name in or under this folder, which must exist, or one that matches this pattern.
    NotUnder(PathBuf),
    /// A file whose name matches this glob.
    Name(String),
    /// A file whose path matches this regular expression somewhere.
    Regex(String),
    /// The file with the most names (hard links).
    LargestLinkCount,
    /// A file that is not named like a copy of another one: `IMG_1.jpg` before `IMG_1 (1).jpg`.
    BestName,
}

impl Rule {
    /// Its name in the registry, and its argument.
    pub(super) fn named(&self) -> (&'static str, &OsStr) {
        let name = match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::ShortestPath => "shortest-path",
            Self::LongestPath => "longest-path",
            Self::Shallowest => "shallowest",
            Self::Deepest => "deepest",
            Self::MostRecentlyAccessed => "most-recently-accessed",
            Self::FirstRoot => "first-root",
            Self::Under(folder) => return ("under", folder.as_ref()),
            Self::NotUnder(folder) => return ("not-under", folder.as_ref()),
            Self::Name(glob) => return ("name", glob.as_ref()),
            Self::Regex(regex) => return ("regex", regex.as_ref()),
            Self::LargestLinkCount => "largest-link-count",
            Self::BestName => "best-name",
        };
        (name, OsStr::new(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::keep::RULES;

    #[test]
    fn each_rule_of_the_registry_has_its_variant() {
        let all = [
            Rule::Newest,
            Rule::Oldest,
            Rule::ShortestPath,
            Rule::LongestPath,
            Rule::Shallowest,
            Rule::Deepest,
            Rule::MostRecentlyAccessed,
            Rule::FirstRoot,
            Rule::Under("x".into()),
            Rule::NotUnder("x".into()),
            Rule::Name("x".into()),
            Rule::Regex("x".into()),
            Rule::LargestLinkCount,
            Rule::BestName,
        ];
        let named = all.iter().map(|rule| {
            let (name, argument) = rule.named();
            (name, !argument.is_empty())
        });
        let rules = RULES.iter();
        let rules = rules.map(|rule| (rule.name, rule.argument.is_some()));
        assert!(named.eq(rules));
    }
}
