//! Reads the text format, with whatever lines its user took out.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::LazyLock;

use regex::Regex;

use super::{BadLine, Each, Ending, Frame, ReadError, ReadSet, bad_line, each_line, first_line};
use crate::decide::{DuplicateSet, Member};
use crate::hash::ContentDigest;
use crate::report::bad_line::checked_name;
use crate::report::escape::unescape;
use crate::report::text::{CACHED, SIDECARS};
use crate::report::{Header, Options, SCHEMA, time};

/// The line that a user can append if the report is complete.
const END: &str = "# interrupted: ended by hand";

/// Reads what `text` wrote and somebody edited.
pub fn read(mut input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut reader = Reader::default();
    let line = each_line(&mut input, true, |line, bytes| {
        reader.take(bytes, each).map_err(|reason| {
            if !reader.is_report && reason == BadLine::NoSet {
                return ReadError::OtherFormat;
            }
            bad_line(line)(reason)
        })?;
        match reader.schema {
            Some(other) if other != SCHEMA => Err(ReadError::Schema(other)),
            _ => Ok(()),
        }
    })?;
    if !reader.is_report {
        return Err(ReadError::OtherFormat);
    }
    reader.finish_set(each);
    if reader.ending == Ending::Unsaid {
        return Err(ReadError::NoEnd { line, wanted: END });
    }
    Ok(Frame {
        header: if reader.any_set {
            reader.known
        } else {
            reader.header.complete()
        },
        ending: reader.ending,
    })
}

#[derive(Default)]
struct Reader {
    schema: Option<u32>,
    header: PartialHeader,
    /// The header as it was when the first set came.
    known: Option<Header>,
    any_set: bool,
    /// A line was read that only reports have.
    is_report: bool,
    set: Option<OpenSet>,
    ending: Ending,
}

impl Reader {
    fn take(&mut self, line: &[u8], each: Each<'_>) -> Result<(), BadLine> {
        if line.contains(&0x1b) {
            return Err(BadLine::Colored);
        }
        let trimmed = line.trim_ascii_start();
        match (trimmed.first(), line.first()) {
            (None, _) => Ok(()),
            (Some(b'#'), _) => self.comment(trimmed[1..].trim_ascii_start()),
            (_, Some(b' ' | b'\t')) => self.set.as_mut().ok_or(BadLine::NoSetYet)?.file(trimmed),
            _ if self.header.header.options.is_of_unique_files() => Err(BadLine::Unique),
            _ => {
                self.finish_set(each);
                // What follows the end has none.
                self.ending = Ending::Unsaid;
                if !self.any_set {
                    self.any_set = true;
                    self.known = std::mem::take(&mut self.header).complete();
                }
                self.set = Some(OpenSet::parse(line)?);
                self.is_report = true;
                Ok(())
            }
        }
    }

    fn finish_set(&mut self, each: Each<'_>) {
        if let Some(set) = self.set.take().and_then(OpenSet::finish) {
            each(self.known.as_ref(), set);
        }
    }

    fn comment(&mut self, comment: &[u8]) -> Result<(), BadLine> {
        if let Some((version, schema)) = first_line(comment, "report") {
            if self.any_set || self.schema.is_some() {
                return Err(BadLine::Second);
            }
            self.schema = Some(schema);
            self.is_report = true;
            self.header.header.version = version;
            return Ok(());
        }
        if comment.starts_with(b"complete: ") {
            self.is_report = true;
            self.ending = Ending::Complete;
        } else if [&b"interrupted: "[..], b"incomplete: "]
            .iter()
            .any(|state| comment.starts_with(state))
        {
            self.is_report = true;
            self.ending = Ending::Interrupted;
        } else if let (Some(set), true) = (&mut self.set, comment == SIDECARS.as_bytes()) {
            set.read.set.sidecars = true;
        } else if self.schema.is_some() && !self.any_set {
            self.header.line(comment)?;
        }
        Ok(())
    }
}

/// The header as far as its lines are still there.
#[derive(Default)]
struct PartialHeader {
    header: Header,
    is_dated: bool,
}

impl PartialHeader {
    fn line(&mut self, comment: &[u8]) -> Result<(), BadLine> {
        if let Some(words) = comment.strip_prefix(b"command: ") {
            let words = words.split(|&b| b == b' ').map(unescape);
            self.header.command = words.collect::<Result<_, _>>()?;
        } else if let Some(folder) = comment.strip_prefix(b"folder: ") {
            self.header.folder = unescape(folder)?;
        } else if let Some(root) = comment.strip_prefix(b"root: ") {
            self.header.roots.push(unescape(root)?);
        } else if let Some(started) = comment.strip_prefix(b"started: ") {
            let started = String::from_utf8_lossy(started.trim_ascii());
            let ns = time::from_rfc3339(&started);
            self.header.started_ns = ns.ok_or_else(|| BadLine::Time(started.into_owned()))?;
            self.is_dated = true;
        } else if let Some(words) = comment.strip_prefix(b"options: ") {
            self.header.options = options(&String::from_utf8_lossy(words))?;
        }
        Ok(())
    }

    /// Without the folder, names relative to it would be taken for others.
    fn complete(self) -> Option<Header> {
        let Header {
            version, folder, ..
        } = &self.header;
        let is_complete = self.is_dated && !version.is_empty() && !folder.is_empty();
        is_complete.then_some(self.header)
    }
}

fn options(words: &str) -> Result<Options, BadLine> {
    let mut options = Options::default();
    for word in words.split_ascii_whitespace() {
        let unknown = || BadLine::Option(word.to_owned());
        match word.split_once('=') {
            None => match word {
                "hard_links" => options.hard_links = true,
                "isolate" => options.isolate = true,
                "follow_links" => options.follow_links = true,
                "verify" => options.verify = true,
                _ => return Err(unknown()),
            },
            Some(("newer", time)) => {
                let ns = time::from_rfc3339(time).ok_or_else(unknown)?;
                options.newer_ns = Some(ns);
            }
            Some(("copies", copies)) => {
                options.copies = copies.parse().map_err(|_| unknown())?;
            }
            Some(_) => return Err(unknown()),
        }
    }
    Ok(options)
}

/// `4.2 MB (4194304 bytes) * 3, reclaimable 8.4 MB (8388608 bytes), blake3 9f86…`; without a digest, the line ends before
/// it.
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
                    size: number("size")?,
                    digest: digest.map(ContentDigest::try_from).transpose()?,
                    cached: head.name("cached").is_some(),
                    sidecars: false,
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
