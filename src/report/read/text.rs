//! Reads the text format, with whatever lines its user took out.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::LazyLock;

use regex::Regex;

use super::{BadLine, Each, Ending, Frame, ReadError, ReadSet};
use crate::decide::{DuplicateSet, Member};
use crate::hash::ContentDigest;
use crate::report::SCHEMA;
use crate::report::bad_line::checked_name;
use crate::report::escape::unescape;
use crate::report::text::{CACHED, HEADER};

/// The line that a user can append if the report is complete.
const END: &str = "# interrupted: ended by hand";

/// Reads what `text` wrote and somebody edited.
pub fn read(mut input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut reader = Reader::default();
    let mut bytes = Vec::new();
    let mut line = 0;
    while input.read_until(b'\n', &mut bytes)? > 0 {
        line += 1;
        if bytes.ends_with(b"\n") {
            bytes.pop();
            bytes.pop_if(|last| *last == b'\r');
        } else if !bytes.trim_ascii().is_empty() {
            // A name may have lost its end, and then be another file's name.
            return Err(ReadError::CutOff(line));
        }
        reader.take(&bytes, each).map_err(|reason| {
            if !reader.is_report && reason == BadLine::NoSet {
                ReadError::OtherFormat
            } else {
                ReadError::at(line, reason)
            }
        })?;
        bytes.clear();
    }
    if !reader.is_report {
        return Err(ReadError::OtherFormat);
    }
    reader.finish_set(each);
    reader.frame.whole(line, END)
}

#[derive(Default)]
struct Reader {
    frame: Frame,
    any_set: bool,
    /// A line was read that only reports have.
    is_report: bool,
    set: Option<OpenSet>,
}

impl Reader {
    fn take(&mut self, line: &[u8], each: Each<'_>) -> Result<(), BadLine> {
        if line.contains(&0x1b) {
            return Err(BadLine::Colored);
        }
        let trimmed = line.trim_ascii_start();
        let header = self.frame.header.as_ref();
        match (trimmed.first(), line.first()) {
            (None, _) => Ok(()),
            (Some(b'#'), _) => self.comment(trimmed[1..].trim_ascii_start()),
            (_, Some(b' ' | b'\t')) => self.set.as_mut().ok_or(BadLine::NoSetYet)?.file(trimmed),
            _ if header.is_some_and(|header| header.options.is_of_unique_files()) => {
                Err(BadLine::Unique)
            }
            _ => {
                self.finish_set(each);
                // What follows the end has none.
                self.frame.ending = Ending::Unsaid;
                self.any_set = true;
                self.set = Some(OpenSet::parse(line)?);
                self.is_report = true;
                Ok(())
            }
        }
    }

    fn finish_set(&mut self, each: Each<'_>) {
        if let Some(set) = self.set.take().and_then(OpenSet::finish) {
            each(self.frame.header.as_ref(), set);
        }
    }

    fn comment(&mut self, comment: &[u8]) -> Result<(), BadLine> {
        let begins = |word: &str| comment.starts_with(word.as_bytes());
        if let Some(schema) = schema(comment) {
            if self.is_report {
                return Err(BadLine::Second);
            }
            if schema != SCHEMA {
                return Err(BadLine::Schema(schema));
            }
            self.is_report = true;
        } else if begins("complete: ") {
            self.is_report = true;
            self.frame.ending = Ending::Complete;
        } else if begins("interrupted: ") || begins("incomplete: ") {
            self.is_report = true;
            self.frame.ending = Ending::Interrupted;
        } else if let (Some(header), false) = (comment.strip_prefix(HEADER), self.any_set) {
            let header = serde_json::from_slice(header);
            let header = header.map_err(|error| BadLine::Shape(error.to_string()))?;
            self.frame.header = Some(header);
        }
        Ok(())
    }
}

/// `seekless VERSION report, text, schema N`
fn schema(comment: &[u8]) -> Option<u32> {
    let comment = str::from_utf8(comment).ok()?.strip_prefix("seekless ")?;
    let (_, schema) = comment.split_once(" report, text, schema ")?;
    schema.trim_ascii_end().parse().ok()
}

/// `4.2 MB (4194304 bytes) * 3, reclaimable 8.4 MB (8388608 bytes), blake3 9f86…`; without a digest, the line ends
/// before it.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    let head = [
        r"^[^(]* \((?<size>\d+) bytes?\) \* (?<replicas>\d+), ",
        r"reclaimable [^(]* \((?<reclaimable>\d+) bytes?\)",
        r"(, blake3 (?<digest>\w+)(?<cached>",
        &regex::escape(CACHED),
        r")?)?\s*$",
    ];
    Regex::new(&head.concat()).expect("a constant pattern")
});

/// A set whose files are being read.
struct OpenSet {
    read: ReadSet,
    /// The number of a file → its place among the members.
    places: HashMap<u64, usize>,
    /// One of the marks stands where no report has it.
    is_moved: bool,
}

impl OpenSet {
    fn parse(line: &[u8]) -> Result<Self, BadLine> {
        let line = str::from_utf8(line).map_err(|_| BadLine::NoSet)?;
        let head = HEAD.captures(line).ok_or(BadLine::NoSet)?;
        let number = |part: &str| head[part].parse().map_err(|_| BadLine::NoSet);
        let digest = head.name("digest").map(|hex| hex.as_str().to_owned());
        Ok(Self {
            read: ReadSet {
                set: DuplicateSet {
                    alike: Vec::new(),
                    probable: false,
                    size: number("size")?,
                    digest: digest.map(ContentDigest::try_from).transpose()?,
                    cached: head.name("cached").is_some(),
                    replicas: number("replicas")?,
                    reclaimable: number("reclaimable")?,
                    members: Vec::new(),
                },
                has_facts: false,
                marked: Vec::new(),
            },
            places: HashMap::new(),
            is_moved: false,
        })
    }

    fn file(&mut self, line: &[u8]) -> Result<(), BadLine> {
        let (number, mark, name) = file_parts(line).ok_or(BadLine::NoFile)?;
        let name = checked_name(unescape(name)?)?;
        let members = &mut self.read.set.members;
        match (self.places.get(&number), mark) {
            (Some(&place), b'=') => members[place].names.push(name),
            (Some(_), _) => return Err(BadLine::Twice(number)),
            (None, _) => {
                let place = members.len();
                self.places.insert(number, place);
                members.push(Member {
                    names: vec![name],
                    ..Member::default()
                });
                if mark == b'*' {
                    self.read.marked.push(place);
                    // Reports are written with it on the first file, and count from 1.
                    self.is_moved |= place > 0 || number != 1;
                }
            }
        }
        Ok(())
    }

    /// The set, unless all its files were taken out.
    fn finish(self) -> Option<ReadSet> {
        let mut read = self.read;
        match read.marked.first_mut() {
            Some(first) if self.is_moved => {
                read.set.members[..=*first].rotate_right(1);
                *first = 0;
            }
            _ => read.marked.clear(),
        }
        (!read.set.members.is_empty()).then_some(read)
    }
}

/// `2 = backup/again.jpg`
fn file_parts(line: &[u8]) -> Option<(u64, u8, &[u8])> {
    let digits = line.iter().position(|b| !b.is_ascii_digit())?;
    let number = str::from_utf8(&line[..digits]).ok()?.parse().ok()?;
    match &line[digits..] {
        [b' ', mark @ (b'*' | b'=' | b' '), b' ', name @ ..] => Some((number, *mark, name)),
        _ => None,
    }
}
