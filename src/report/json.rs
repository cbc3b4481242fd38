//! One JSON document (header, sets one on each line, summary), or the same objects one a line.

use std::io::{self, Write};

use serde::Serialize;

use super::record::{HeaderRecord, Keyed, Layout, Objects, SetRecord, SummaryRecord};
use super::{Header, Report, SCHEMA};
use crate::decide::{DuplicateSet, Summary};

/// Writes sets as they come, so that their number does not matter.
pub struct Json(Objects<'static>);

impl Json {
    pub fn new(layout: Layout) -> Self {
        Self(Objects::new(layout, "set", "sets"))
    }
}

/// The first keys of a document. In a line, those of the header follow.
#[derive(Serialize)]
struct Start<T: Serialize> {
    format: &'static str,
    schema: u32,
    #[serde(flatten)]
    header: T,
}

impl<T: Serialize> Start<T> {
    fn new(header: T) -> Self {
        Self {
            format: "seekless",
            schema: SCHEMA,
            header,
        }
    }
}

impl Report for Json {
    fn begin(&mut self, out: &mut dyn Write, header: &Header) -> io::Result<()> {
        let header = &HeaderRecord::new(header);
        match self.0.layout() {
            Layout::Lines => self.0.begin(out, "header", &Start::new(header)),
            Layout::Document => {
                let header = Keyed("header", header);
                self.0.begin_document(out, &Start::new(header))
            }
        }
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        self.0.item(out, &SetRecord(set))
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        self.0.end(out, "summary", &SummaryRecord::new(summary))
    }
}
