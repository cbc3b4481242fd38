//! Reads reports back: `text` (also edited), `json` and `ndjson`, told apart by their first bytes.
//!
//! What is read is what somebody wrote, not what is true: names may lead anywhere and numbers may
//! be invented. Whoever acts on a report checks each file again.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::escape::unescape;
use super::{Header, Layout, SCHEMA};
use crate::decide::DuplicateSet;

mod folders;
mod json;
mod source;
mod text;

pub use super::bad_line::BadLine;
pub use folders::{ReadFolders, ReadPair, is_of_folders, read_folders};
pub use source::{OpenError, Source};

/// A report read back as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// The header and the summary.
    pub frame: Frame,
    /// The sets, in the order in which they were written.
    pub sets: Vec<ReadSet>,
}

/// The header and the summary of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The header of the run; `None` if it was removed.
    pub header: Option<Header>,
    /// How the report ends.
    pub ending: Ending,
}

/// How a report ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The run saw everything.
    Complete,
    /// The run was interrupted: the sets are right, but there may be more.
    Interrupted,
    /// The report does not say; only `json` may, whose end can be seen without.
    #[default]
    Unsaid,
}

/// One set as reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSet {
    /// The set as it was written, but for names that were taken out. The file marked to be kept comes first; there is at
    /// least one, and no name is empty.
    pub set: DuplicateSet,
    /// True if the report says more of a file than its names, which `text` does not.
    pub has_facts: bool,
    /// The places of the members that the user marked to stay; a mark that is where the report had it is none.
    pub marked: Vec<usize>,
}

/// Says why a report could not be read, and where.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system could not read it.
    #[error("cannot read the report: {0}")]
    Io(#[from] io::Error),
    /// It is in none of the formats that are read.
    #[error("not a report in text, json or ndjson")]
    OtherFormat,
    /// It is a report of folders in a format that cannot be read back.
    #[error("seekless reads reports of folders as text only")]
    FoldersNotText,
    /// It lists folders, and no files.
    #[error("a report of folders, not of files")]
    OfFolders,
    /// There is nothing in it.
    #[error("the report is empty: create it again")]
    Empty,
    /// It was written to another plan.
    #[error(
        "the report has schema {0}, this version reads schema {SCHEMA}: \
         use the version that wrote it, or create the report again"
    )]
    Schema(u32),
    /// It ends in the middle.
    #[error("line {0}: the report is truncated here; create it again")]
    CutOff(usize),
    /// Its last line is not there: what else is not there, nobody knows.
    #[error(
        "line {line}: the report is truncated here: its last line does not say how the run ended. Create it again; \
        or, if nothing is missing, append this line: {wanted}"
    )]
    NoEnd {
        /// The last line that is there.
        line: usize,
        /// A line that would do.
        wanted: &'static str,
    },
    /// A line says something that it cannot say.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The defect.
        reason: BadLine,
    },
    /// It is no JSON, or not of the documented shape.
    #[error("line {line}, column {column}: {reason}")]
    Json {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The defect.
        reason: String,
    },
}

impl ReadReport {
    /// Reads a whole report into memory.
    pub fn read(input: impl Read) -> Result<Self, ReadError> {
        let mut sets = Vec::new();
        let frame = read_each(input, &mut |_, set| sets.push(set))?;
        Ok(Self { frame, sets })
    }
}

/// Receives each set, and what is known of the run if that stood before the set.
pub type Each<'a> = &'a mut dyn FnMut(Option<&Header>, ReadSet);

/// Bytes of a report between two sets. A set of a million files takes a third of that.
const PORTION: u64 = 512 << 20;

/// Reads a report of any length, handing over each set as it is read.
///
/// Sets that were handed over before an error are to be dropped: the report is wrong as a whole.
pub fn read_each(input: impl Read, each: Each<'_>) -> Result<Frame, ReadError> {
    read_portions(input, PORTION, each)
}

/// The same, of a report that has at most so many bytes between two sets.
fn read_portions(input: impl Read, portion: u64, each: Each<'_>) -> Result<Frame, ReadError> {
    let left = Cell::new(portion);
    let mut input = Portions { input, left: &left };
    let each: Each<'_> = &mut |header, set| {
        left.set(portion);
        each(header, set);
    };
    let mut start = Vec::new();
    input.by_ref().take(256).read_to_end(&mut start)?;
    let start = match start.strip_prefix(b"\xef\xbb\xbf") {
        Some(after_byte_order_mark) => after_byte_order_mark.to_vec(),
        None => start,
    };
    let layout = layout_of(&start)?;
    let whole = BufReader::with_capacity(1 << 16, Cursor::new(start).chain(input));
    match layout {
        Some(Layout::Document) => json::read_document(whole, each),
        Some(Layout::Lines) => json::read_lines(whole, each),
        None => text::read(whole, each),
    }
}

/// A report of which only so much is held at once: a set, or what lies between two.
struct Portions<'l, R> {
    input: R,
    left: &'l Cell<u64>,
}

impl<R: Read> Read for Portions<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        match self.left.get().checked_sub(read as u64) {
            Some(left) => self.left.set(left),
            None => {
                return Err(io::Error::other(
                    "a set in it is too long: split the set in a text report, with the file to keep in each part; or \
                    search fewer folders at a time",
                ));
            }
        }
        Ok(read)
    }
}

/// How the JSON of a report is put together; `None` for text. A line of ndjson starts with its type; a document has no
/// such key.
fn layout_of(start: &[u8]) -> Result<Option<Layout>, ReadError> {
    match start.trim_ascii_start() {
        [] => Err(ReadError::Empty),
        _ if is_of_folders(start) => Err(ReadError::OfFolders),
        [b'{', rest @ ..] if rest.trim_ascii_start().starts_with(b"\"type\"") => {
            Ok(Some(Layout::Lines))
        }
        [b'{', ..] => Ok(Some(Layout::Document)),
        _ if start.contains(&0) || start.starts_with(b"set,file,") => Err(ReadError::OtherFormat),
        _ => Ok(None),
    }
}

/// `seekless VERSION KIND, text, schema N`: the version and the schema.
fn first_line(comment: &[u8], kind: &str) -> Option<(String, u32)> {
    let comment = str::from_utf8(comment).ok()?.strip_prefix("seekless ")?;
    let (version, rest) = comment.split_once(' ')?;
    let schema = rest.strip_prefix(kind)?.strip_prefix(", text, schema ")?;
    let version = String::from_utf8(unescape(version.as_bytes()).ok()?).ok()?;
    Some((version, schema.trim_ascii_end().parse().ok()?))
}

/// Hands over each line without its end, with its number; returns the number of the last. A line without an end is cut
/// off, if each `is_ended` in reports of that kind.
fn each_line(
    input: &mut impl BufRead,
    is_ended: bool,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), ReadError>,
) -> Result<usize, ReadError> {
    let mut bytes = Vec::new();
    let mut line = 0;
    loop {
        bytes.clear();
        input.read_until(b'\n', &mut bytes)?;
        match bytes.last() {
            None => return Ok(line),
            Some(b'\n') => {
                bytes.pop();
                bytes.pop_if(|last| *last == b'\r');
            }
            // A name may have lost its end, and then be another file's name.
            Some(_) if is_ended && !bytes.trim_ascii().is_empty() => {
                return Err(ReadError::CutOff(line + 1));
            }
            Some(_) => {}
        }
        line += 1;
        take(line, &bytes)?;
    }
}

fn bad_line(line: usize) -> impl Fn(BadLine) -> ReadError {
    move |reason| ReadError::Line { line, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_of_a_report_is_held_and_no_more() {
        let head = "1 B (1 byte) * 2, reclaimable 1 B (1 byte)\n";
        let set = format!("{head}{}", "  1 = /a\n".repeat(9));
        let text = |set: &str| format!("{}# complete: by hand\n", set.repeat(90));
        let read = |text: String, portion| {
            let mut sets = 0;
            let read = read_portions(text.as_bytes(), portion, &mut |_, _| sets += 1);
            (read.map_err(|error| error.to_string()), sets)
        };
        let long = 90 * set.len() as u64 / 2;
        assert_eq!(read(text(&set), 1 << 17).1, 90);
        let sets = text(&set).repeat(1 << 5);
        let (whole, count) = read(sets.clone(), 1 << 17);
        assert!(whole.is_ok() && sets.len() > 1 << 17, "{whole:?}");
        assert_eq!(count, 90 << 5);
        let (refused, _) = read(text(&set), long);
        assert!(refused.is_err_and(|said| said.contains("a set in it is too long")));
        let json = format!("{{\"type\":\"set\",\"digest\":\"{}", "a".repeat(1 << 10));
        let (refused, _) = read(json, 1 << 9);
        assert!(refused.is_err_and(|said| said.contains("a set in it is too long")));
    }
}
