//! A table as in RFC 4180: one row for each folder.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use super::FolderReport;
use super::verdict_words::{can_go, verdict};
use crate::folders::FolderVerdict;
use crate::report::csv::push_path;

/// The first row.
pub const COLUMNS: &str = "entry,can_go,verdict,places,shared,shared_of,only_here_files,only_here_bytes,\
                       files,bytes,gain,noise,links,path,encoding,other,other_encoding";

pub fn write(out: &mut dyn Write, report: &FolderReport<'_>) -> io::Result<()> {
    write!(out, "{COLUMNS}\r\n")?;
    let mut row = String::new();
    for (nth, entry) in report.answer.entries.iter().enumerate() {
        for line in &entry.folders {
            row.clear();
            let places = line
                .verdict
                .places()
                .map(|places| places.number.to_string());
            let shared = match &line.verdict {
                FolderVerdict::Overlaps { overlap, .. } => format!(
                    "{},{},{},{}",
                    overlap.shared, overlap.of, overlap.only_here_files, overlap.only_here_bytes
                ),
                _ => ",,,".to_owned(),
            };
            // Writing to a string cannot fail.
            let _ = write!(
                row,
                "{},{},{},{},{shared},{},{},{},{},{},",
                nth + 1,
                can_go(entry.can_go),
                verdict(&line.verdict),
                places.unwrap_or_default(),
                line.files,
                line.bytes,
                line.gain,
                line.noise,
                line.links,
            );
            push_path(&mut row, line.path.as_os_str().as_bytes());
            row.push(',');
            match line.verdict.other() {
                Some(other) => push_path(&mut row, other.as_os_str().as_bytes()),
                None => row.push(','),
            }
            row.push_str("\r\n");
            out.write_all(row.as_bytes())?;
        }
    }
    Ok(())
}
