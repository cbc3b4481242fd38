//! What is wrong with a line, a set or a name of a report that is read.

use super::SCHEMA;
use super::escape::{BadEscape, escape};
use crate::hash::BadDigest;

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
    #[error(transparent)]
    Digest(#[from] BadDigest),
    /// A time is not as in RFC 3339.
    #[error("{0:?} is not an RFC 3339 time between 1677 and 2262")]
    Time(String),
    /// An object is not of the documented shape.
    #[error("{0}")]
    Shape(String),
    /// A set without a file.
    #[error("a set without members: delete the set, or create the report again")]
    NoMember,
    /// The object is not a seekless report.
    #[error("not a seekless report")]
    Foreign,
    /// It was written to another plan.
    #[error(
        "the report has schema {0}, this version reads schema {SCHEMA}: \
         use the version that wrote it, or create the report again"
    )]
    Schema(u32),
    /// A second report follows the first.
    #[error("a second report starts here; give one report at a time")]
    Second,
    /// The line holds terminal colors.
    #[error("the report contains terminal colors; create it again without them")]
    Colored,
}

/// A name that a file can have.
pub fn checked_name(name: Vec<u8>) -> Result<Vec<u8>, BadLine> {
    if name.is_empty() || name.contains(&0) {
        Err(BadLine::NoName(name))
    } else {
        Ok(name)
    }
}
