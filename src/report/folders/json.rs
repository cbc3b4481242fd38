//! One document, or one object a line.

use std::io::{self, Write};

use serde::Serialize;

use super::{FOLDERS_SCHEMA, FolderReport};
use crate::report::{Layout, Name, Objects};

/// The name of the format in its header.
pub const FORMAT: &str = "seekless-folders";

#[derive(Serialize)]
struct HeaderRecord<'a> {
    format: &'static str,
    schema: u32,
    version: &'static str,
    folder: Name<'a>,
    roots: Vec<Name<'a>>,
    min_overlap: u8,
    noise: &'a [String],
}

#[derive(Serialize)]
struct SummaryRecord {
    entries: usize,
    folders: usize,
    files: usize,
}

pub fn write(layout: Layout, out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let answer = report.answer;
    let header = HeaderRecord {
        format: FORMAT,
        schema: FOLDERS_SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        folder: Name::new(report.folder),
        roots: Name::all(report.roots),
        min_overlap: report.min_overlap,
        noise: report.noise,
    };
    let summary = SummaryRecord {
        entries: answer.entries.len(),
        folders: answer.folders,
        files: answer.files,
    };
    let mut objects = Objects::new(layout, "entry", "entries");
    objects.begin(out, "header", &header)?;
    for entry in &answer.entries {
        objects.item(out, entry)?;
    }
    objects.end(out, "summary", &summary)
}
