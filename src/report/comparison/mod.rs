//! How a comparison of sides is written down. `docs/reference/compare.md` says what each format promises.

mod rows;
mod text;

use std::io::{self, Write};

use super::Layout;
use super::bare::no_comment;
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
    /// Bare names that end in NUL.
    Nul,
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
    fn shows(self, line: &ComparedEntry) -> bool {
        let is_moved = |mark| matches!(mark, Mark::Moved(_));
        // Between two sides, a copy of a changed file would replace the other.
        let is_lacking = |mark| match mark {
            Mark::Changed => line.marks.len() > 2,
            mark => mark == Mark::Missing,
        };
        match self {
            Self::Here => line.side == 0 && line.others().all(|(_, mark)| is_lacking(mark)),
            Self::There => line.side > 0 && line.marks.first() == Some(&Mark::Missing),
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
    /// Filters narrow the question.
    pub is_filtered: bool,
    /// Bare names are relative to their side.
    pub relative: bool,
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
        Format::Nul => write_names(shown, out),
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

    fn has_two_sides(&self) -> bool {
        self.comparison.sides.len() == 2
    }
}

/// Names and nothing else, each ended by NUL, for `rsync --files-from` and `xargs`.
fn write_names(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    for line in shown.lines() {
        // What copies a folder by its name alone copies nothing in it.
        if let EntryPlace::Folder(folder, ..) = line.place {
            below(shown, line.side, folder, out)?;
            continue;
        }
        name(shown, line.side, &shown.path(line), out)?;
    }
    Ok(())
}

/// Writes everything in a folder.
fn below(shown: &Shown<'_>, side: u32, folder: u32, out: &mut dyn Write) -> io::Result<()> {
    let tree = shown.comparison.tree();
    let mut path = Vec::new();
    for folder in tree.below(folder) {
        if tree.is_empty_folder(folder) {
            tree.relative_path(folder, &mut path);
            name(shown, side, &path, out)?;
        }
        for file in tree.names_in(folder) {
            name(shown, side, &tree.path_of_name(file), out)?;
        }
        for other in tree.others_in(folder) {
            tree.relative_path_of(folder, other.name, &mut path);
            name(shown, side, &path, out)?;
        }
    }
    Ok(())
}

fn name(shown: &Shown<'_>, side: u32, relative: &[u8], out: &mut dyn Write) -> io::Result<()> {
    if shown.relative {
        out.write_all(no_comment(relative))?;
        out.write_all(relative)?;
    } else {
        out.write_all(&shown.whole_path(side, relative))?
    }
    out.write_all(b"\0")
}
