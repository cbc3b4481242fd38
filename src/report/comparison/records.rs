//! For programs: one document, or one object a line.

use std::io::{self, Write};

use serde::Serialize;

use crate::compare::{ComparisonAnswer, Note, Obstacle, Side};
use crate::report::{Layout, Name, Objects, SCHEMA};

use super::Shown;
use super::row::Row;

#[derive(Serialize)]
struct HeaderRecord<'a> {
    format: &'static str,
    schema: u32,
    version: &'static str,
    folder: Name<'a>,
    answer: &'static str,
    one_way: bool,
    filters: &'a [String],
    sides: Vec<SideRecord<'a>>,
    obstacles: Vec<FactRecord>,
    notes: Vec<FactRecord>,
}

#[derive(Serialize)]
struct SideRecord<'a> {
    path: Name<'a>,
    files: u64,
    bytes: u64,
    elsewhere_files: u64,
    elsewhere_bytes: u64,
    only_files: u64,
    only_bytes: u64,
    others: u64,
    others_only: u64,
    unanswered: u64,
    left_out: u64,
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

/// What ends the document.
#[derive(Serialize)]
struct NoKeys {}

pub fn write(layout: Layout, shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut objects = Objects::new(layout, "entry", "entries");
    objects.begin(out, "comparison", &header(shown))?;
    for line in shown.lines() {
        objects.item(out, &Row::of(shown, line))?;
    }
    match layout {
        Layout::Document => objects.end_document(out, &NoKeys {}),
        Layout::Lines => Ok(()),
    }
}

fn header<'a>(shown: &'a Shown<'_>) -> HeaderRecord<'a> {
    let comparison = shown.comparison;
    let side = |(root, side): (&'a crate::tree::Root, &Side)| SideRecord {
        path: Name::new(&root.path),
        files: side.files.count,
        bytes: side.files.bytes,
        elsewhere_files: side.elsewhere.count,
        elsewhere_bytes: side.elsewhere.bytes,
        only_files: side.only.count,
        only_bytes: side.only.bytes,
        others: side.others,
        others_only: side.others_only,
        unanswered: side.unanswered,
        left_out: side.left_out,
    };
    HeaderRecord {
        format: "seekless-compare",
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        folder: Name::new(shown.folder),
        answer: match comparison.answer() {
            ComparisonAnswer::Yes => "yes",
            ComparisonAnswer::No => "no",
            ComparisonAnswer::Unknown => "unknown",
        },
        one_way: comparison.question().one_way,
        filters: shown.filters,
        sides: comparison
            .tree()
            .roots()
            .iter()
            .zip(&comparison.sides)
            .map(side)
            .collect(),
        obstacles: comparison.obstacles.iter().map(obstacle).collect(),
        notes: comparison.notes.iter().map(note).collect(),
    }
}

fn fact(
    (kind, sides, count, reason): (&'static str, Vec<u32>, Option<u64>, Option<String>),
) -> FactRecord {
    FactRecord {
        kind,
        sides,
        count,
        reason,
    }
}

fn obstacle(obstacle: &Obstacle) -> FactRecord {
    fact(match obstacle {
        Obstacle::Side(side, unseen) => {
            ("side", vec![*side], None, Some(unseen.words().to_owned()))
        }
        Obstacle::NoFiles(side) => ("no-files", vec![*side], None, None),
        Obstacle::Unanswered(side, count) => ("unanswered", vec![*side], Some(*count), None),
        Obstacle::OneDisk(a, b, disks) => ("one-disk", vec![*a, *b], None, Some(disks.clone())),
        Obstacle::UnknownDisk(a, b) => ("unknown-disk", vec![*a, *b], None, None),
    })
}

fn note(note: &Note) -> FactRecord {
    fact(match note {
        Note::OneCopy(side, count) => ("one-copy", vec![*side], Some(*count), None),
        Note::SameBlocks(side, count) => ("shared-blocks", vec![*side], Some(*count), None),
        Note::Sidecars(side, count, _) => ("sidecars", vec![*side], Some(*count), None),
        Note::Metadata(count) => ("metadata", Vec::new(), Some(*count), None),
        Note::OneDisk(a, b, disks) => ("one-disk", vec![*a, *b], None, Some(disks.clone())),
        Note::Trash(side, count) => ("trash", vec![*side], Some(*count), None),
        Note::Side(side, unseen) => ("side", vec![*side], None, Some(unseen.words().to_owned())),
        Note::Unanswered(side, count) => ("unanswered", vec![*side], Some(*count), None),
    })
}
