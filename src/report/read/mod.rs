//! Reads reports back: `text` (also edited), `json` and `ndjson`, told apart by their first bytes.
//!
//! What is read is what somebody wrote, not what is true: names may lead anywhere and numbers may
//! be invented. Whoever acts on a report checks each file again.

use std::io::{self, BufReader, Read};

use serde_json::error::Category;

use super::{Header, Layout};
use crate::decide::DuplicateSet;

mod folders;
mod json;
mod source;
mod text;

pub use super::bad_line::BadLine;
pub use folders::{ReadFolders, ReadPair, is_of_folders, read_folders};
pub use source::{OpenError, Source};

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
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSet {
    /// The set as it was written, but for names that were taken out. The file marked to be kept comes first; there is
    /// at least one, and no name is empty.
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
    #[error("seekless reads reports of folders as json or ndjson only")]
    FoldersNotJson,
    /// It lists folders, and no files.
    #[error("a report of folders, not of files")]
    OfFolders,
    /// There is nothing in it.
    #[error("the report is empty: create it again")]
    Empty,
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
    #[error(transparent)]
    Json(serde_json::Error),
}

impl ReadError {
    /// A defect of a line, counted from 1.
    fn at(line: usize, reason: BadLine) -> Self {
        Self::Line { line, reason }
    }

    /// A defect of an object that stands on this line.
    fn in_object(line: usize, error: serde_json::Error) -> Self {
        if error.line() == 0 {
            Self::at(line, BadLine::Shape(error.to_string()))
        } else {
            error.into()
        }
    }
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        match error.classify() {
            Category::Io => Self::Io(error.into()),
            Category::Eof => Self::CutOff(error.line()),
            Category::Syntax | Category::Data => Self::Json(error),
        }
    }
}

impl Frame {
    /// The frame, if the report says how it ends; `line` is its last one, `wanted` a line that would do.
    fn whole(self, line: usize, wanted: &'static str) -> Result<Self, ReadError> {
        match self.ending {
            Ending::Unsaid => Err(ReadError::NoEnd { line, wanted }),
            Ending::Complete | Ending::Interrupted => Ok(self),
        }
    }
}

/// Receives each set, and what is known of the run if that stood before the set.
pub type Each<'a> = &'a mut dyn FnMut(Option<&Header>, ReadSet);

/// Reads a report of any length, handing over each set as it is read.
///
/// Sets that were handed over before an error are to be dropped: the report is wrong as a whole.
pub fn read_each(mut input: impl Read, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut start = Vec::new();
    input.by_ref().take(START).read_to_end(&mut start)?;
    let start = without_byte_order_mark(&start);
    let layout = layout_of(start)?;
    let whole = BufReader::with_capacity(1 << 16, start.chain(input));
    match layout {
        Some(Layout::Document) => json::read_document(whole, each),
        Some(Layout::Lines) => json::read_lines(whole, each),
        None => text::read(whole, each),
    }
}

/// Bytes that tell the format of a report.
pub const START: u64 = 1024;

fn without_byte_order_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start)
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
