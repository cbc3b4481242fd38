//! For programs: one JSON document, or one object a line. They have the same rows.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::compare::{ComparedEntry, ComparisonAnswer, EntryPlace, Mark, Remark, Side};
use crate::file::Raw;
use crate::report::{Layout, Name, Objects, Titled};

use super::Shown;

/// One entry of a comparison with all that is said of it.
#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<char>,
    side: u32,
    kind: &'static str,
    path: Raw,
    /// What it is on each side.
    on: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
    /// Where it is on each side to which it moved; empty if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at: Vec<Option<Raw>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_metadata: Vec<&'static str>,
}

impl Row {
    fn of(shown: &Shown<'_>, line: &ComparedEntry) -> Self {
        let tree = shown.comparison.tree();
        let (size, files) = match line.place {
            EntryPlace::Name(name) => (Some(tree.size(tree.file_of(name))), None),
            EntryPlace::Folder(_, files, bytes) => (Some(bytes), Some(files)),
            EntryPlace::EmptyFolder(_) => (Some(0), Some(0)),
            EntryPlace::Other(_) => (None, None),
        };
        let marks = line.marks.iter();
        let moved = marks.clone().map(|mark| match mark {
            Mark::Moved(to) => Some(Raw(tree.path_of_name(*to))),
            _ => None,
        });
        Self {
            sign: shown.has_two_sides().then(|| line.sign()),
            side: line.side,
            kind: shown.kind(line),
            path: Raw(shown.path(line)),
            on: marks.map(|mark| word(*mark)).collect(),
            size,
            files,
            at: match line.moved() {
                Some(_) => moved.collect(),
                None => Vec::new(),
            },
            reason: line.reason(),
            other_metadata: shown.comparison.differing(line).to_vec(),
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

#[derive(Serialize)]
struct HeaderRecord<'a> {
    folder: Name<'a>,
    answer: &'static str,
    one_way: bool,
    is_filtered: bool,
    sides: Vec<SideRecord<'a>>,
    obstacles: Vec<FactRecord>,
    notes: Vec<FactRecord>,
}

#[derive(Serialize)]
struct SideRecord<'a> {
    path: Name<'a>,
    #[serde(flatten)]
    side: &'a Side,
}

#[derive(Serialize)]
struct FactRecord {
    kind: &'static str,
    sides: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub fn write_json(layout: Layout, shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut objects = Objects::new(layout, "entry", "entries");
    let header = Titled::new("seekless-compare", header(shown));
    objects.begin(out, "comparison", &header)?;
    for line in shown.lines() {
        objects.item(out, &Row::of(shown, line))?;
    }
    match layout {
        Layout::Document => objects.end_document(out, &HashMap::<&str, u8>::new()),
        Layout::Lines => Ok(()),
    }
}

fn header<'a>(shown: &'a Shown<'_>) -> HeaderRecord<'a> {
    let comparison = shown.comparison;
    let roots = comparison.tree().roots().iter();
    let sides = roots.zip(&comparison.sides);
    let sides = sides.map(|(root, side)| SideRecord {
        path: Name(&root.path),
        side,
    });
    HeaderRecord {
        folder: Name(shown.folder),
        answer: match comparison.answer() {
            ComparisonAnswer::Yes => "yes",
            ComparisonAnswer::No => "no",
            ComparisonAnswer::Unknown => "unknown",
        },
        one_way: comparison.question().one_way,
        is_filtered: shown.is_filtered,
        sides: sides.collect(),
        obstacles: comparison.obstacles.iter().map(fact).collect(),
        notes: comparison.notes.iter().map(fact).collect(),
    }
}

fn fact(remark: &Remark) -> FactRecord {
    let (kind, sides, count, reason) = match remark {
        Remark::Side(side, unseen) => ("side", vec![*side], None, Some(unseen.words().to_owned())),
        Remark::NoFiles(side) => ("no-files", vec![*side], None, None),
        Remark::Unanswered(side, count) => ("unanswered", vec![*side], Some(*count), None),
        Remark::OneDisk(a, b, disks) => ("one-disk", vec![*a, *b], None, Some(disks.clone())),
        Remark::UnknownDisk(a, b) => ("unknown-disk", vec![*a, *b], None, None),
        Remark::OneCopy(side, count) => ("one-copy", vec![*side], Some(*count), None),
        Remark::Metadata(count) => ("metadata", Vec::new(), Some(*count), None),
    };
    FactRecord {
        kind,
        sides,
        count,
        reason,
    }
}
