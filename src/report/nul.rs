//! Names for scripts: each ends with a NUL, and one more NUL ends each set.

use std::io::{self, Write};

use super::fdupes::bare_names;
use super::{Header, Report};
use crate::pipeline::{DuplicateSet, Summary};

/// Writes names as they are; a name cannot hold a NUL, so nothing needs an escape.
#[derive(Default)]
pub struct Nul {
    every_name: bool,
}

impl Report for Nul {
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
            out.write_all(b"\0")?;
        }
        out.write_all(b"\0")
    }

    fn end(&mut self, _: &mut dyn Write, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}
