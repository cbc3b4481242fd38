//! Reads reports back: `text` (also edited), `json` and `ndjson`, told apart by their first bytes.
//!
//! What is read is what somebody wrote, not what is true: names may lead anywhere and numbers may
//! be invented. Whoever acts on a report checks each file again.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::escape::{BadEscape, escape};
use super::{Header, Layout, SCHEMA};
use crate::hash::ContentDigest;

mod bounded;
mod folders;
mod json;
mod json_records;
mod room;
mod source;
mod text;

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
    /// Length of each member, bytes.
    pub size: u64,
    /// BLAKE3 of the content, where the run computed it.
    pub digest: Option<ContentDigest>,
    /// The digest of one member at least comes from the cache.
    pub cached: bool,
    /// Sidecar files that are listed for actions only.
    pub sidecars: bool,
    /// How many replicas the set counted when it was written.
    pub replicas: u64,
    /// The bytes that are freed if all files but one are removed.
    pub reclaimable: u64,
    /// The files that are still listed, the one marked to be kept first; never empty.
    pub members: Vec<ReadMember>,
}

/// One file as reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMember {
    /// Its names as reported; never empty, and none of them is.
    pub names: Vec<Vec<u8>>,
    /// The facts about the file in this format; `text` has none.
    pub facts: Option<Facts>,
    /// The user put the mark of what stays here; a mark that is where the report had it is none.
    pub marked: bool,
}

/// A file's metadata at the time of the scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `st_dev` of the file system.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// How many names the inode had in all.
    pub links: u64,
    /// Time of last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Bytes allocated on disk.
    pub allocated: u64,
    /// Names of the physical disks below.
    pub disk: String,
    /// It may be one file with another member.
    pub ambiguous: bool,
    /// Index of the root through which the file was reached.
    pub root: u32,
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

/// A defect of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// A line at the margin is neither a comment nor the head of a set.
    #[error(
        "expected a set (SIZE (N bytes) * REPLICAS, reclaimable SIZE (N bytes)), \
         an indented file or a comment starting with #"
    )]
    NoSet,
    /// The report is a list of unique files, without their sizes.
    #[error(
        "a list of unique files cannot be read back as text: create it again as json or ndjson"
    )]
    Unique,
    /// A file is listed before any set.
    #[error("a file before the first set")]
    NoSetYet,
    /// An indented line does not start with a file's number and mark.
    #[error("expected a file: its number, then `*`, `=` or a space, then its name")]
    NoFile,
    /// Two files of a set have one number.
    #[error("file {0} of this set is listed twice (a further name of it is marked =)")]
    Twice(u64),
    /// The name has a broken escape.
    #[error(transparent)]
    Escape(#[from] BadEscape),
    /// The name is empty or holds a NUL, which no name can.
    #[error("no file can have the name \"{}\"", escape(.0))]
    NoName(Vec<u8>),
    /// The digest is not 64 hexadecimal digits.
    #[error("{0:?} is not a BLAKE3 digest")]
    Digest(String),
    /// A base64 name is not base64.
    #[error("the bytes of a name are not valid base64")]
    Base64,
    /// A time is not as in RFC 3339.
    #[error("{0:?} is not an RFC 3339 time between 1677 and 2262")]
    Time(String),
    /// A word in the list of options is not known.
    #[error("unknown option {0:?}")]
    Option(String),
    /// The line is no JSON, or not of the documented shape.
    #[error("{0}")]
    Shape(String),
    /// A set without a file.
    #[error("a set without members: delete the set, or create the report again")]
    NoMember,
    /// The object is not a seekless report.
    #[error("not a seekless report")]
    Foreign,
    /// A set is too large to be held.
    #[error(
        "the set of files of {size} bytes{} has {names} names with {bytes} bytes, and a set may \
         have at most {limit}: split the set in a text report, with the file to keep in each part; or search fewer \
         folders at a time",
        .digest.as_ref().map(|digest| format!(", blake3 {digest},")).unwrap_or_default(),
        limit = room::Room::limits()
    )]
    LargeSet {
        /// Length of each file, bytes.
        size: u64,
        /// Digest of the content.
        digest: Option<String>,
        /// How many names it lists.
        names: u64,
        /// Bytes of these names and of what is said of them.
        bytes: u64,
    },
    /// The header is too large to be held.
    #[error("the header is too long: it may have at most {}", room::Room::limits())]
    LargeHeader,
    /// A second report follows the first.
    #[error("a second report starts here; give one report at a time")]
    Second,
    /// The line is longer than any name can be.
    #[error("the line is too long for a name")]
    TooLong,
    /// The line holds terminal colors.
    #[error("the report contains terminal colors; create it again without them")]
    Colored,
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

/// Reads a report of any length, handing over each set as it is read.
///
/// Sets that were handed over before an error are to be dropped: the report is wrong as a whole.
pub fn read_each(mut input: impl Read, each: Each<'_>) -> Result<Frame, ReadError> {
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

fn checked_name(name: Vec<u8>) -> Result<Vec<u8>, BadLine> {
    if name.is_empty() || name.contains(&0) {
        Err(BadLine::NoName(name))
    } else {
        Ok(name)
    }
}

fn digest(hex: &str) -> Result<ContentDigest, BadLine> {
    ContentDigest::from_hex(hex).ok_or_else(|| BadLine::Digest(hex.to_owned()))
}

/// Hands over each line without its end, with its number; returns the number of the last.
fn each_line(
    input: &mut impl BufRead,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), ReadError>,
) -> Result<usize, ReadError> {
    let mut bytes = Vec::new();
    let mut line = 0;
    loop {
        bytes.clear();
        input
            .by_ref()
            .take(room::TEXT)
            .read_until(b'\n', &mut bytes)?;
        match bytes.last() {
            None => return Ok(line),
            Some(b'\n') => {
                bytes.pop();
                bytes.pop_if(|last| *last == b'\r');
            }
            Some(_) if bytes.len() as u64 == room::TEXT => {
                return Err(bad_line(line + 1)(BadLine::TooLong));
            }
            // A name may have lost its end, and then be another file's name.
            Some(_) if !bytes.trim_ascii().is_empty() => return Err(ReadError::CutOff(line + 1)),
            Some(_) => {}
        }
        line += 1;
        take(line, &bytes)?;
    }
}

fn bad_line(line: usize) -> impl Fn(BadLine) -> ReadError {
    move |reason| ReadError::Line { line, reason }
}
