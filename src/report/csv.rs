//! A table as in RFC 4180: one row for each name, lines end in CR LF.

use std::io::{self, Write};

use super::{Header, Report, escape, time};
use crate::pipeline::{DuplicateSet, Member, Summary};

const COLUMNS: &str = "set,file,replicas,size,digest,reclaimable,path,encoding,\
                       mtime,dev,ino,links,allocated,disk,root";

/// Writes rows; counts the sets.
#[derive(Default)]
pub struct Csv {
    sets: u64,
}

impl Report for Csv {
    fn begin(&mut self, out: &mut dyn Write, _: &Header) -> io::Result<()> {
        write!(out, "{COLUMNS}\r\n")
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        self.sets += 1;
        let digest = set
            .digest
            .map(|digest| digest.to_string())
            .unwrap_or_default();
        for (index, member) in set.members.iter().enumerate() {
            let start = format!(
                "{},{},{},{},{digest},{},",
                self.sets,
                index + 1,
                set.replicas,
                set.size,
                set.reclaimable
            );
            let rest = facts(member);
            for name in &member.names {
                out.write_all(start.as_bytes())?;
                write_path(out, name)?;
                out.write_all(rest.as_bytes())?;
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &mut dyn Write, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}

fn facts(member: &Member) -> String {
    format!(
        ",{},{},{},{},{},{},{}\r\n",
        time::rfc3339(member.mtime_ns),
        member.dev,
        member.ino,
        member.links,
        member.allocated,
        quoted(&member.disk),
        member.root
    )
}

/// The path and, in a column of its own, how to read it.
///
/// Spreadsheets stumble over control characters even inside quotes, and invalid UTF-8 spoils the
/// whole table; such names are escaped, and only such names.
fn write_path(out: &mut dyn Write, name: &[u8]) -> io::Result<()> {
    match str::from_utf8(name) {
        Ok(text) if escape::is_printable(text) => {
            write!(out, "{},text", quoted(text))
        }
        _ => write!(out, "{},escaped", quoted(&escape::escape(name))),
    }
}

fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}
