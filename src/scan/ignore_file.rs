//! Ignore files in the syntax of `.gitignore`.
//!
//! Rules stack as in git: the deepest folder whose ignore file matches a path decides. The walk does not enter an
//! ignored folder, so no rule can bring back an entry below it. This module matches paths; the walker reads the files.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;

use crate::sys::{open, stat};

/// Maximum length of an ignore file, bytes. A longer file is no list made by a person.
const LONGEST: u64 = 1 << 20;

/// Reads an ignore file of an open folder, all of it or none: what it lists last counts most.
pub(super) fn read(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<Vec<u8>> {
    if stat::entry(folder, name)?.kind != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    let fd = open::file(folder, name, false).map_err(open::error)?;
    let size = stat::descriptor(&fd)?.size.min(LONGEST);
    let mut contents = Vec::with_capacity(size as usize);
    File::from(fd)
        .take(LONGEST + 1)
        .read_to_end(&mut contents)?;
    if contents.len() as u64 > LONGEST {
        Err(io::Error::other("longer than 1 MiB"))
    } else {
        Ok(contents)
    }
}

/// The rules that apply in one folder: those of its own ignore file and of all ignore files above it.
#[derive(Debug)]
pub struct IgnoreRules {
    own: Gitignore,
    above: Option<Arc<IgnoreRules>>,
}

/// A part of an ignore file that is skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPart {
    /// A line that is not a pattern.
    #[error("line {number}: {reason}")]
    Line {
        /// Number of the line, from 1.
        number: usize,
        /// The defect.
        reason: String,
    },
    /// All patterns: together they need more memory than the matcher may use.
    #[error("its patterns are too many or too long together: use fewer or shorter patterns")]
    Whole,
}

impl IgnoreRules {
    /// Adds the contents of an ignore file found in `folder` to the rules that apply there.
    ///
    /// With several ignore files in one folder, call it for each: later ones win.
    pub fn push(
        above: Option<Arc<Self>>,
        folder: &[u8],
        contents: &[u8],
    ) -> (Arc<Self>, Vec<BadPart>) {
        let folder = Path::new(OsStr::from_bytes(folder));
        let mut builder = GitignoreBuilder::new(folder);
        let mut bad = Vec::new();
        let contents = contents.strip_prefix(b"\xef\xbb\xbf").unwrap_or(contents);
        for (index, line) in contents.split(|&byte| byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let added = match std::str::from_utf8(line) {
                Ok(line) => builder
                    .add_line(None, line)
                    .map(drop)
                    .map_err(|e| e.to_string()),
                Err(_) => Err("not UTF-8".to_owned()),
            };
            if let Err(reason) = added {
                bad.push(BadPart::Line {
                    number: index + 1,
                    reason,
                });
            }
        }
        let own = builder.build().unwrap_or_else(|_| {
            bad.push(BadPart::Whole);
            Gitignore::empty()
        });
        (Arc::new(Self { own, above }), bad)
    }

    /// True if the rules ignore this path, which is relative to the same root as the folders of the rules.
    pub fn is_ignored(&self, path: &[u8], is_folder: bool) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        let mut rules = Some(self);
        while let Some(level) = rules {
            match level.own.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = level.above.as_deref(),
            }
        }
        false
    }
}

impl Drop for IgnoreRules {
    /// Drops long chains one by one: ten thousand nested folders must not exhaust the stack.
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(mut level) = above.and_then(Arc::into_inner) {
            above = level.above.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(above: Option<Arc<IgnoreRules>>, folder: &str, lines: &str) -> Arc<IgnoreRules> {
        let (rules, bad) = IgnoreRules::push(above, folder.as_bytes(), lines.as_bytes());
        assert_eq!(bad, []);
        rules
    }

    #[test]
    fn the_deepest_opinion_decides() {
        for root in ["/r", "r", ".", "./r"] {
            let at = |rest: &str| format!("{root}/{rest}").into_bytes();
            let top = rules(None, root, "*.log\n/only-here\nbuild/\n# no\n");
            let below = rules(
                Some(top.clone()),
                &format!("{root}/sub"),
                "!keep.log\r\n*.o\r\n",
            );
            assert!(top.is_ignored(&at("a.log"), false), "{root}");
            assert!(top.is_ignored(&at("x/y/a.log"), false));
            assert!(top.is_ignored(&at("only-here"), false));
            assert!(!top.is_ignored(&at("x/only-here"), false));
            assert!(top.is_ignored(&at("x/build"), true));
            assert!(!top.is_ignored(&at("x/build"), false));
            assert!(below.is_ignored(&at("sub/a.log"), false));
            assert!(!below.is_ignored(&at("sub/keep.log"), false), "{root}");
            assert!(below.is_ignored(&at("sub/a.o"), false));
        }
    }

    #[test]
    fn odd_lines_are_named_and_passed_over() {
        let (rules, bad) = IgnoreRules::push(None, b"r", b"\xef\xbb\xbfa\n[z-a]\n\xff*\nb");
        let numbers = bad.iter().map(|part| match part {
            BadPart::Line { number, .. } => *number,
            BadPart::Whole => 0,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [2, 3]);
        assert!(rules.is_ignored(b"r/a", false));
        assert!(rules.is_ignored(b"r/b", false));
        assert!(!rules.is_ignored(b"r/\xff", false));
    }

    #[test]
    fn names_in_no_encoding_match_globs() {
        let rules = rules(None, "r", "*.bak");
        assert!(rules.is_ignored(b"r/\xff\xfe.bak", false));
    }

    #[test]
    fn deep_chains_are_let_go_without_recursion() {
        let mut chain = None;
        for _ in 0..200_000 {
            let own = Gitignore::empty();
            chain = Some(Arc::new(IgnoreRules { own, above: chain }));
        }
        drop(chain);
    }
}
