//! Shell globs over paths of any bytes.
//!
//! `?` matches one byte of a name, `*` any number of them; neither matches a `/`. `**` as a whole component of a path
//! matches any number of folders. `[a-z]`, `[!a-z]` and `{this,that}` match one of several alternatives. `\` makes the
//! next character literal. `globset` has the rest.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet};

/// A pattern that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// The text is no glob.
    #[error("{pattern:?} is not a glob: {reason}")]
    Glob {
        /// The pattern as given.
        pattern: String,
        /// The defect.
        reason: String,
    },
    /// The text is no regular expression.
    #[error("{pattern:?} is not a regular expression: {reason}")]
    Regex {
        /// The pattern as given.
        pattern: String,
        /// The defect.
        reason: String,
    },
    /// A pattern for bare names has a slash and could never match.
    #[error("{0:?} contains a slash, which a file name cannot contain")]
    SlashInName(String),
    /// A pattern for whole paths of files ends in a slash and could never match.
    #[error("{0:?} ends with a slash, so it matches no file: write {0}** for all files below")]
    SlashAtEnd(String),
}

/// A list of globs, one of which must match a path.
///
/// Paths are those that the user sees: as reached from a root, perhaps relative. A floating pattern (`cache/*.tmp`,
/// `*.jpg`) may start at any folder of that path. A pattern that starts with `/` is compared with the path from `/`,
/// one that starts with `./` or `../` with the path from the current folder, so that it works in whatever way the root
/// was written.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    floating: GlobSet,
    absolute: GlobSet,
    relative: GlobSet,
    working_folder: PathBuf,
    ignore_case: bool,
}

impl Globs {
    /// Compiles the patterns; `None` if there are none.
    pub(crate) fn new(
        patterns: &[String],
        ignore_case: bool,
        working_folder: &Path,
    ) -> Result<Option<Self>, BadPattern> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let (mut floating, mut absolute, mut relative) = (Vec::new(), Vec::new(), Vec::new());
        for pattern in patterns {
            let text = if ignore_case {
                pattern.to_lowercase()
            } else {
                pattern.clone()
            };
            if text.starts_with('/') {
                absolute.push(glob(pattern, &text)?);
            } else if let Some(below) = text.strip_prefix("./") {
                relative.push(glob(pattern, below.trim_start_matches('/'))?);
            } else if text.starts_with("../") {
                relative.push(glob(pattern, &text)?);
            } else {
                floating.push(glob(pattern, &format!("**/{text}"))?);
            }
        }
        let set = |globs: Vec<Glob>| {
            let too_long = |_| bad(&patterns.join(" "), "it is too long or too deep");
            GlobSet::new(globs).map_err(too_long)
        };
        Ok(Some(Self {
            floating: set(floating)?,
            absolute: set(absolute)?,
            relative: set(relative)?,
            working_folder: if ignore_case {
                folded(working_folder.as_os_str().as_bytes())
            } else {
                working_folder.to_owned()
            },
            ignore_case,
        }))
    }

    /// Compiles patterns for bare names; `None` if there are none.
    pub(crate) fn of_names(patterns: &[String]) -> Result<Option<Self>, BadPattern> {
        Self::new(patterns, false, Path::new(""))
    }

    /// True if one of the globs matches the path.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let folded_path;
        let path = if self.ignore_case {
            folded_path = folded(path);
            folded_path.as_path()
        } else {
            Path::new(OsStr::from_bytes(path))
        };
        let path = path.strip_prefix(".").unwrap_or(path);
        let from_working_folder = if path.is_absolute() {
            path.strip_prefix(&self.working_folder).ok()
        } else {
            Some(path)
        };
        self.floating.is_match(path)
            || from_working_folder.is_some_and(|path| self.relative.is_match(path))
            || !self.absolute.is_empty() && self.absolute.is_match(self.working_folder.join(path))
    }
}

/// Parses a text. Errors say the pattern as it was given.
fn glob(pattern: &str, text: &str) -> Result<Glob, BadPattern> {
    if pattern.is_empty() {
        let reason = "it is empty and matches nothing (an unset variable?): omit it";
        return Err(bad(pattern, reason));
    }
    let mut glob = GlobBuilder::new(text);
    glob.literal_separator(true).empty_alternates(true);
    glob.build().map_err(|error| {
        let way_out = r"\[ and \{ mean the characters";
        bad(pattern, &format!("{}; {way_out}", error.kind()))
    })
}

fn bad(pattern: &str, reason: &str) -> BadPattern {
    BadPattern::Glob {
        pattern: pattern.to_owned(),
        reason: reason.to_owned(),
    }
}

/// A path in lower case, in every script.
fn folded(path: &[u8]) -> PathBuf {
    String::from_utf8_lossy(path).to_lowercase().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn globs(globs: &[&str], ignore_case: bool) -> Globs {
        let globs: Vec<String> = globs.iter().map(|&glob| glob.to_owned()).collect();
        let built = Globs::new(&globs, ignore_case, Path::new("/home/me"));
        built.expect("globs").expect("some globs")
    }

    #[test]
    fn names_of_any_bytes_are_matched() {
        for (glob, text, expected) in [
            ("*.jpg", &b"\xff\xfe\n.jpg"[..], true),
            ("?.jpg", b"\xff.jpg", true),
            ("?.jpg", b"\xff\xfe.jpg", false),
            ("*.{jpg,png}", b"a.png", true),
            ("{a,b{c,d}}", b"bd", true),
            ("a{,b}", b"a", true),
            ("a,b", b"a,b", true),
            ("[]]", b"]", true),
            ("[!]]", b"]", false),
            ("\\*", b"*", true),
            ("\\*", b"x", false),
            ("a.c", b"abc", false),
            ("etc.", b"x/etc.", true),
            ("a/**/b", b"x/a/b", true),
            ("a/**/b", b"a/x/y/b", true),
            ("a/*/b", b"a/x/y/b", false),
            ("a[!x]b", b"a/b", false),
        ] {
            let is_matched = globs(&[glob], false).matches(text);
            assert_eq!(is_matched, expected, "{glob} {}", text.escape_ascii());
        }
    }

    #[test]
    fn patterns_of_the_working_folder_fit_any_way_to_write_a_path() {
        let globs = globs(&["./*.c", "../*.h"], false);
        for path in ["x.c", "./x.c", ".//./x.c", "/home/me/x.c", "../x.h"] {
            assert!(globs.matches(path.as_bytes()), "{path}");
        }
        for path in ["a/x.c", "/x.c", "/home/you/x.c", "../x.c", "x.h"] {
            assert!(!globs.matches(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn case_is_ignored_in_every_script() {
        let globs = globs(&["É*.JPG", "/HOME/ME/Ж"], true);
        assert!(globs.matches("été.jpg".as_bytes()));
        assert!(globs.matches("./ж".as_bytes()));
        assert!(!globs.matches(b"ete.jpg"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let deep = ["{".repeat(60_000), "}".repeat(60_000)].concat();
        let long = "{a,b}[!c]*".repeat(50_000);
        for (glob, part) in [
            ("", "empty"),
            ("[a", "missing ']'"),
            ("[z-a]", "invalid range"),
            ("{a", "missing '}'"),
            ("a}", "missing '{'"),
            ("a\\", "dangling"),
            (&deep, "nested"),
            (&long, "too long"),
        ] {
            let built = Globs::new(&[glob.to_owned()], false, Path::new("/"));
            let said = built.err().map(|bad| bad.to_string());
            assert!(said.is_some_and(|said| said.contains(part)), "{part}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(glob in "[ab/?*!^\\[\\]{},\\\\é-]{0,20}", text in ".{0,8}") {
            if let Ok(Some(globs)) = Globs::new(&[glob], true, Path::new("/")) {
                globs.matches(text.as_bytes());
            }
        }
    }
}
