//! JSON that is safe on a terminal: one document, or one object a line.

use std::io::{self, BufWriter, IntoInnerError, Write};

use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use super::SCHEMA;
use super::printable::{characters, is_printable};

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

/// Writes one object as a line.
pub(super) fn write_line(
    out: &mut dyn Write,
    key: &str,
    record: &impl Serialize,
) -> io::Result<()> {
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

/// The keys that begin each document, and its own.
#[derive(Serialize)]
pub struct Titled<T> {
    format: &'static str,
    schema: u32,
    version: &'static str,
    #[serde(flatten)]
    keys: T,
}

impl<T> Titled<T> {
    /// A document of this format.
    pub fn new(format: &'static str, keys: T) -> Self {
        Self {
            format,
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            keys,
        }
    }
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
