//! For people, and safe to edit and to read back.
//!
//! ```text
//! 4.2 MB (4194304 bytes) can go, 2 folders:
//!   photos
//!     4.2 MB (4194304 bytes), 12 files, contained in backup/photos
//!     # and 1 more folder
//! ```
//!
//! A path ends its line, so that no name can be taken for something else. All that need not be read back is a comment.
//! On a terminal (`Style::columns`) the exact sizes and the comments at both ends are left out.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::verdict_words;
use super::{FOLDERS_SCHEMA, FolderReport};
use crate::folders::{CanGo, FolderEntry, FolderFinding, FolderVerdict, Places};
use crate::report::escape::escape;
use crate::report::fit::{fitting, whole, write_fitting};
use crate::report::text::push_exact;
use crate::report::{BOLD, FAINT};
use crate::units::{Bytes, count, counted, plural};

pub fn write(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let (faint, plain) = report.style.paint(FAINT);
    let width = report.style.columns.unwrap_or(usize::MAX);
    let comment = |out: &mut dyn Write, indent: &str, text: &str| {
        fitting([format!("{indent}# {text}")], width)
            .iter()
            .try_for_each(|line| writeln!(out, "{faint}{line}{plain}"))
    };
    let is_shown = report.style.columns.is_some();
    if !is_shown {
        let version = escape(env!("CARGO_PKG_VERSION").as_bytes());
        comment(
            out,
            "",
            &format!("seekless {version} folders, text, schema {FOLDERS_SCHEMA}"),
        )?;
        comment(out, "", &format!("folder: {}", escape(report.folder)))?;
        for root in report.roots {
            comment(out, "", &format!("root: {}", escape(root)))?;
        }
        comment(out, "", "to leave a folder alone, delete both of its lines")?;
    }
    let noise: Vec<_> = report
        .noise
        .iter()
        .map(|glob| format!(", {}", escape(glob.as_bytes())))
        .collect();
    let noise = noise.concat();
    comment(out, "", &format!("Ignored as noise: empty files{noise}"))?;
    let bytes = |bytes: u64| {
        let mut text = String::new();
        if is_shown {
            Bytes(bytes).push_to(&mut text)
        } else {
            push_exact(bytes, &mut text)
        }
        text
    };
    for entry in &report.answer.entries {
        let (bold, plain) = report.style.paint(BOLD);
        let head = head(entry, &bytes(entry.gain));
        writeln!(out, "\n{bold}{head}{plain}")?;
        for line in &entry.folders {
            writeln!(out, "  {}", at_margin(&line.path))?;
            let files = counted(line.files as u64, "file", "files");
            let said = format!("    {}, {files}, {}", bytes(line.bytes), verdict(line));
            write_fitting(out, [said], report.style.columns)?;
            for remark in remarks(line) {
                comment(out, "    ", &remark)?;
            }
        }
    }
    if !is_shown {
        let entries = report.answer.entries.iter();
        let reported: usize = entries.map(|entry| entry.folders.len()).sum();
        let of = counted(report.answer.folders as u64, "folder", "folders");
        let reported = count(reported as u64);
        comment(out, "", &format!("complete: {reported} of {of} reported"))?;
    }
    Ok(())
}

/// The line that begins an entry.
fn head(entry: &FolderEntry, gain: &str) -> String {
    use verdict_words::{ALL_BUT_ONE, CAN_GO, ELSEWHERE, GAPS};
    let folders = counted((entry.folders.len()) as u64, "folder", "folders");
    let has_gaps =
        |line: &FolderFinding| matches!(line.verdict, FolderVerdict::NotFullySeen { .. });
    match entry.can_go {
        CanGo::All => format!("{gain}{CAN_GO}{folders}:"),
        CanGo::AllButOne => format!("{ALL_BUT_ONE}{folders}{CAN_GO}{gain}:"),
        CanGo::None if entry.folders.iter().all(has_gaps) => format!("{GAPS}{folders}:"),
        CanGo::None => format!("{gain}{ELSEWHERE}{folders}:"),
    }
}

/// A path that begins a line, and is no comment.
fn at_margin(path: &Path) -> String {
    let shown = escape(path.as_os_str().as_bytes());
    match shown.strip_prefix('#') {
        Some(rest) => format!("\\x23{rest}"),
        None => shown.into_owned(),
    }
}

fn verdict(line: &FolderFinding) -> String {
    match &line.verdict {
        FolderVerdict::Identical { other, .. } => {
            format!("{}{}", verdict_words::IDENTICAL, shown(other))
        }
        FolderVerdict::SameContents { other, .. } => {
            format!("{}{}", verdict_words::SAME, shown(other))
        }
        FolderVerdict::Contained { other, .. } => {
            format!("{}{}", verdict_words::CONTAINED, shown(other))
        }
        FolderVerdict::InParts { largest, places } => {
            let named = largest.iter().map(|place| {
                let directly = if place.directly { " itself" } else { "" };
                format!("{} in {}{directly}", Bytes(place.bytes), shown(&place.path))
            });
            let named: Vec<String> = named.collect();
            let rest = match places.number - largest.len() {
                0 if places.at_least => ", and elsewhere".to_owned(),
                0 => String::new(),
                rest => format!(
                    ", and in {}{}",
                    least(*places),
                    counted(rest as u64, "more folder", "more folders")
                ),
            };
            format!("{}{}{rest}", verdict_words::IN_PARTS, named.join(", "))
        }
        FolderVerdict::Overlaps { other, overlap } => format!(
            "{} of {}, {}, {}{}{}{}{}",
            count(overlap.only_here_files as u64),
            counted(line.files as u64, "file", "files"),
            Bytes(overlap.only_here_bytes),
            plural(overlap.only_here_files as u64, "is", "are"),
            verdict_words::ONLY_HERE,
            Bytes(overlap.shared),
            verdict_words::ALSO_IN,
            shown(other)
        ),
        FolderVerdict::NotFullySeen { unseen } => {
            let named = unseen
                .first
                .iter()
                .map(|(path, why)| format!("{} ({why})", shown(path)));
            let named: Vec<String> = named.collect();
            let rest = if unseen.count > named.len() {
                ", …"
            } else {
                ""
            };
            format!(
                "{}what was seen is also elsewhere, but not {}: {}{rest}",
                verdict_words::NOT_SEEN,
                counted(unseen.count as u64, "entry", "entries"),
                named.join(", "),
            )
        }
    }
}

/// All else about a folder, a comment each.
fn remarks(line: &FolderFinding) -> Vec<String> {
    let mut remarks = Vec::new();
    match &line.verdict {
        FolderVerdict::Identical { places, .. }
        | FolderVerdict::SameContents { places, .. }
        | FolderVerdict::Contained { places, .. } => remarks.extend(more(*places)),
        FolderVerdict::Overlaps { overlap, .. } => {
            let named: Vec<_> = overlap.only_here.iter().map(|path| shown(path)).collect();
            let is_all = overlap.only_here_files == named.len();
            if !named.is_empty() {
                let rest = if is_all { "" } else { ", …" };
                remarks.push(format!("only here: {}{rest}", named.join(", ")));
            }
            if overlap.bounded {
                remarks.push("another folder may have more of it".to_owned());
            }
        }
        FolderVerdict::InParts { .. } | FolderVerdict::NotFullySeen { .. } => {}
    }
    if let Some(photo) = &line.torn_photo {
        let photos = line.torn_photos as u64;
        remarks.push(format!(
            "{} elsewhere without {} sidecar files beside {}, such as {}",
            counted(photos, "photo is", "photos are"),
            plural(photos, "its", "their"),
            plural(photos, "it", "them"),
            shown(photo)
        ));
    }
    let beside = beside(line);
    if !beside.is_empty() {
        remarks.push(format!("not counted: {}", beside.join(", ")));
    }
    remarks
}

fn beside(line: &FolderFinding) -> Vec<String> {
    let mut beside = Vec::new();
    if line.noise > 0 {
        beside.push(format!(
            "{} of noise",
            counted(line.noise as u64, "file", "files")
        ));
    }
    if line.links > 0 && !matches!(line.verdict, FolderVerdict::Identical { .. }) {
        beside.push(counted(
            line.links as u64,
            "symbolic link",
            "symbolic links",
        ));
    }
    beside
}

fn more(places: Places) -> Option<String> {
    match (places.number, places.at_least) {
        (0 | 1, false) => None,
        (0 | 1, true) => Some("and possibly more".to_owned()),
        (number, _) => Some(format!(
            "and {}{}",
            least(places),
            counted((number - 1) as u64, "more folder", "more folders")
        )),
    }
}

fn least(places: Places) -> &'static str {
    if places.at_least { "at least " } else { "" }
}

/// A path that is not broken at its spaces.
fn shown(path: &Path) -> String {
    whole(&escape(path.as_os_str().as_bytes()))
}
