//! What `fdupes -r` prints: bare names, an empty line after each set, the last one too.

use std::io::{self, Write};

use super::{Header, Report};
use crate::pipeline::{DuplicateSet, Member, Summary};

/// Writes names as they are, whatever bytes they hold.
#[derive(Default)]
pub struct Fdupes {
    every_name: bool,
}

impl Report for Fdupes {
    fn begin(&mut self, _: &mut dyn Write, header: &Header) -> io::Result<()> {
        self.every_name = header.options.hard_links;
        Ok(())
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        for name in set
            .members
            .iter()
            .flat_map(|m| bare_names(m, self.every_name))
        {
            out.write_all(name)?;
            out.write_all(b"\n")?;
        }
        out.write_all(b"\n")
    }

    fn end(&mut self, _: &mut dyn Write, _: &Summary) -> io::Result<()> {
        Ok(())
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
