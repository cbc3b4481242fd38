//! One JSON document (header, sets one on each line, summary), or the same objects one a line.

use std::io::{self, Write};

use super::record::{FORMAT, Keyed, Layout, Objects, SetRecord, Start, SummaryRecord};
use super::{Header, Report, SCHEMA};
use crate::decide::{DuplicateSet, Summary};

/// Writes sets as they come, so that their number does not matter.
pub struct Json(Objects<'static>);

impl Json {
    pub fn new(layout: Layout) -> Self {
        Self(Objects::new(layout, "set", "sets"))
    }
}

/// What a report begins with.
fn start<T>(rest: T) -> Start<T> {
    Start {
        format: FORMAT.into(),
        schema: SCHEMA,
        rest,
    }
}

impl Report for Json {
    fn begin(&mut self, out: &mut dyn Write, header: &Header) -> io::Result<()> {
        match self.0.layout() {
            Layout::Lines => self.0.begin(out, "header", &start(header)),
            Layout::Document => self.0.begin_document(out, &start(Keyed("header", header))),
        }
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        self.0.item(out, &SetRecord(set))
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        self.0.end(out, "summary", &SummaryRecord::new(summary))
    }
}
