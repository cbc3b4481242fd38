//! Names and nothing else: each with its end, and the same end once more after each set.
//!
//! With a new line for an end this is what `fdupes -r` prints; with a NUL, which no name can hold,
//! it is for scripts. Only lines that a person reads on a terminal are escaped.

use std::io::{self, Write};

use super::escape::escape;
use super::{Header, Report, Style};
use crate::decide::{DuplicateSet, Member, Summary};

/// Writes names as they are, whatever bytes they hold, unless a terminal shows them.
pub struct Bare {
    end: u8,
    every_name: bool,
    flat: bool,
    omitted: usize,
    is_escaped: bool,
}

impl Bare {
    /// With this end of each name and each set.
    pub fn new(end: u8, style: &Style) -> Self {
        Self {
            end,
            every_name: false,
            flat: style.flat,
            omitted: style.omit_first.into(),
            is_escaped: end == b'\n' && style.columns.is_some(),
        }
    }
}

impl Report for Bare {
    fn begin(&mut self, _: &mut dyn Write, header: &Header) -> io::Result<()> {
        self.every_name = header.options.hard_links;
        Ok(())
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        if set.sidecars {
            return Ok(());
        }
        let members = set.members.iter();
        let names = members.flat_map(|member| bare_names(member, self.every_name));
        for name in names.skip(self.omitted) {
            if self.flat && self.end == b'\0' {
                out.write_all(no_comment(name))?;
            }
            match self.is_escaped {
                true => out.write_all(escape(name).as_bytes())?,
                false => out.write_all(name)?,
            }
            out.write_all(&[self.end])?;
        }
        match self.flat {
            true => Ok(()),
            false => out.write_all(&[self.end]),
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
fn bare_names(member: &Member, every_name: bool) -> &[Vec<u8>] {
    let shown = if every_name { member.names.len() } else { 1 };
    member.names.get(..shown).unwrap_or_default()
}
