//! One JSON object a line: a header, each set, a summary; told apart by their `type`.

use std::io::{self, Write};

use serde::Serialize;

use super::record::{HeaderRecord, SetRecord, SummaryRecord, write_json};
use super::{Header, Report, SCHEMA};
use crate::decide::{DuplicateSet, Summary};

/// Writes lines that can be used before the run is over.
pub struct NdJson;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum SetLine<'a> {
    Header {
        format: &'static str,
        schema: u32,
        #[serde(flatten)]
        header: HeaderRecord<'a>,
    },
    Set(SetRecord<'a>),
    Summary(SummaryRecord<'a>),
}

impl SetLine<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write_json(out, self)?;
        out.write_all(b"\n")
    }
}

impl Report for NdJson {
    fn begin(&mut self, out: &mut dyn Write, header: &Header) -> io::Result<()> {
        let header = HeaderRecord::new(header);
        let line = SetLine::Header {
            format: "seekless",
            schema: SCHEMA,
            header,
        };
        line.write(out)
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        SetLine::Set(SetRecord::new(set)).write(out)
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        SetLine::Summary(SummaryRecord::new(summary)).write(out)
    }
}
