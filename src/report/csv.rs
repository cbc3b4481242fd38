//! A table as in RFC 4180: one row for each name, lines end in CR LF.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::printable::is_printable;
use super::{Header, Report, escape, time};
use crate::decide::{DuplicateSet, Member, Summary};

const COLUMNS: &str = "set,file,replicas,size,digest,reclaimable,path,encoding,\
                       mtime,dev,ino,links,allocated,disk,root,cached";

/// Writes rows; counts the sets.
#[derive(Default)]
pub struct Csv {
    sets: u64,
    row: String,
    facts: String,
}

impl Report for Csv {
    fn begin(&mut self, out: &mut dyn Write, _: &Header) -> io::Result<()> {
        write!(out, "{COLUMNS}\r\n")
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        if set.sidecars {
            return Ok(());
        }
        self.sets += 1;
        let digest = set.digest.map(|digest| digest.to_string());
        let of_set = format!(
            "{},{},{},{}",
            set.replicas,
            set.size,
            digest.unwrap_or_default(),
            set.reclaimable
        );
        let (row, facts) = (&mut self.row, &mut self.facts);
        for (index, member) in set.members.iter().enumerate() {
            facts.clear();
            push_facts(facts, member, set.cached);
            for name in &member.names {
                row.clear();
                // Writing to a string cannot fail.
                let _ = write!(row, "{},{},{of_set},", self.sets, index + 1);
                push_path(row, name);
                row.push_str(facts);
                out.write_all(row.as_bytes())?;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

fn push_facts(to: &mut String, member: &Member, cached: bool) {
    to.push(',');
    time::push_rfc3339(to, member.mtime_ns);
    let (dev, ino, links) = (member.dev, member.ino, member.links);
    let _ = write!(to, ",{dev},{ino},{links},{},", member.allocated);
    push_text(to, &member.disk);
    let cached = if cached { "true" } else { "" };
    let _ = write!(to, ",{},{cached}\r\n", member.root);
}

/// The path and, in a column of its own, how to read it.
///
/// Spreadsheets stumble over control characters even inside quotes, and invalid UTF-8 spoils the
/// whole table; such names are escaped, and only such names.
pub(super) fn push_path(to: &mut String, name: &[u8]) {
    let name = no_formula(name);
    match str::from_utf8(&name) {
        Ok(text) if is_printable(text) => {
            push_quoted(to, text);
            to.push_str(",text");
        }
        _ => {
            push_quoted(to, &escape::escape(&name));
            to.push_str(",escaped");
        }
    }
}

/// Spreadsheets take a cell for a formula that begins like one, also in quotes, and some behind spaces. With `./` it
/// is the name of the same file.
fn no_formula(name: &[u8]) -> Cow<'_, [u8]> {
    let text = name.trim_ascii_start();
    let starts = ["=", "+", "-", "@", "＝", "＋", "－", "＠"];
    if starts
        .iter()
        .any(|start| text.starts_with(start.as_bytes()))
    {
        Cow::Owned([b"./", name].concat())
    } else {
        Cow::Borrowed(name)
    }
}

/// Text of the system, such as the type of a file system that a user mounted; escaped if it is not printable.
fn push_text(to: &mut String, text: &str) {
    if is_printable(text) {
        push_quoted(to, text)
    } else {
        push_quoted(to, &escape::escape(text.as_bytes()))
    }
}

pub(super) fn push_quoted(to: &mut String, field: &str) {
    to.push('"');
    for (nth, part) in field.split('"').enumerate() {
        to.push_str(if nth > 0 { "\"\"" } else { "" });
        to.push_str(part);
    }
    to.push('"');
}
