//! One document, or one object a line. The keys are a promise, so they are spelled out here.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;

use super::verdict_words::{can_go, verdict};
use super::{FOLDERS_SCHEMA, FolderReport};
use crate::folders::{FolderEntry, FolderFinding, FolderVerdict};
use crate::report::{Layout, Name, Objects};

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

pub fn write(layout: Layout, out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let mut objects = Objects::new(layout, "entry", "entries");
    objects.begin(out, "header", &header(report))?;
    for entry in &report.answer.entries {
        objects.item(out, &EntryRecord::new(entry))?;
    }
    objects.end(out, "summary", &summary(report))
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
    fn new(line: &'a FolderFinding) -> Self {
        let places = line.verdict.places();
        Self {
            path: name(&line.path),
            verdict: verdict(&line.verdict),
            other: line.verdict.other().map(name),
            places: places.map(|places| places.number),
            at_least: places.is_some_and(|places| places.at_least),
            parts: parts(&line.verdict),
            overlap: overlap(&line.verdict),
            unseen: unseen(&line.verdict),
            files: line.files,
            bytes: line.bytes,
            gain: line.gain,
            noise: line.noise,
            links: line.links,
            torn_photos: Some(line.torn_photos).filter(|&number| number > 0),
        }
    }
}

fn parts(verdict: &FolderVerdict) -> Vec<PartRecord<'_>> {
    let FolderVerdict::InParts { largest, .. } = verdict else {
        return Vec::new();
    };
    let parts = largest.iter().map(|place| PartRecord {
        path: name(&place.path),
        bytes: place.bytes,
        directly: place.directly,
    });
    parts.collect()
}

fn overlap(verdict: &FolderVerdict) -> Option<OverlapRecord<'_>> {
    let FolderVerdict::Overlaps {
        shared,
        of,
        only_here,
        bounded,
        ..
    } = verdict
    else {
        return None;
    };
    Some(OverlapRecord {
        shared: *shared,
        of: *of,
        only_here_files: only_here.files,
        only_here_bytes: only_here.bytes,
        only_here: only_here.first.iter().map(|path| name(path)).collect(),
        bounded: *bounded,
    })
}

fn unseen(verdict: &FolderVerdict) -> Option<UnseenRecord<'_>> {
    let FolderVerdict::NotFullySeen { first, count } = verdict else {
        return None;
    };
    let first = first.iter().map(|(path, why)| GapRecord {
        path: name(path),
        why,
    });
    Some(UnseenRecord {
        count: *count,
        first: first.collect(),
    })
}

fn name(path: &Path) -> Name<'_> {
    Name::new(path.as_os_str().as_bytes())
}
