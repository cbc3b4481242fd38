//! One JSON document: header, sets one on each line, summary.

use std::io::{self, Write};

use super::record::{HeaderRecord, SetRecord, SummaryRecord, write_json};
use super::{Header, Report, SCHEMA};
use crate::decide::{DuplicateSet, Summary};

/// Writes a document as it comes, so that its size does not matter.
#[derive(Default)]
pub struct Json {
    any_set: bool,
}

impl Report for Json {
    fn begin(&mut self, out: &mut dyn Write, header: &Header) -> io::Result<()> {
        write!(
            out,
            "{{\"format\":\"seekless\",\"schema\":{SCHEMA},\n\"header\":"
        )?;
        write_json(out, &HeaderRecord::new(header))?;
        out.write_all(b",\n\"sets\":[")
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        out.write_all(if self.any_set { b",\n" } else { b"\n" })?;
        self.any_set = true;
        write_json(out, &SetRecord::new(set))
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        out.write_all(b"\n],\n\"summary\":")?;
        write_json(out, &SummaryRecord::new(summary))?;
        out.write_all(b"}\n")
    }
}
