//! A table as in RFC 4180: one row for each entry.

use std::io::{self, Write};

use crate::compare::{EntryPlace, Mark};
use crate::report::csv::{push_path, push_quoted};

use super::Shown;

pub fn write(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tree = shown.comparison.tree();
    write!(
        out,
        "sign,side,kind,size,files,path,encoding,other_path,other_encoding,reason"
    )?;
    for side in 0..shown.comparison.sides.len() {
        write!(out, ",on_{side}")?;
    }
    if tree.has_metadata() {
        write!(out, ",other_metadata")?;
    }
    write!(out, "\r\n")?;
    let mut row = String::new();
    for line in shown.lines() {
        row.clear();
        if shown.has_two_sides() {
            // Spreadsheets take a bare sign for a formula.
            push_quoted(&mut row, &format!("'{}", line.sign()));
        }
        let (size, files) = match line.place {
            EntryPlace::Name(name) => (tree.size(tree.file_of(name)).to_string(), String::new()),
            EntryPlace::Folder(_, files, bytes) => (bytes.to_string(), files.to_string()),
            EntryPlace::EmptyFolder(_) => ("0".to_owned(), "0".to_owned()),
            EntryPlace::Other(_) => Default::default(),
        };
        row.push_str(&format!(
            ",{},{},{size},{files},",
            line.side,
            shown.kind(line)
        ));
        push_path(&mut row, &shown.path(line));
        row.push(',');
        let moved = line.marks.iter().find_map(|mark| match mark {
            Mark::Moved(to) => Some(*to),
            _ => None,
        });
        match moved {
            Some(to) => push_path(&mut row, &shown.path_of_name(to)),
            None => row.push(','),
        }
        row.push(',');
        push_quoted(&mut row, line.reason().unwrap_or_default());
        for side in 0..line.marks.len() as u32 {
            row.push(',');
            row.push_str(shown.word(line, side));
        }
        if tree.has_metadata() {
            row.push(',');
            row.push_str(&shown.differing(line).join(" "));
        }
        row.push_str("\r\n");
        out.write_all(row.as_bytes())?;
    }
    Ok(())
}
