//! How a comparison of sides is written down. `docs/reference/compare.md` says what each format promises.

mod names;
mod renamed;
mod rows;
mod text;

use std::io::{self, Write};

use super::Layout;
use crate::compare::{ComparedEntry, Comparison, EntryPlace, Mark};
use crate::tree::{EntryKind, Special};

/// The formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One document.
    Json,
    /// The same, one object a line.
    NdJson,
    /// A table.
    Csv,
    /// Bare names that end in NUL.
    Nul,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Text, Self::Json, Self::NdJson, Self::Csv, Self::Nul];

    /// What the user types.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::NdJson => "ndjson",
            Self::Csv => "csv",
            Self::Nul => "nul",
        }
    }
}

/// Which entries are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Those of the first side that are on no other.
    Here,
    /// Those of the other sides that are not on the first.
    There,
    /// Those whose content lies at another path.
    Moved,
    /// Those of which another side has something else at the same path.
    Changed,
}

impl Only {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Here, Self::There, Self::Moved, Self::Changed];

    /// What the user types.
    pub fn name(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::There => "there",
            Self::Moved => "moved",
            Self::Changed => "changed",
        }
    }

    fn shows(self, line: &ComparedEntry) -> bool {
        let is_moved = |mark| matches!(mark, Mark::Moved(_));
        let first = line.marks.first();
        match self {
            Self::Here => line.side == 0 && line.is_only_here(),
            Self::There => line.side > 0 && first == Some(&Mark::Missing),
            Self::Moved => line.others().any(|(_, mark)| is_moved(mark)),
            Self::Changed => line.others().any(|(_, mark)| mark == Mark::Changed),
        }
    }
}

/// A comparison, and how it is shown.
pub struct Shown<'a> {
    /// What came out.
    pub comparison: &'a Comparison<'a>,
    /// Only these entries; all if nothing is said. People are not shown what is the same on all sides.
    pub only: Option<Only>,
    /// Where relative paths start.
    pub folder: &'a [u8],
    /// The filters that narrow the question, as they were typed.
    pub filters: &'a [String],
    /// Bare names are relative to their side.
    pub relative: bool,
    /// Characters in a line of the terminal that text is shown on.
    pub columns: Option<usize>,
}

/// Writes a comparison.
///
/// # Errors
/// What the writer says.
pub fn write(format: Format, shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => text::write(shown, out),
        Format::Json => rows::write_json(Layout::Document, shown, out),
        Format::NdJson => rows::write_json(Layout::Lines, shown, out),
        Format::Csv => rows::write_table(shown, out),
        Format::Nul => names::write(shown, out),
    }
}

impl Shown<'_> {
    fn lines(&self) -> impl Iterator<Item = &ComparedEntry> {
        let shows = |line: &&ComparedEntry| self.only.is_none_or(|only| only.shows(line));
        self.comparison.lines.iter().filter(shows)
    }

    /// The path of a line, relative to its side.
    fn path(&self, line: &ComparedEntry) -> Vec<u8> {
        let path = self.comparison.path(line);
        if path.is_empty() { b".".to_vec() } else { path }
    }

    /// The path under which an entry is found from where the run was started.
    fn whole_path(&self, side: u32, relative: &[u8]) -> Vec<u8> {
        let tree = self.comparison.tree();
        let root = &tree.roots()[side as usize].path;
        if tree.is_file_root(side) {
            return root.clone();
        }
        let slash: &[u8] = if root.ends_with(b"/") { b"" } else { b"/" };
        [root, slash, relative].concat()
    }

    fn kind(&self, line: &ComparedEntry) -> &'static str {
        match line.place {
            EntryPlace::Name(_) => "file",
            EntryPlace::EmptyFolder(_) | EntryPlace::Folder(..) => "folder",
            EntryPlace::Other(at) => match self.comparison.tree().other(at).kind {
                EntryKind::Link(_) => "symlink",
                EntryKind::Special(Special::Fifo) => "fifo",
                EntryKind::Special(Special::Socket) => "socket",
                EntryKind::Special(Special::BlockDevice | Special::CharacterDevice) => "device",
                EntryKind::Special(Special::Unknown) => "special",
                EntryKind::Unseen(_) => "unseen",
            },
        }
    }

    /// The words for the metadata of a line that its copies have otherwise.
    fn differing(&self, line: &ComparedEntry) -> Vec<&'static str> {
        let differing = self.comparison.differing(line).iter();
        differing.map(|attribute| attribute.name()).collect()
    }

    fn has_two_sides(&self) -> bool {
        self.comparison.sides.len() == 2
    }
}
