//! A table as in RFC 4180: one row for each entry.

use std::io::{self, Write};

use crate::report::csv::{push_path, push_quoted};

use super::Shown;
use super::row::Row;

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
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let mut text = String::new();
    for line in shown.lines() {
        let row = Row::of(shown, line);
        text.clear();
        if let Some(sign) = row.sign {
            // Spreadsheets take a bare sign for a formula.
            push_quoted(&mut text, &format!("'{sign}"));
        }
        let (size, files) = (number(row.size), number(row.files));
        text.push_str(&format!(",{},{},{size},{files},", row.side, row.kind));
        push_path(&mut text, &row.path);
        text.push(',');
        match row.at.iter().flatten().next() {
            Some(other) => push_path(&mut text, other),
            None => text.push(','),
        }
        text.push(',');
        push_quoted(&mut text, row.reason.unwrap_or_default());
        for word in row.on {
            text.push(',');
            text.push_str(word);
        }
        if tree.has_metadata() {
            text.push(',');
            text.push_str(&row.other_metadata.join(" "));
        }
        text.push_str("\r\n");
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}
