//! How answers about folders are written down.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::escape::escape;
use super::{BOLD, Layout, Name, Objects, Style, Titled};
use crate::folders::{CanGo, FolderEntry, FolderFinding, FolderVerdict, FoldersAnswer, Places};
use crate::units::{Bytes, count, counted, files, plural};

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
        write: write_text,
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
];

#[derive(Serialize)]
struct HeaderRecord<'a> {
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
        folder: Name(report.folder),
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
    objects.begin(out, "header", &Titled::new(FORMAT, header))?;
    for entry in &answer.entries {
        objects.item(out, entry)?;
    }
    objects.end(out, "summary", &summary)
}

/// For people. A path ends its line, so that no name can be taken for something else.
///
/// ```text
/// 4.2 MB can go, 2 folders:
///   photos
///     4.2 MB, 12 files, contained in backup/photos
///     # and 1 more folder
/// ```
fn write_text(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let style = &report.style;
    if !style.on_terminal {
        // A later report may replace what names seekless.
        writeln!(
            out,
            concat!("# seekless ", env!("CARGO_PKG_VERSION"), " folders")
        )?;
    }
    let noise = report.noise.iter();
    let noise: String = noise
        .map(|glob| format!(", {}", escape(glob.as_bytes())))
        .collect();
    style.comment(out, "", &format!("Ignored as noise: empty files{noise}"))?;
    for entry in &report.answer.entries {
        let (bold, plain) = style.paint(BOLD);
        writeln!(out, "\n{bold}{}{plain}", head(entry))?;
        for line in &entry.folders {
            writeln!(out, "  {}", shown(&line.path))?;
            let (bytes, verdict) = (Bytes(line.bytes), verdict(line));
            writeln!(out, "    {bytes}, {}, {verdict}", files(line.files as u64))?;
            for remark in remarks(line) {
                style.comment(out, "    ", &remark)?;
            }
        }
    }
    Ok(())
}

/// The line that begins an entry.
fn head(entry: &FolderEntry) -> String {
    let gain = Bytes(entry.gain);
    let folders = counted(entry.folders.len() as u64, "folder", "folders");
    let has_gaps =
        |line: &FolderFinding| matches!(line.verdict, FolderVerdict::NotFullySeen { .. });
    match entry.can_go {
        CanGo::All => format!("{gain} can go, {folders}:"),
        CanGo::AllButOne => format!("all but one of these {folders} can go, {gain}:"),
        CanGo::None if entry.folders.iter().all(has_gaps) => format!("not fully seen, {folders}:"),
        CanGo::None => format!("{gain} also elsewhere, {folders}:"),
    }
}

fn verdict(line: &FolderFinding) -> String {
    match &line.verdict {
        FolderVerdict::Identical { other, .. } => format!("identical to {}", shown(other)),
        FolderVerdict::Contained { other, .. } => format!("contained in {}", shown(other)),
        FolderVerdict::InParts => "all of it is also elsewhere, in several folders".to_owned(),
        FolderVerdict::Overlaps { other, overlap } => format!(
            "{} of {}, {}, {} ONLY here; {} also in {}",
            count(overlap.only_here_files as u64),
            files(line.files as u64),
            Bytes(overlap.only_here_bytes),
            plural(overlap.only_here_files as u64, "is", "are"),
            Bytes(overlap.shared),
            shown(other)
        ),
        FolderVerdict::NotFullySeen { unseen } => {
            let named = unseen.first.iter();
            let named = named.map(|(path, why)| format!("{} ({why})", shown(path)));
            let named: Vec<String> = named.collect();
            format!(
                "not fully seen: what was seen is also elsewhere, but not {}: {}{}",
                counted(unseen.count as u64, "entry", "entries"),
                named.join(", "),
                rest(unseen.count - named.len())
            )
        }
    }
}

/// All else about a folder, a comment each.
fn remarks(line: &FolderFinding) -> Vec<String> {
    let mut remarks = Vec::new();
    match &line.verdict {
        FolderVerdict::Identical { places, .. } | FolderVerdict::Contained { places, .. } => {
            remarks.extend(more(*places))
        }
        FolderVerdict::Overlaps { overlap, .. } => {
            let named: Vec<_> = overlap.only_here.iter().map(|path| shown(path)).collect();
            if !named.is_empty() {
                let rest = rest(overlap.only_here_files - named.len());
                remarks.push(format!("only here: {}{rest}", named.join(", ")));
            }
            if overlap.bounded {
                remarks.push("another folder may have more of it".to_owned());
            }
        }
        FolderVerdict::InParts | FolderVerdict::NotFullySeen { .. } => {}
    }
    let is_identical = matches!(line.verdict, FolderVerdict::Identical { .. });
    let mut not_counted = Vec::new();
    if line.noise > 0 {
        not_counted.push(format!("{} of noise", files(line.noise as u64)));
    }
    if line.links > 0 && !is_identical {
        let links = line.links as u64;
        not_counted.push(counted(links, "symbolic link", "symbolic links"));
    }
    if !not_counted.is_empty() {
        remarks.push(format!("not counted: {}", not_counted.join(", ")));
    }
    remarks
}

fn more(places: Places) -> Option<String> {
    let more = places.number.saturating_sub(1);
    let folders = counted(more as u64, "more folder", "more folders");
    match (more, places.at_least) {
        (0, false) => None,
        (0, true) => Some("and possibly more".to_owned()),
        (_, true) => Some(format!("and at least {folders}")),
        (_, false) => Some(format!("and {folders}")),
    }
}

/// Stands for what is not named.
fn rest(number: usize) -> &'static str {
    if number > 0 { ", …" } else { "" }
}

fn shown(path: &Path) -> Cow<'_, str> {
    escape(path.as_os_str().as_encoded_bytes())
}
