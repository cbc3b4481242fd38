//! Reads the JSON formats one set at a time, so that a report may be longer than the memory.

use std::fmt;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{
    BadLine, Each, Ending, Facts, Frame, LineEnd, ReadError, ReadMember, ReadSet, checked_name,
    digest, next_line,
};
use crate::report::record::{HeaderRecord, Name};
use crate::report::{Header, SCHEMA, time};

/// A line holds a set, and this much some four million members. A longer one is an attack on the memory.
const LONGEST_LINE: u64 = 1 << 30;

/// Reads what `json` wrote.
pub fn read_document(input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut document = Document {
        each,
        format: None,
        schema: None,
        frame: Frame::default(),
    };
    let mut json = serde_json::Deserializer::from_reader(input);
    let read = Object(&mut document)
        .deserialize(&mut json)
        .and_then(|()| json.end());
    match (read, document.schema) {
        (_, Some(other)) if other != SCHEMA => Err(ReadError::Schema(other)),
        (Err(error), _) => Err(json_error(error)),
        (Ok(()), _) => Ok(document.frame),
    }
}

/// Reads what `ndjson` wrote.
pub fn read_lines(mut input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut frame = Frame::default();
    let mut bytes = Vec::new();
    let mut line = 0;
    while let Some(end) = next_line(&mut input, &mut bytes, LONGEST_LINE)? {
        line += 1;
        if let LineEnd::TooLong = end {
            let reason = BadLine::TooLong;
            return Err(ReadError::Line { line, reason });
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let bad = |reason| ReadError::Line { line, reason };
        match serde_json::from_slice(&bytes) {
            Err(error) if error.is_eof() => return Err(ReadError::CutOff(line)),
            Err(error) => return Err(bad(BadLine::Shape(without_place(&error)))),
            Ok(Line::Header { schema, .. }) if schema != SCHEMA => {
                return Err(ReadError::Schema(schema));
            }
            Ok(Line::Header { .. }) if line > 1 => return Err(bad(BadLine::Second)),
            Ok(Line::Header { format, header, .. }) => {
                known_format(&format).map_err(bad)?;
                frame.header = Some(header_of(header).map_err(bad)?);
            }
            Ok(Line::Set(set)) => each(frame.header.as_ref(), set.check().map_err(bad)?),
            Ok(Line::Summary(summary)) => frame.ending = summary.ending(),
        }
    }
    Ok(frame)
}

fn json_error(error: serde_json::Error) -> ReadError {
    if error.is_io() {
        return ReadError::Io(error.into());
    }
    let (line, column) = (error.line(), error.column());
    if error.is_eof() {
        return ReadError::CutOff(line);
    }
    let reason = without_place(&error);
    ReadError::Json {
        line,
        column,
        reason,
    }
}

fn without_place(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    said.strip_suffix(&place).unwrap_or(&said).to_owned()
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Header {
        format: String,
        schema: u32,
        #[serde(flatten)]
        header: HeaderRecord<'static>,
    },
    Set(SetIn),
    Summary(SummaryIn),
}

#[derive(Deserialize)]
struct SummaryIn {
    incomplete: bool,
}

impl SummaryIn {
    fn ending(&self) -> Ending {
        if self.incomplete {
            Ending::Interrupted
        } else {
            Ending::Complete
        }
    }
}

#[derive(Deserialize)]
struct SetIn {
    size: u64,
    digest: Option<String>,
    replicas: u64,
    reclaimable: u64,
    members: Vec<MemberIn>,
}

impl SetIn {
    fn check(self) -> Result<ReadSet, BadLine> {
        if self.members.is_empty() {
            return Err(BadLine::NoMember);
        }
        Ok(ReadSet {
            size: self.size,
            digest: self.digest.as_deref().map(digest).transpose()?,
            replicas: self.replicas,
            reclaimable: self.reclaimable,
            members: self
                .members
                .into_iter()
                .map(MemberIn::check)
                .collect::<Result<_, _>>()?,
        })
    }
}

#[derive(Deserialize)]
struct MemberIn {
    path: Name<'static>,
    #[serde(default)]
    hard_links: Vec<Name<'static>>,
    mtime: String,
    dev: u64,
    ino: u64,
    links: u64,
    allocated: u64,
    disk: String,
    root: u32,
}

impl MemberIn {
    fn check(self) -> Result<ReadMember, BadLine> {
        let names = std::iter::once(self.path).chain(self.hard_links);
        Ok(ReadMember {
            names: names
                .map(|name| checked_name(bytes(name)?))
                .collect::<Result<_, _>>()?,
            facts: Some(Facts {
                dev: self.dev,
                ino: self.ino,
                links: self.links,
                mtime_ns: nanoseconds(self.mtime)?,
                allocated: self.allocated,
                disk: self.disk,
                root: self.root,
            }),
        })
    }
}

fn bytes(name: Name<'_>) -> Result<Vec<u8>, BadLine> {
    name.into_bytes().ok_or(BadLine::Base64)
}

fn nanoseconds(text: String) -> Result<i64, BadLine> {
    time::from_rfc3339(&text).ok_or(BadLine::Time(text))
}

fn header_of(record: HeaderRecord<'_>) -> Result<Header, BadLine> {
    Ok(Header {
        version: record.version.into_owned(),
        command: record
            .command
            .into_iter()
            .map(bytes)
            .collect::<Result<_, _>>()?,
        folder: bytes(record.folder)?,
        roots: record
            .roots
            .into_iter()
            .map(bytes)
            .collect::<Result<_, _>>()?,
        started_ns: nanoseconds(record.started.into_owned())?,
        options: record.options,
    })
}

fn known_format(name: &str) -> Result<(), BadLine> {
    if name == "seekless" {
        Ok(())
    } else {
        Err(BadLine::Foreign)
    }
}

/// What a document has told so far.
struct Document<'a> {
    each: Each<'a>,
    format: Option<String>,
    schema: Option<u32>,
    frame: Frame,
}

/// The document itself; its keys may come in any order and further ones are passed over.
struct Object<'d, 'a>(&'d mut Document<'a>);

impl<'de> DeserializeSeed<'de> for Object<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report of seekless")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let document = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => {
                    let name: String = map.next_value()?;
                    known_format(&name).map_err(A::Error::custom)?;
                    document.format = Some(name);
                }
                "schema" => {
                    let schema = map.next_value()?;
                    document.schema = Some(schema);
                    if schema != SCHEMA {
                        return Err(A::Error::custom(ReadError::Schema(schema)));
                    }
                }
                "header" => {
                    let header = header_of(map.next_value()?).map_err(A::Error::custom)?;
                    document.frame.header = Some(header);
                }
                "sets" => map.next_value_seed(Sets {
                    header: document.frame.header.as_ref(),
                    each: &mut *document.each,
                })?,
                "summary" => document.frame.ending = map.next_value::<SummaryIn>()?.ending(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (&document.format, document.schema) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err(A::Error::custom(BadLine::Foreign)),
        }
    }
}

/// The array of sets, handed on one by one.
struct Sets<'a> {
    header: Option<&'a Header>,
    each: Each<'a>,
}

impl<'de> DeserializeSeed<'de> for Sets<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Sets<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of sets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sets: A) -> Result<(), A::Error> {
        while let Some(set) = sets.next_element::<SetIn>()? {
            (self.each)(self.header, set.check().map_err(A::Error::custom)?);
        }
        Ok(())
    }
}
