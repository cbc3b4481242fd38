//! How answers about folders are written down.

mod csv;
mod text;

use std::io::{self, Write};

use serde::Serialize;

use super::{Layout, Name, Objects, SCHEMA, Style};
use crate::folders::FoldersAnswer;

pub(super) use csv::COLUMNS;

/// The name of the format in its header.
pub(super) const FORMAT: &str = "seekless-folders";

/// One format of these reports.
#[derive(Clone, Copy, Debug)]
pub struct FolderFormat {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Writes an answer.
    pub write: fn(&mut dyn Write, &FolderReport<'_>) -> io::Result<()>,
}

/// An answer, and what was asked.
pub struct FolderReport<'a> {
    /// The answer.
    pub answer: &'a FoldersAnswer,
    /// The names that are noise.
    pub noise: &'a [String],
    /// Where relative paths start.
    pub folder: &'a [u8],
    /// The paths that were compared.
    pub roots: &'a [Vec<u8>],
    /// The least overlap that gets a line, in percent.
    pub min_overlap: u8,
    /// How it looks, as text.
    pub style: Style,
}

/// Every format there is; the first is the default.
pub const FOLDER_FORMATS: &[FolderFormat] = &[
    FolderFormat {
        name: "text",
        about: "a list to read: folders by entry, and how they compare",
        write: text::write,
    },
    FolderFormat {
        name: "json",
        about: "one document with all details; can be read back",
        write: |out, report| write_json(Layout::Document, out, report),
    },
    FolderFormat {
        name: "ndjson",
        about: "the same data, one entry per line; can be edited and read back",
        write: |out, report| write_json(Layout::Lines, out, report),
    },
    FolderFormat {
        name: "csv",
        about: "a table with one row for each folder",
        write: csv::write,
    },
];

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

fn write_json(layout: Layout, out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let answer = report.answer;
    let header = HeaderRecord {
        format: FORMAT,
        schema: SCHEMA,
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
