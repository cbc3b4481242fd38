//! Names and nothing else: each with its end, and the same end once more after each set, unless a list is wanted.
//!
//! With a new line for an end this is what `fdupes -r` prints; with a NUL, which no name can hold,
//! it is for scripts. Only lines that a person reads on a terminal are escaped.

use std::io::{self, Write};

use super::escape::escape;
use super::{Header, Report, Style};
use crate::decide::{Copies, DuplicateSet, Member, Summary};

/// Writes names as they are, whatever bytes they hold, unless a terminal shows them.
pub struct Bare {
    end: u8,
    every_name: bool,
    is_list: bool,
    omits_first: bool,
    is_escaped: bool,
}

impl Bare {
    /// With this end of each name and each set.
    pub fn new(end: u8, style: &Style) -> Self {
        Self {
            end,
            every_name: false,
            is_list: style.omit_first,
            omits_first: style.omit_first,
            is_escaped: end == b'\n' && style.on_terminal,
        }
    }
}

impl Report for Bare {
    fn begin(&mut self, _: &mut dyn Write, header: &Header) -> io::Result<()> {
        let options = &header.options;
        self.every_name = options.hard_links;
        // Sets of one file each.
        self.is_list |= options.copies == Copies::UNIQUE && !options.isolate;
        Ok(())
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        // Bare names cannot say that the files are not equal, or only probably.
        if !set.alike.is_empty() || set.probable {
            return Ok(());
        }
        let members = set.members.iter();
        let names = members.flat_map(|member| bare_names(member, self.every_name));
        for name in names.skip(self.omits_first.into()) {
            if self.is_list && self.end == b'\0' {
                out.write_all(no_comment(name))?;
            }
            if self.is_escaped {
                out.write_all(escape(name).as_bytes())?
            } else {
                out.write_all(name)?
            }
            out.write_all(&[self.end])?;
        }
        if self.is_list {
            Ok(())
        } else {
            out.write_all(&[self.end])
        }
    }

    fn end(&mut self, _: &mut dyn Write, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

/// `./` for a name that rsync would skip as a comment in a list of names, even with `--from0`; else nothing.
pub fn no_comment(name: &[u8]) -> &'static [u8] {
    match name.first() {
        Some(b'#' | b';') => b"./",
        _ => b"",
    }
}

/// The names that stand for a file where nothing tells a hard link from a copy.
///
/// Only the first, since removing another name of the same inode frees nothing; all of them where
/// they count as duplicates, as with `fdupes -H`.
pub fn bare_names(member: &Member, every_name: bool) -> &[Vec<u8>] {
    let shown = if every_name { member.names.len() } else { 1 };
    member.names.get(..shown).unwrap_or_default()
}
