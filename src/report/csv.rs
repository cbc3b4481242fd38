//! A table as in RFC 4180: one row for each name, lines end in CR LF.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use super::printable::is_printable;
use super::{Header, Report, escape, time};
use crate::decide::{DuplicateSet, Member, Summary};

/// The first row.
const COLUMNS: &str = "set,file,replicas,size,digest,reclaimable,path,encoding,\
                           mtime,dev,ino,links,allocated,disk,root,cached,same";

/// Writes rows; counts the sets.
#[derive(Default)]
pub struct Csv {
    sets: u64,
    cells: Cells,
}

impl Report for Csv {
    fn begin(&mut self, out: &mut dyn Write, _: &Header) -> io::Result<()> {
        write!(out, "{COLUMNS}\r\n")
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        self.sets += 1;
        for (number, member) in (1..).zip(&set.members) {
            for name in &member.names {
                self.name(set, (number, member), name);
                self.cells.end(out)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

impl Csv {
    fn name(&mut self, set: &DuplicateSet, (number, member): (u64, &Member), name: &[u8]) {
        let cells = &mut self.cells;
        cells.cell(self.sets);
        cells.cell(number);
        cells.cell(set.replicas);
        let alike = set.alike.get(number as usize - 1);
        cells.cell(alike.map_or(set.size, |alike| alike.size));
        cells.maybe(set.digest);
        cells.cell(set.reclaimable);
        cells.path(name);
        cells.cell(time::rfc3339(member.mtime_ns));
        cells.cell(member.dev);
        cells.cell(member.ino);
        cells.cell(member.links);
        cells.cell(member.allocated);
        cells.text(&member.disk);
        cells.cell(member.root);
        cells.cell(if set.cached { "true" } else { "" });
        cells.cell(match alike {
            Some(_) => "picture",
            None if set.probable => "samples",
            None => "content",
        });
    }
}

/// The cells of one row.
#[derive(Default)]
struct Cells {
    text: String,
    is_begun: bool,
}

impl Cells {
    /// Adds a number or a word.
    fn cell(&mut self, value: impl Display) {
        self.begin();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
    }

    /// Adds a number or a word, if there is one.
    fn maybe(&mut self, value: Option<impl Display>) {
        match value {
            Some(value) => self.cell(value),
            None => self.begin(),
        }
    }

    /// Adds any text; it is escaped if it is not printable.
    fn text(&mut self, text: &str) {
        if is_printable(text) {
            self.quoted(text)
        } else {
            self.quoted(&escape::escape(text.as_bytes()))
        }
    }

    /// Adds a path and, in a cell of its own, how to read it.
    ///
    /// Spreadsheets stumble over control characters even inside quotes, and invalid UTF-8 spoils the
    /// whole table; such names are escaped, and only such names.
    fn path(&mut self, name: &[u8]) {
        let name = no_formula(name);
        match str::from_utf8(&name) {
            Ok(text) if is_printable(text) => {
                self.quoted(text);
                self.cell("text");
            }
            _ => {
                self.quoted(&escape::escape(&name));
                self.cell("escaped");
            }
        }
    }

    /// Writes the row, and begins a new one.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.text.push_str("\r\n");
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.is_begun = false;
        Ok(())
    }

    fn quoted(&mut self, text: &str) {
        self.begin();
        let text = text.replace('"', "\"\"");
        let _ = write!(self.text, "\"{text}\"");
    }

    fn begin(&mut self) {
        if self.is_begun {
            self.text.push(',');
        }
        self.is_begun = true;
    }
}

/// Spreadsheets take a cell for a formula that begins like one, also in quotes, and some behind spaces. With `./` it
/// is the name of the same file.
fn no_formula(name: &[u8]) -> Cow<'_, [u8]> {
    let text = name.trim_ascii_start();
    let mut starts = ["=", "+", "-", "@", "＝", "＋", "－", "＠"].into_iter();
    if starts.any(|start| text.starts_with(start.as_bytes())) {
        Cow::Owned([b"./", name].concat())
    } else {
        Cow::Borrowed(name)
    }
}
