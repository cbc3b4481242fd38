//! How answers about folders are written down.

mod csv;
mod json;
mod text;
mod verdict_words;

use std::io::{self, Write};

use super::{Layout, Style};
use crate::folders::FoldersAnswer;

pub(super) use csv::COLUMNS;
pub(super) use json::FORMAT;
pub(super) use verdict_words::{entry_in, other_in};

/// Version of the documented layouts of these reports.
pub const FOLDERS_SCHEMA: u32 = 1;

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
        about: "one document with all details",
        write: |out, report| json::write(Layout::Document, out, report),
    },
    FolderFormat {
        name: "ndjson",
        about: "the same data, one object per line",
        write: |out, report| json::write(Layout::Lines, out, report),
    },
    FolderFormat {
        name: "csv",
        about: "a table with one row for each folder",
        write: csv::write,
    },
];
