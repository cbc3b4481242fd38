//! The documented JSON objects that `json` and `ndjson` share: how they are written, and read.
//!
//! Their keys are a promise (`docs/reference/formats.md`): a field may be renamed, a key may not.

use std::borrow::Cow;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::ser::Formatter;

use super::bad_line::{BadLine, checked_name};
use super::printable::{characters, is_printable};
use super::{SCHEMA, time};
use crate::decide::{DuplicateSet, Member, Summary};
use crate::file::{Name, Raw};
use crate::hash::ContentDigest;

/// The name of the format in the header of a report of sets.
pub const FORMAT: &str = "seekless";

/// The first keys of a document. In a line, those of the header follow.
#[derive(Serialize, Deserialize)]
pub struct Start<T> {
    #[serde(deserialize_with = "known_format")]
    pub format: Cow<'static, str>,
    #[serde(deserialize_with = "known_schema")]
    pub schema: u32,
    #[serde(flatten)]
    pub rest: T,
}

/// Reads the name of the format.
pub fn known_format<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, str>, D::Error> {
    let name = String::deserialize(from)?;
    if name == FORMAT {
        Ok(FORMAT.into())
    } else {
        Err(D::Error::custom(BadLine::Foreign))
    }
}

/// Reads the number of a layout that this version knows.
pub fn known_schema<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    match u32::deserialize(from)? {
        SCHEMA => Ok(SCHEMA),
        other => Err(D::Error::custom(BadLine::Schema(other))),
    }
}

/// A set that is written, with the keys of [`SetKeys`].
#[derive(Serialize)]
pub struct SetRecord<'a>(#[serde(with = "SetKeys")] pub &'a DuplicateSet);

/// The same, read.
#[derive(Deserialize)]
pub struct SetIn(#[serde(with = "SetKeys")] pub DuplicateSet);

#[derive(Serialize, Deserialize)]
#[serde(remote = "DuplicateSet")]
struct SetKeys {
    size: u64,
    #[serde(default)]
    digest: Option<ContentDigest>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sidecars: bool,
    replicas: u64,
    reclaimable: u64,
    #[serde(with = "members")]
    members: Vec<Member>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Member")]
struct MemberKeys {
    #[serde(flatten, with = "names_of_member")]
    names: Vec<Vec<u8>>,
    #[serde(rename = "mtime", with = "time")]
    mtime_ns: i64,
    dev: u64,
    ino: u64,
    links: u64,
    allocated: u64,
    disk: Arc<str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ambiguous: bool,
    root: u32,
}

mod members {
    use super::*;

    #[derive(Serialize)]
    struct MemberRecord<'a>(#[serde(with = "MemberKeys")] &'a Member);

    #[derive(Deserialize)]
    struct MemberIn(#[serde(with = "MemberKeys")] Member);

    pub fn serialize<S: Serializer>(members: &[Member], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(members.iter().map(MemberRecord))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Member>, D::Error> {
        let members: Vec<MemberIn> = Vec::deserialize(from)?;
        if members.is_empty() {
            Err(D::Error::custom(BadLine::NoMember))
        } else {
            Ok(members.into_iter().map(|member| member.0).collect())
        }
    }
}

mod names_of_member {
    use super::*;

    #[derive(Serialize)]
    struct NamesRecord<'a> {
        path: Name<'a>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        hard_links: Vec<Name<'a>>,
    }

    #[derive(Deserialize)]
    struct NamesIn {
        path: Raw,
        #[serde(default)]
        hard_links: Vec<Raw>,
    }

    pub fn serialize<S: Serializer>(names: &[Vec<u8>], to: S) -> Result<S::Ok, S::Error> {
        let (first, more) = names
            .split_first()
            .map_or((&[][..], &[][..]), |it| (it.0, it.1));
        let (path, hard_links) = (Name::new(first), Name::all(more));
        NamesRecord { path, hard_links }.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let read = NamesIn::deserialize(from)?;
        let names = [read.path].into_iter().chain(read.hard_links);
        let names: Result<_, BadLine> = names.map(|name| checked_name(name.0)).collect();
        names.map_err(D::Error::custom)
    }
}

#[derive(Serialize)]
pub struct SummaryRecord<'a> {
    incomplete: bool,
    #[serde(flatten)]
    summary: &'a Summary,
    unread_files: u64,
    unread_bytes: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_files: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_bytes: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_by_mtime_files: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_by_mtime_bytes: u64,
}

impl<'a> SummaryRecord<'a> {
    pub fn new(summary: &'a Summary) -> Self {
        Self {
            incomplete: summary.is_incomplete(),
            summary,
            unread_files: summary.unread.files,
            unread_bytes: summary.unread.bytes,
            cached_files: summary.cached.files,
            cached_bytes: summary.cached.bytes,
            cached_by_mtime_files: summary.cached_by_mtime.files,
            cached_by_mtime_bytes: summary.cached_by_mtime.bytes,
        }
    }
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// How the objects of a report are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One document.
    Document,
    /// One object a line, told apart by their `type`.
    Lines,
}

/// Writes the objects of a report: first what begins it, then any number of items, last what ends it.
#[derive(Debug)]
pub struct Objects<'o> {
    layout: Layout,
    /// The type of an item.
    item: &'o str,
    /// The key of the items in a document.
    items: &'o str,
    any_item: bool,
}

impl<'o> Objects<'o> {
    /// The type of an item, and the key of all items in a document.
    pub fn new(layout: Layout, item: &'o str, items: &'o str) -> Self {
        Self {
            layout,
            item,
            items,
            any_item: false,
        }
    }

    /// How the objects are put together.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Writes the object with this type, or key.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn begin(&self, out: &mut dyn Write, key: &str, record: &impl Serialize) -> io::Result<()> {
        match self.layout {
            Layout::Lines => write_line(out, key, record),
            Layout::Document => self.begin_document(out, &Keyed(key, record)),
        }
    }

    /// Writes the first keys of a document.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn begin_document(&self, out: &mut dyn Write, keys: &impl Serialize) -> io::Result<()> {
        let mut head = Vec::new();
        write_json(&mut head, keys)?;
        head.pop();
        out.write_all(&head)?;
        write!(out, ",\n\"{}\":[", self.items)
    }

    /// Writes one item.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn item(&mut self, out: &mut dyn Write, record: &impl Serialize) -> io::Result<()> {
        if self.layout == Layout::Lines {
            return write_line(out, self.item, record);
        }
        out.write_all(if self.any_item { b",\n" } else { b"\n" })?;
        self.any_item = true;
        write_json(out, record)
    }

    /// Writes the object with this type, or key.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn end(&self, out: &mut dyn Write, key: &str, record: &impl Serialize) -> io::Result<()> {
        match self.layout {
            Layout::Lines => write_line(out, key, record),
            Layout::Document => self.end_document(out, &Keyed(key, record)),
        }
    }

    /// Writes the last keys of a document.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn end_document(&self, out: &mut dyn Write, keys: &impl Serialize) -> io::Result<()> {
        let mut tail = Vec::new();
        write_json(&mut tail, keys)?;
        out.write_all(if tail == b"{}" { b"\n]" } else { b"\n],\n" })?;
        out.write_all(&tail[1..])?;
        out.write_all(b"\n")
    }
}

/// An object with one key.
pub(super) struct Keyed<'a, T>(pub &'a str, pub &'a T);

impl<T: Serialize> Serialize for Keyed<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map([(self.0, self.1)])
    }
}

fn write_line(out: &mut dyn Write, key: &str, record: &impl Serialize) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a, T: Serialize> {
        r#type: &'a str,
        #[serde(flatten)]
        record: &'a T,
    }
    let r#type = key;
    write_json(out, &Line { r#type, record })?;
    out.write_all(b"\n")
}

/// Writes one document with the keys that all have.
///
/// # Errors
/// Those of `out`.
pub fn write_document(
    out: &mut dyn Write,
    format: &str,
    schema: u32,
    keys: &impl Serialize,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a, T: Serialize> {
        format: &'a str,
        schema: u32,
        version: &'a str,
        #[serde(flatten)]
        keys: &'a T,
    }
    let document = Document {
        format,
        schema,
        version: env!("CARGO_PKG_VERSION"),
        keys,
    };
    write_json(out, &document)?;
    out.write_all(b"\n")
}

/// Writes one object on one line, without the line's end.
///
/// # Errors
/// Those of `out`.
pub fn write_json(out: &mut dyn Write, record: &impl Serialize) -> io::Result<()> {
    // A virtual call for each of the many small pieces took a third of the time of a million members.
    let mut gathered = BufWriter::with_capacity(1 << 15, out);
    record.serialize(&mut serde_json::Serializer::with_formatter(
        &mut gathered,
        Printable,
    ))?;
    gathered.into_inner().map_err(IntoInnerError::into_error)?;
    Ok(())
}

/// Compact JSON that is safe on a terminal.
///
/// JSON wants only the first 32 control characters escaped; the others that a terminal obeys or
/// cannot show are escaped as well, which no JSON reader notices.
struct Printable;

impl Formatter for Printable {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        if is_printable(fragment) {
            return out.write_all(fragment.as_bytes());
        }
        let mut plain = 0;
        for (at, c, _) in characters(fragment).filter(|&(_, _, stays)| !stays) {
            out.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[plain..])
    }
}
