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

use super::verdict_words;
use super::{FOLDERS_SCHEMA, FolderReport};
use crate::folders::{CanGo, Count, FolderEntry, FolderLine, Said};
use crate::report::escape::escape;
use crate::report::fit::{fitting, whole};
use crate::units::{Bytes, count, plural};

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

pub fn write(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let paint = |color| match report.style.color {
        true => (color, RESET),
        false => ("", ""),
    };
    let (faint, plain) = paint(FAINT);
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
    let bytes = |bytes: u64| match report.style.columns {
        Some(_) => Bytes(bytes).to_string(),
        None => format!(
            "{} ({})",
            Bytes(bytes),
            format_args!("{bytes} {}", plural(bytes, "byte", "bytes"))
        ),
    };
    for entry in &report.answer.entries {
        let (bold, plain) = paint(BOLD);
        let head = head(entry, &bytes(entry.gain));
        writeln!(out, "\n{bold}{head}{plain}")?;
        for line in &entry.folders {
            writeln!(out, "  {}", at_margin(&line.path))?;
            let files = counted(line.files, "file");
            let said = format!("    {}, {files}, {}", bytes(line.bytes), verdict(line));
            for line in fitting([said], width) {
                writeln!(out, "{line}")?;
            }
            for remark in remarks(line) {
                comment(out, "    ", &remark)?;
            }
        }
    }
    if !is_shown {
        let reported: usize = report
            .answer
            .entries
            .iter()
            .map(|entry| entry.folders.len())
            .sum();
        let of = counted(report.answer.folders, "folder");
        let reported = count(reported as u64);
        comment(out, "", &format!("complete: {reported} of {of} reported"))?;
    }
    Ok(())
}

/// The line that begins an entry.
fn head(entry: &FolderEntry, gain: &str) -> String {
    use verdict_words::{ALL_BUT_ONE, CAN_GO, ELSEWHERE, GAPS};
    let folders = counted(entry.folders.len(), "folder");
    let has_gaps = |line: &FolderLine| matches!(line.said, Said::NotFullySeen { .. });
    match entry.can_go {
        CanGo::All => format!("{gain}{CAN_GO}{folders}:"),
        CanGo::AllButOne => format!("{ALL_BUT_ONE}{folders}{CAN_GO}{gain}:"),
        CanGo::None if entry.folders.iter().all(has_gaps) => format!("{GAPS}{folders}:"),
        CanGo::None => format!("{gain}{ELSEWHERE}{folders}:"),
    }
}

/// A path that begins a line, and is no comment.
fn at_margin(path: &[u8]) -> String {
    let shown = escape(path);
    match shown.strip_prefix('#') {
        Some(rest) => format!("\\x23{rest}"),
        None => shown.into_owned(),
    }
}

fn verdict(line: &FolderLine) -> String {
    match &line.said {
        Said::Identical { with, .. } => {
            format!("{}{}", verdict_words::IDENTICAL, on_one_line(with))
        }
        Said::SameContents { with, .. } => format!("{}{}", verdict_words::SAME, on_one_line(with)),
        Said::Contained { inside, .. } => {
            format!("{}{}", verdict_words::CONTAINED, on_one_line(inside))
        }
        Said::InParts { best, places } => {
            let named = best.iter().map(|place| {
                let directly = if place.directly { " itself" } else { "" };
                format!(
                    "{} in {}{directly}",
                    Bytes(place.bytes),
                    on_one_line(&place.path)
                )
            });
            let named: Vec<String> = named.collect();
            let rest = match places.number - best.len() {
                0 if places.at_least => ", and elsewhere".to_owned(),
                0 => String::new(),
                rest => format!(
                    ", and in {}{}",
                    least(*places),
                    counted(rest, "more folder")
                ),
            };
            format!("{}{}{rest}", verdict_words::IN_PARTS, named.join(", "))
        }
        Said::Overlaps {
            with,
            shared,
            only_here,
            ..
        } => format!(
            "{} of {}, {}, {}{}{}{}{}",
            count(only_here.files as u64),
            counted(line.files, "file"),
            Bytes(only_here.bytes),
            if only_here.files == 1 { "is" } else { "are" },
            verdict_words::ONLY_HERE,
            Bytes(*shared),
            verdict_words::ALSO_IN,
            on_one_line(with)
        ),
        Said::NotFullySeen { unseen, count } => {
            let named = unseen
                .iter()
                .map(|(path, why)| format!("{} ({why})", on_one_line(path)));
            let named: Vec<String> = named.collect();
            let rest = if *count > named.len() { ", …" } else { "" };
            format!(
                "{}what was seen is also elsewhere, but not {}: {}{rest}",
                verdict_words::NOT_SEEN,
                counted(*count, "entry"),
                named.join(", "),
            )
        }
    }
}

/// All else about a folder, a comment each.
fn remarks(line: &FolderLine) -> Vec<String> {
    let mut remarks = Vec::new();
    match &line.said {
        Said::Identical { places, .. }
        | Said::SameContents { places, .. }
        | Said::Contained { places, .. } => remarks.extend(more(*places)),
        Said::Overlaps {
            only_here, bounded, ..
        } => {
            let named: Vec<_> = only_here
                .first
                .iter()
                .map(|path| on_one_line(path))
                .collect();
            let rest = match only_here.files > named.len() {
                true => ", …",
                false => "",
            };
            if !named.is_empty() {
                remarks.push(format!("only here: {}{rest}", named.join(", ")));
            }
            if *bounded {
                remarks.push("another folder may have more of it".to_owned());
            }
        }
        Said::InParts { .. } | Said::NotFullySeen { .. } => {}
    }
    if let Some(photo) = &line.torn_photo {
        remarks.push(format!(
            "{} elsewhere without {} sidecar files beside {}, such as {}",
            match line.torn_photos {
                1 => "1 photo is".to_owned(),
                number => format!("{} are", counted(number, "photo")),
            },
            if line.torn_photos == 1 {
                "its"
            } else {
                "their"
            },
            if line.torn_photos == 1 { "it" } else { "them" },
            on_one_line(photo)
        ));
    }
    let beside = beside(line);
    if !beside.is_empty() {
        remarks.push(format!("not counted: {}", beside.join(", ")));
    }
    remarks
}

fn beside(line: &FolderLine) -> Vec<String> {
    let mut beside = Vec::new();
    if line.noise > 0 {
        beside.push(format!("{} of noise", counted(line.noise, "file")));
    }
    if line.links > 0 && !matches!(line.said, Said::Identical { .. }) {
        beside.push(counted(line.links, "symbolic link"));
    }
    beside
}

fn more(places: Count) -> Option<String> {
    match (places.number, places.at_least) {
        (0 | 1, false) => None,
        (0 | 1, true) => Some("and possibly more".to_owned()),
        (number, _) => Some(format!(
            "and {}{}",
            least(places),
            counted(number - 1, "more folder")
        )),
    }
}

fn least(places: Count) -> &'static str {
    if places.at_least { "at least " } else { "" }
}

fn counted(number: usize, what: &str) -> String {
    let shown = count(number as u64);
    match (number, what.strip_suffix('y')) {
        (1, _) => format!("{shown} {what}"),
        (_, Some(stem)) => format!("{shown} {stem}ies"),
        _ => format!("{shown} {what}s"),
    }
}

/// A path that is not broken at its spaces.
fn on_one_line(path: &[u8]) -> String {
    whole(&escape(path))
}
