//! A table as in RFC 4180: one row for each folder.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::FolderReport;
use crate::folders::{CanGo, FolderVerdict};
use crate::report::csv::Cells;

/// The first row.
pub const COLUMNS: &str = "entry,can_go,verdict,places,shared,shared_of,only_here_files,only_here_bytes,\
                       files,bytes,gain,noise,links,path,encoding,other,other_encoding";

pub fn write(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    write!(out, "{COLUMNS}\r\n")?;
    let mut cells = Cells::default();
    for (number, entry) in (1..).zip(&report.answer.entries) {
        for line in &entry.folders {
            cells.cell(number);
            cells.cell(can_go(entry.can_go));
            cells.cell(verdict(&line.verdict));
            cells.maybe(line.verdict.places().map(|places| places.number));
            let overlap = match &line.verdict {
                FolderVerdict::Overlaps { overlap, .. } => Some(overlap),
                _ => None,
            };
            cells.maybe(overlap.map(|overlap| overlap.shared));
            cells.maybe(overlap.map(|overlap| overlap.of));
            cells.maybe(overlap.map(|overlap| overlap.only_here_files));
            cells.maybe(overlap.map(|overlap| overlap.only_here_bytes));
            cells.cell(line.files);
            cells.cell(line.bytes);
            cells.cell(line.gain);
            cells.cell(line.noise);
            cells.cell(line.links);
            cells.path(Some(bytes(&line.path)));
            cells.path(line.verdict.other().map(bytes));
            cells.end(out)?;
        }
    }
    Ok(())
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The word that JSON has as well.
fn verdict(verdict: &FolderVerdict) -> &'static str {
    match verdict {
        FolderVerdict::Identical { .. } => "identical",
        FolderVerdict::SameContents { .. } => "same-contents",
        FolderVerdict::Contained { .. } => "contained",
        FolderVerdict::InParts { .. } => "in-parts",
        FolderVerdict::Overlaps { .. } => "overlaps",
        FolderVerdict::NotFullySeen { .. } => "not-fully-seen",
    }
}

fn can_go(entry: CanGo) -> &'static str {
    match entry {
        CanGo::All => "all",
        CanGo::AllButOne => "all-but-one",
        CanGo::None => "none",
    }
}
