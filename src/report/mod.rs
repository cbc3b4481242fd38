//! How duplicate sets are written down, and read back.
//!
//! A format is one file that implements [`Report`] and one row of [`FORMATS`]; the command line,
//! its help, the documentation's table and the conformance test read the registry. What each
//! format promises is written in `docs/reference/formats.md`.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::decide::{Copies, DuplicateSet, Summary};

pub mod alike;
mod bad_line;
mod bare;
pub mod comparison;
mod csv;
pub mod devices;
pub mod escape;
pub mod folders;
mod json;
mod objects;
pub mod output;
pub mod printable;
pub mod read;
mod text;
pub mod time;

pub use crate::file::{Name, Raw};
pub use objects::{Layout, Objects, Titled, write_json};

/// Version of the documented layouts; it grows only when an old reader would go wrong.
pub const SCHEMA: u32 = 1;

/// Writes one run's result in one format.
///
/// The calls come in the order `begin`, any number of `set`, `end`. Each writes to a writer that
/// should be buffered; none keeps a set.
pub trait Report: Send {
    /// Writes what comes before the first set.
    fn begin(&mut self, out: &mut dyn Write, header: &Header) -> io::Result<()>;

    /// Writes one set.
    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()>;

    /// Writes what comes after the last set. Does not flush.
    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()>;
}

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// True if it should be given each set as soon as that is final; if not, it is given them
    /// when all are known, those that would free most first.
    pub streams: bool,
    /// True if [`read::read_each`] understands it.
    pub readable_back: bool,
    /// True if digests are computed unless the user says otherwise.
    pub digests: bool,
    /// Makes a writer for one run.
    pub make: fn(&Style) -> Box<dyn Report>,
}

/// Every format there is; the first is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "text",
        about: "a list to read: sizes and numbered files; can be edited and read back",
        streams: false,
        readable_back: true,
        digests: false,
        make: |style| Box::new(text::Text::new(style)),
    },
    Format {
        name: "json",
        about: "one document with all details of each file",
        streams: false,
        readable_back: true,
        digests: true,
        make: |_| Box::new(json::Json::new(Layout::Document)),
    },
    Format {
        name: "ndjson",
        about: "the same data, one object per line, each set as soon as it is complete",
        streams: true,
        readable_back: true,
        digests: true,
        make: |_| Box::new(json::Json::new(Layout::Lines)),
    },
    Format {
        name: "csv",
        about: "a table with one row per name",
        streams: false,
        readable_back: false,
        digests: true,
        make: |_| Box::new(csv::Csv::default()),
    },
    Format {
        name: "fdupes",
        about: "names only, with an empty line after each set, as fdupes -r prints them",
        streams: true,
        readable_back: false,
        digests: false,
        make: |style| Box::new(bare::Bare::new(b'\n', style)),
    },
    Format {
        name: "nul",
        about: "names only, with a NUL after each and one more after each set",
        streams: true,
        readable_back: false,
        digests: false,
        make: |style| Box::new(bare::Bare::new(b'\0', style)),
    },
];

/// Looks up a format by its name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// How a report should look; says nothing about what is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Mark parts with terminal colors. A colored report cannot be read back.
    pub color: bool,
    /// A person reads the report on a terminal. Such a report leaves out what only programs need, and folds long sets,
    /// so it cannot be read back.
    pub on_terminal: bool,
    /// How to get all names of the sets that are folded, if that is to be said.
    pub of_folded: &'static str,
    /// Bare names: a list of what is redundant, without the first of each set and without ends of sets.
    pub omit_first: bool,
}

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

impl Style {
    /// What begins a part of this color, and what ends it.
    fn paint(&self, color: &'static str) -> (&'static str, &'static str) {
        if self.color { (color, RESET) } else { ("", "") }
    }

    /// Writes a line that is no part of the result.
    fn comment(&self, out: &mut dyn Write, indent: &str, text: &str) -> io::Result<()> {
        let (faint, plain) = self.paint(FAINT);
        writeln!(out, "{faint}{indent}# {text}{plain}")
    }
}

/// The header of a report: the facts before the first set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the program.
    pub version: String,
    /// The command line as the system gave it, the program's name first.
    pub command: Vec<Raw>,
    /// The folder the program ran in: relative names start there.
    pub folder: Raw,
    /// The roots as the user wrote them; [`crate::decide::Member::root`] counts them from 0.
    pub roots: Vec<Raw>,
    /// The catalogs among the roots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub catalogs: Vec<CatalogHeader>,
    /// When the run began, nanoseconds since 1970. A file changed later is not the one reported.
    #[serde(rename = "started", with = "time")]
    pub started_ns: i64,
    /// The options that change what a set means.
    #[serde(default)]
    pub options: Options,
}

/// A catalog that took the place of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogHeader {
    /// The number of its root.
    pub root: u32,
    /// The machine that it was made on.
    pub host: String,
    /// When the disk was looked at, RFC 3339.
    pub scan: String,
    /// How much of each file was read: `metadata`, `quick` or `full`.
    pub form: String,
}

/// Options that change what a set means, for people and for whoever acts on the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Names of one inode count as duplicates of each other.
    pub hard_links: bool,
    /// All replicas below one root count as one.
    pub isolate: bool,
    /// Symbolic links were followed: a name may lead through one.
    pub follow_links: bool,
    /// Files that show the same under other tags were looked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_tags: bool,
    /// Members were compared byte by byte.
    pub verify: bool,
    /// Sets with so many replicas are reported.
    pub copies: Copies,
    /// Only sets with a file that was modified at this time or later (nanoseconds since 1970) are reported.
    #[serde(
        rename = "newer",
        with = "time::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub newer_ns: Option<i64>,
}

impl Options {
    /// True if the report is of files without a copy.
    pub fn is_of_unique_files(&self) -> bool {
        self.copies == Copies::UNIQUE
    }
}
