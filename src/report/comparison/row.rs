//! One entry of a comparison with all that is said of it: an object in JSON, a row of the table.

use serde::{Serialize, Serializer};

use crate::compare::{ComparedEntry, EntryPlace, Mark};
use crate::file::Name;
use crate::report::names;

use super::Shown;

#[derive(Serialize)]
pub struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign: Option<char>,
    pub side: u32,
    pub kind: &'static str,
    #[serde(with = "names")]
    pub path: Vec<u8>,
    /// What it is on each side.
    pub on: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Where it is on each side to which it moved; empty if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "places")]
    pub at: Vec<Option<Vec<u8>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_metadata: Vec<&'static str>,
}

fn places<S: Serializer>(places: &[Option<Vec<u8>>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(places.iter().map(|path| path.as_deref().map(Name::new)))
}

impl Row {
    pub fn of(shown: &Shown<'_>, line: &ComparedEntry) -> Self {
        let tree = shown.comparison.tree();
        let (size, files) = match line.place {
            EntryPlace::Name(name) => (Some(tree.size(tree.file_of(name))), None),
            EntryPlace::Folder(_, files, bytes) => (Some(bytes), Some(files)),
            EntryPlace::EmptyFolder(_) => (Some(0), Some(0)),
            EntryPlace::Other(_) => (None, None),
        };
        let marks = line.marks.iter();
        let moved = marks.clone().map(|mark| match mark {
            Mark::Moved(to) => Some(tree.path_of_name(*to)),
            _ => None,
        });
        Self {
            sign: shown.has_two_sides().then(|| line.sign()),
            side: line.side,
            kind: shown.kind(line),
            path: shown.path(line),
            on: marks.map(|mark| word(*mark)).collect(),
            size,
            files,
            at: match line.moved() {
                Some(_) => moved.collect(),
                None => Vec::new(),
            },
            reason: line.reason(),
            other_metadata: shown.differing(line),
        }
    }
}

/// The word for what an entry is on a side.
fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Same => "same",
        Mark::Moved(_) => "moved",
        Mark::Changed => "changed",
        Mark::Missing => "missing",
        Mark::Unanswered(_) => "unanswered",
    }
}
