//! Ignore files in the syntax of `.gitignore`.
//!
//! Rules stack as in git: the deepest folder whose ignore file matches a path decides. The walk does not enter an
//! ignored folder, so no rule can bring back an entry below it. This module matches paths; the walker reads the files.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

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

/// The rules that apply in one folder: those of all ignore files above it and of its own, which count most.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules {
    levels: Vec<Arc<Gitignore>>,
}

impl IgnoreRules {
    /// Adds the contents of an ignore file found in `folder` to the rules that apply there. Returns what is wrong with
    /// it, in words: lines that are no patterns are skipped, and all of them if they are too much.
    ///
    /// With several ignore files in one folder, call it for each: later ones win.
    pub fn push(&mut self, folder: &[u8], contents: &[u8]) -> Vec<String> {
        let mut builder = GitignoreBuilder::new(OsStr::from_bytes(folder));
        let mut bad = Vec::new();
        let contents = contents.strip_prefix(b"\xef\xbb\xbf").unwrap_or(contents);
        for (number, line) in (1..).zip(contents.split(|&byte| byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let added = match str::from_utf8(line) {
                Ok(line) => builder.add_line(None, line).map_err(|e| e.to_string()),
                Err(_) => Err("not UTF-8".to_owned()),
            };
            if let Err(reason) = added {
                bad.push(format!("line {number} is not used: {reason}"));
            }
        }
        match builder.build() {
            Ok(rules) => self.levels.push(Arc::new(rules)),
            Err(_) => bad.push(
                "its patterns are too many or too long together: use fewer or shorter patterns"
                    .to_owned(),
            ),
        }
        bad
    }

    /// True if the rules ignore this path, which is relative to the same root as the folders of the rules.
    pub fn is_ignored(&self, path: &[u8], is_folder: bool) -> bool {
        let path = OsStr::from_bytes(path);
        let levels = self.levels.iter().rev();
        let mut matches = levels.map(|rules| rules.matched(path, is_folder));
        matches
            .find(|found| !found.is_none())
            .is_some_and(|found| found.is_ignore())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(above: &IgnoreRules, folder: &str, lines: &str) -> IgnoreRules {
        let mut rules = above.clone();
        let bad = rules.push(folder.as_bytes(), lines.as_bytes());
        assert!(bad.is_empty(), "{bad:?}");
        rules
    }

    #[test]
    fn the_deepest_opinion_decides() {
        for root in ["/r", "r", ".", "./r"] {
            let at = |rest: &str| format!("{root}/{rest}").into_bytes();
            let top = rules(
                &IgnoreRules::default(),
                root,
                "*.log\n/only-here\nbuild/\n# no\n",
            );
            let below = rules(&top, &format!("{root}/sub"), "!keep.log\r\n*.o\r\n");
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
        let mut rules = IgnoreRules::default();
        let bad = rules.push(b"r", b"\xef\xbb\xbfa\n[z-a]\n\xff*\nb");
        let begins = bad.iter().map(|words| words.split(':').next());
        let expected = ["line 2 is not used", "line 3 is not used"].map(Some);
        assert_eq!(begins.collect::<Vec<_>>(), expected);
        assert!(rules.is_ignored(b"r/a", false));
        assert!(rules.is_ignored(b"r/b", false));
        assert!(!rules.is_ignored(b"r/\xff", false));
    }

    #[test]
    fn names_in_no_encoding_match_globs() {
        let rules = rules(&IgnoreRules::default(), "r", "*.bak");
        assert!(rules.is_ignored(b"r/\xff\xfe.bak", false));
    }
}
