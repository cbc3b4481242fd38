//! One document, or one object a line. The keys are a promise, so they are spelled out here.

use std::io::{self, Write};

use serde::Serialize;

use super::verdict_words::{can_go, other, places, verdict};
use super::{FOLDERS_SCHEMA, FolderReport};
use crate::folders::{FolderEntry, FolderLine, Said};
use crate::report::{Name, write_json};

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
struct EntryRecord<'a> {
    can_go: &'static str,
    gain: u64,
    folders: Vec<LineRecord<'a>>,
}

#[derive(Serialize)]
struct SummaryRecord {
    entries: usize,
    folders: usize,
    files: usize,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ReportLine<'a> {
    Header(HeaderRecord<'a>),
    Entry(EntryRecord<'a>),
    Summary(SummaryRecord),
}

#[derive(Serialize)]
struct LineRecord<'a> {
    path: Name<'a>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Name<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap: Option<OverlapRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<UnseenRecord<'a>>,
    files: usize,
    bytes: u64,
    gain: u64,
    noise: usize,
    links: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    torn_photos: Option<usize>,
}

#[derive(Serialize)]
struct PartRecord<'a> {
    path: Name<'a>,
    bytes: u64,
    directly: bool,
}

#[derive(Serialize)]
struct OverlapRecord<'a> {
    shared: u64,
    of: u64,
    only_here_files: usize,
    only_here_bytes: u64,
    only_here: Vec<Name<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bounded: bool,
}

#[derive(Serialize)]
struct UnseenRecord<'a> {
    count: usize,
    first: Vec<GapRecord<'a>>,
}

#[derive(Serialize)]
struct GapRecord<'a> {
    path: Name<'a>,
    why: &'static str,
}

/// The name of the format in its header.
pub const FORMAT: &str = "seekless-folders";

pub fn write(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    out.write_all(b"{\"header\":")?;
    write_json(out, &header(report))?;
    out.write_all(b",\n\"entries\":[")?;
    for (nth, entry) in report.answer.entries.iter().enumerate() {
        out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
        write_json(out, &EntryRecord::new(entry))?;
    }
    out.write_all(b"\n],\n\"summary\":")?;
    write_json(out, &summary(report))?;
    out.write_all(b"}\n")
}

pub fn write_lines(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let entries = report.answer.entries.iter();
    let lines = std::iter::once(ReportLine::Header(header(report)))
        .chain(entries.map(|entry| ReportLine::Entry(EntryRecord::new(entry))))
        .chain([ReportLine::Summary(summary(report))]);
    for line in lines {
        write_json(out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn header<'a>(report: &FolderReport<'a>) -> HeaderRecord<'a> {
    HeaderRecord {
        format: FORMAT,
        schema: FOLDERS_SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        folder: Name::new(report.folder),
        roots: Name::all(report.roots),
        min_overlap: report.min_overlap,
        noise: report.noise,
    }
}

fn summary(report: &FolderReport<'_>) -> SummaryRecord {
    SummaryRecord {
        entries: report.answer.entries.len(),
        folders: report.answer.folders,
        files: report.answer.files,
    }
}

impl<'a> EntryRecord<'a> {
    fn new(entry: &'a FolderEntry) -> Self {
        Self {
            can_go: can_go(entry.can_go),
            gain: entry.gain,
            folders: entry.folders.iter().map(LineRecord::new).collect(),
        }
    }
}

impl<'a> LineRecord<'a> {
    fn new(line: &'a FolderLine) -> Self {
        let places = places(&line.said);
        Self {
            path: Name::new(&line.path),
            verdict: verdict(&line.said),
            other: other(&line.said).map(Name::new),
            places: places.map(|places| places.number),
            at_least: places.is_some_and(|places| places.at_least),
            parts: parts(&line.said),
            overlap: overlap(&line.said),
            unseen: unseen(&line.said),
            files: line.files,
            bytes: line.bytes,
            gain: line.gain,
            noise: line.noise,
            links: line.links,
            torn_photos: Some(line.torn_photos).filter(|&number| number > 0),
        }
    }
}

fn parts(said: &Said) -> Vec<PartRecord<'_>> {
    let Said::InParts { best, .. } = said else {
        return Vec::new();
    };
    let parts = best.iter().map(|place| PartRecord {
        path: Name::new(&place.path),
        bytes: place.bytes,
        directly: place.directly,
    });
    parts.collect()
}

fn overlap(said: &Said) -> Option<OverlapRecord<'_>> {
    let Said::Overlaps {
        shared,
        of,
        only_here,
        bounded,
        ..
    } = said
    else {
        return None;
    };
    Some(OverlapRecord {
        shared: *shared,
        of: *of,
        only_here_files: only_here.files,
        only_here_bytes: only_here.bytes,
        only_here: Name::all(&only_here.first),
        bounded: *bounded,
    })
}

fn unseen(said: &Said) -> Option<UnseenRecord<'_>> {
    let Said::NotFullySeen { unseen, count } = said else {
        return None;
    };
    let first = unseen.iter().map(|(path, why)| GapRecord {
        path: Name::new(path),
        why,
    });
    Some(UnseenRecord {
        count: *count,
        first: first.collect(),
    })
}
