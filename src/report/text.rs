//! The default format: for people, and safe to edit and to read back.
//!
//! ```text
//! 4.2 MB (4194304 bytes) * 2, reclaimable 4.2 MB (4194304 bytes), blake3 9f86d081…
//!   1 * photos/IMG_1.jpg
//!   2   backup/IMG_1.jpg
//!   2 = backup/again.jpg
//! ```
//!
//! Unique files are a list: one path a line. It has no sizes, so it is not read back.
//!
//! On a terminal (`Style::on_terminal`) the exact sizes and the comments that a reader needs are left out, and a long
//! set is folded.
//!
//! Names of one inode carry one number. So a line can be taken out without the lines around it
//! changing their meaning: were further names only indented below the first, taking out that
//! first line would hand them to the file above.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::mem;

use super::alike;
use super::bare::bare_names;
use super::escape::escape;
use super::{BOLD, FAINT, Header, Raw, Report, SCHEMA, Style, write_json};
use crate::decide::{DuplicateSet, Summary};
use crate::units::{Bytes, count, plural, push_number};

const GREEN: &str = "\x1b[32m";

/// Names that are shown of a long set on a terminal.
const SHOWN: usize = 10;

/// Bytes of a set that are written at once.
const PORTION: usize = 1 << 14;

/// Writes sets as paragraphs.
pub struct Text {
    style: Style,
    /// Only unique files are reported: one path a line.
    is_list: bool,
    every_name: bool,
    any_set: bool,
    folded_sets: u64,
    /// The set that is being written. A string takes text several times faster than a writer behind a pointer.
    text: String,
}

impl Text {
    pub fn new(style: &Style) -> Self {
        Self {
            style: *style,
            is_list: false,
            every_name: false,
            any_set: false,
            folded_sets: 0,
            text: String::new(),
        }
    }

    fn head(&self, out: &mut String, set: &DuplicateSet) {
        let (bold, plain) = self.style.paint(BOLD);
        if self.any_set || !self.style.on_terminal {
            out.push('\n');
        }
        out.push_str(bold);
        self.push_size(set.size, out);
        out.push_str(" * ");
        push_number(set.replicas, out);
        out.push_str(plain);
        out.push_str(", reclaimable ");
        self.push_size(set.reclaimable, out);
        if let Some(digest) = set.digest {
            // Writing to a string cannot fail.
            let _ = write!(out, ", blake3 {digest}{}", mark(set));
        }
        out.push('\n');
    }

    /// Appends a size, rounded, and exact where it may be read back.
    fn push_size(&self, size: u64, out: &mut String) {
        Bytes(size).push_to(out);
        if self.style.on_terminal {
            return;
        }
        out.push_str(" (");
        push_number(size, out);
        out.push_str(plural(size, " byte)", " bytes)"));
    }

    /// A line with the name of the member with this number.
    fn name(&self, out: &mut String, number: u64, mark: Mark, name: &[u8]) {
        let (mark, (color, plain)) = match mark {
            Mark::Stays => (" * ", self.style.paint(GREEN)),
            Mark::File => ("   ", ("", "")),
            Mark::HardLink => (" = ", self.style.paint(FAINT)),
        };
        out.push_str(if number < 10 { "  " } else { " " });
        push_number(number, out);
        out.push_str(mark);
        out.push_str(color);
        out.push_str(&escape(name));
        out.push_str(plain);
        out.push('\n');
    }

    /// A set of files that are not equal: it is not read back.
    fn alike(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        let mut text = String::new();
        let contents = set.alike.iter().map(|alike| alike.content + 1).max();
        let _ = write!(
            text,
            "the same but for tags * {}, reclaimable ",
            contents.unwrap_or(0)
        );
        self.push_size(set.reclaimable, &mut text);
        text.push('\n');
        let mut shown = 0;
        let described = alike::describe(&set.alike.iter().collect::<Vec<_>>());
        for ((member, alike), said) in set.members.iter().zip(&set.alike).zip(described) {
            let number = u64::from(alike.content) + 1;
            let is_copy = number <= shown;
            shown = shown.max(number);
            for (nth, name) in (0..).zip(&member.names) {
                let mark = match Mark::of(number, nth) {
                    Mark::Stays if is_copy => Mark::File,
                    mark => mark,
                };
                self.name(&mut text, number, mark, name);
            }
            if !is_copy {
                let _ = writeln!(text, "      {}", escape(said.as_bytes()));
            }
        }
        self.apart(out, &text)
    }

    /// A set of files that are only probably equal: it is not read back.
    fn probable(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        let mut text = String::new();
        self.push_size(set.size, &mut text);
        let _ = write!(text, " * {}, probably equal: ", set.replicas);
        text.push_str("length, first and last bytes agree\n");
        for (number, member) in (1..).zip(&set.members) {
            for (nth, name) in (0..).zip(&member.names) {
                self.name(&mut text, number, Mark::of(number, nth), name);
            }
        }
        text.extend(ambiguous(set));
        self.apart(out, &text)
    }

    /// Writes lines that are not read back.
    fn apart(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        out.write_all(b"\n")?;
        if self.style.on_terminal {
            return out.write_all(text.as_bytes());
        }
        text.lines().try_for_each(|line| self.comment(out, line))
    }

    /// The paths of a file that is unique, or is under one path only.
    fn list(&self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        let members = set.members.iter();
        for name in members.flat_map(|member| bare_names(member, self.every_name)) {
            // Else it would be a comment.
            let start = if name.starts_with(b"#") { "./" } else { "" };
            writeln!(out, "{start}{}", escape(name))?;
        }
        Ok(())
    }

    /// The summary follows, on the same terminal.
    fn end_on_terminal(&self, out: &mut dyn Write) -> io::Result<()> {
        let hint = self.style.of_folded;
        if self.folded_sets > 0 && !hint.is_empty() {
            self.comment(out, hint)?;
        }
        if self.any_set {
            out.write_all(b"\n")
        } else {
            Ok(())
        }
    }

    fn comment(&self, out: &mut dyn Write, comment: &str) -> io::Result<()> {
        self.style.comment(out, "", comment)
    }
}

/// What is said of a name.
#[derive(Clone, Copy)]
enum Mark {
    Stays,
    File,
    /// A further name of the same file.
    HardLink,
}

impl Mark {
    /// Of a name of the member with this number, which has `nth` names before it.
    fn of(number: u64, nth: u64) -> Self {
        match (number, nth) {
            (1, 0) => Self::Stays,
            (_, 0) => Self::File,
            _ => Self::HardLink,
        }
    }
}

impl Report for Text {
    fn begin(&mut self, out: &mut dyn Write, header: &Header) -> io::Result<()> {
        self.is_list = header.options.is_of_unique_files();
        self.every_name = header.options.hard_links;
        if self.style.on_terminal {
            return Ok(());
        }
        let version = escape(header.version.as_bytes());
        self.comment(
            out,
            &format!("seekless {version} report, text, schema {SCHEMA}"),
        )?;
        self.comment(out, &format!("command: {}", words(&header.command)))?;
        let mut json = HEADER.to_vec();
        write_json(&mut json, header)?;
        self.comment(out, &String::from_utf8_lossy(&json))?;
        if self.is_list {
            return Ok(());
        }
        self.comment(
            out,
            "* is kept unless a rule or sidecar files prefer another; = is a hard link to the file with that number; \
            delete a line to leave its file alone",
        )
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        if self.is_list {
            self.any_set = true;
            return self.list(out, set);
        }
        if !set.alike.is_empty() {
            return self.alike(out, set);
        }
        if set.probable {
            return self.probable(out, set);
        }
        let mut text = mem::take(&mut self.text);
        text.clear();
        self.head(&mut text, set);
        self.any_set = true;
        let all = set.members.iter().map(|member| member.names.len()).sum();
        // What is folded takes a line, too.
        let folds = self.style.on_terminal && all > SHOWN + 1;
        let shown = if folds { SHOWN } else { all };
        let numbered = (1..).zip(&set.members);
        let names = numbered
            .flat_map(|(number, member)| (0..).zip(&member.names).map(move |name| (number, name)));
        for (number, (nth, name)) in names.take(shown) {
            self.name(&mut text, number, Mark::of(number, nth), name);
            // A set may have a million names.
            if text.len() >= PORTION {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        out.write_all(text.as_bytes())?;
        self.text = text;
        if shown < all {
            self.folded_sets += 1;
            let (faint, plain) = self.style.paint(FAINT);
            let more = count((all - shown) as u64);
            writeln!(out, "      {faint}… and {more} more{plain}")?;
        }
        let said = ambiguous(set);
        said.map_or(Ok(()), |said| self.comment(out, &said))
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        if self.style.on_terminal {
            return self.end_on_terminal(out);
        }
        let state = if summary.interrupted {
            "interrupted"
        } else if summary.is_incomplete() {
            "incomplete"
        } else {
            "complete"
        };
        if !self.is_list {
            out.write_all(b"\n")?;
        }
        self.comment(
            out,
            &format!(
                "{state}: sets {}, redundant files {}, reclaimable {}",
                summary.sets,
                summary.redundant_files,
                Bytes(summary.reclaimable)
            ),
        )
    }
}

/// Begins the comment with the header, which is that of JSON.
pub const HEADER: &[u8] = b"header: ";

/// Tells a digest that was not computed in this run.
pub const CACHED: &str = " (cached)";

/// The files of a set that may be one.
fn ambiguous(set: &DuplicateSet) -> Option<String> {
    let numbered = (1..).zip(&set.members);
    let which = numbered.filter(|(_, member)| member.ambiguous);
    let which: Vec<String> = which.map(|(number, _)| number.to_string()).collect();
    (!which.is_empty()).then(|| {
        let which = which.join(", ");
        format!("{which} may be one file: the file system cannot tell them apart")
    })
}

fn mark(set: &DuplicateSet) -> &'static str {
    if set.cached { CACHED } else { "" }
}

/// Arguments in one line; a space inside one is escaped so that they can be told apart.
fn words(arguments: &[Raw]) -> String {
    let escaped: Vec<String> = arguments
        .iter()
        .map(|word| escape(word).replace(' ', "\\x20"))
        .collect();
    escaped.join(" ")
}
