//! For people.
//!
//! ```text
//! 4.2 MB (4194304 bytes) can go, 2 folders:
//!   photos
//!     4.2 MB (4194304 bytes), 12 files, contained in backup/photos
//! ```

use std::io::{self, Write};

use super::FolderReport;
use super::verdict_words::percent;
use crate::folders::{Count, FolderLine, Said};
use crate::report::escape::escape;
use crate::report::fit::fitting;
use crate::units::{Bytes, count};

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

pub fn write(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    let paint = |color| match report.style.color {
        true => (color, RESET),
        false => ("", ""),
    };
    let (faint, plain) = paint(FAINT);
    let noise: Vec<_> = report
        .noise
        .iter()
        .map(|glob| format!(", {}", escape(glob.as_bytes())))
        .collect();
    let noise = noise.concat();
    let width = report.style.columns.unwrap_or(usize::MAX);
    let noise = format!("# Noise, which decides nothing: empty files{noise}");
    for line in fitting([noise], width) {
        writeln!(out, "{faint}{line}{plain}")?;
    }
    let bytes = |bytes: u64| match report.style.columns {
        Some(_) => Bytes(bytes).to_string(),
        None => format!("{} ({bytes} bytes)", Bytes(bytes)),
    };
    for entry in &report.answer.entries {
        let (bold, plain) = paint(BOLD);
        let gain = match entry.gain {
            0 => "nothing would be free".to_owned(),
            gain => format!("{} can go", bytes(gain)),
        };
        let folders = counted(entry.folders.len(), "folder");
        writeln!(out, "\n{bold}{gain}{plain}, {folders}:")?;
        for line in &entry.folders {
            writeln!(out, "  {}", escape(&line.path))?;
            let files = counted(line.files, "file");
            let said = format!("    {}, {files}, {}", bytes(line.bytes), verdict(line));
            for line in fitting([said], width) {
                writeln!(out, "{line}")?;
            }
            let beside = beside(line);
            if !beside.is_empty() {
                let (faint, plain) = paint(FAINT);
                writeln!(
                    out,
                    "    {faint}# not counted: {}{plain}",
                    beside.join(", ")
                )?;
            }
        }
    }
    Ok(())
}

fn verdict(line: &FolderLine) -> String {
    match &line.said {
        Said::Identical { with, places } => {
            format!("identical to {}{}", escape(with), more(*places))
        }
        Said::SameContents { with, places } => {
            format!("same contents as {}{}", escape(with), more(*places))
        }
        Said::Contained { inside, places } => {
            format!("contained in {}{}", escape(inside), more(*places))
        }
        Said::InParts { best, places } => {
            let named = best.iter().map(|place| {
                let directly = if place.directly { " itself" } else { "" };
                format!(
                    "{} in {}{directly}",
                    Bytes(place.bytes),
                    escape(&place.path)
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
            format!("found elsewhere in parts: {}{rest}", named.join(", "))
        }
        Said::Overlaps {
            with,
            shared,
            of,
            not_there,
            bounded,
        } => {
            let named: Vec<_> = not_there.first.iter().map(|path| escape(path)).collect();
            let rest = match not_there.files > named.len() {
                true => ", …",
                false => "",
            };
            format!(
                "{} % also in {}{}; not there: {}, {}: {}{rest}",
                percent(*shared, *of),
                escape(with),
                if *bounded {
                    " (another folder may have more)"
                } else {
                    ""
                },
                counted(not_there.files, "file"),
                Bytes(not_there.bytes),
                named.join(", "),
            )
        }
        Said::NotFullySeen { unseen, count } => {
            let named = unseen
                .iter()
                .map(|(path, why)| format!("{} ({why})", escape(path)));
            let named: Vec<String> = named.collect();
            let rest = if *count > named.len() { ", …" } else { "" };
            format!(
                "not fully seen: what was seen is also elsewhere, but not {}: {}{rest}",
                counted(*count, "entry"),
                named.join(", "),
            )
        }
    }
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

fn more(places: Count) -> String {
    match (places.number, places.at_least) {
        (0 | 1, false) => String::new(),
        (0 | 1, true) => " and possibly more".to_owned(),
        (number, _) => format!(
            " and {}{}",
            least(places),
            counted(number - 1, "more folder")
        ),
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
