//! Reads the JSON formats one set at a time, so that a report may be longer than the memory.

use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::bounded::{OneLine, ShortTexts, skip_blank};
use super::room::Room;
use super::{
    BadLine, Each, Ending, Facts, Frame, ReadError, ReadMember, ReadSet, checked_name, digest,
};
use crate::report::record::Name;
use crate::report::{Header, Options, SCHEMA, time};

/// Reads what `json` wrote.
pub fn read_document(input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut document = Document {
        each,
        format: None,
        schema: None,
        frame: Frame::default(),
    };
    let mut json = serde_json::Deserializer::from_reader(ShortTexts::new(input));
    let read = Object(&mut document)
        .deserialize(&mut json)
        .and_then(|()| json.end());
    match (read, document.schema) {
        (_, Some(other)) if other != SCHEMA => Err(ReadError::Schema(other)),
        (Err(error), _) => Err(json_error(error)),
        (Ok(()), _) => Ok(document.frame),
    }
}

/// The line that a user can append if the report is complete.
const END: &str = r#"{"type":"summary","incomplete":true}"#;

/// Reads what `ndjson` wrote.
pub fn read_lines(mut input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut frame = Frame::default();
    let mut line = 0;
    while let Some(passed) = skip_blank(&mut input)? {
        line += passed;
        let bad = |reason| ReadError::Line { line, reason };
        let first_of_all = line == 1;
        let whole = BufReader::new(ShortTexts::new(OneLine::new(&mut input)));
        let mut json = serde_json::Deserializer::from_reader(whole);
        let read = Line::deserialize(&mut json).and_then(|read| json.end().map(|()| read));
        match read {
            Err(error) if error.io_error_kind() == Some(ErrorKind::InvalidData) => {
                return Err(bad(BadLine::TooLong));
            }
            Err(error) if error.is_io() => return Err(ReadError::Io(error.into())),
            Err(error) if error.is_eof() => return Err(ReadError::CutOff(line)),
            Err(error) => return Err(bad(BadLine::Shape(without_place(&error)))),
            Ok(Line::Header(header)) => {
                if let Some(other) = header.schema.filter(|&schema| schema != SCHEMA) {
                    return Err(ReadError::Schema(other));
                }
                if !first_of_all {
                    return Err(bad(BadLine::Second));
                }
                known_format(header.format.as_deref().unwrap_or_default()).map_err(bad)?;
                frame.header = Some(header.check().map_err(bad)?);
            }
            Ok(Line::Set(set)) => {
                // What follows the end has none.
                frame.ending = Ending::Unsaid;
                each(frame.header.as_ref(), set.check().map_err(bad)?);
            }
            Ok(Line::Summary(summary)) => frame.ending = summary.ending(),
        }
    }
    match frame.ending {
        Ending::Unsaid => Err(ReadError::NoEnd { line, wanted: END }),
        Ending::Complete | Ending::Interrupted => Ok(frame),
    }
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

/// One line of ndjson. Its type comes first: what follows is read as it comes, and nothing is held twice.
enum Line {
    Header(HeaderIn),
    Set(SetIn),
    Summary(SummaryIn),
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object whose first key is \"type\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        if map.next_key::<String>()?.as_deref() != Some("type") {
            return Err(A::Error::custom("the first key is not \"type\""));
        }
        let kind: String = map.next_value()?;
        let rest = MapAccessDeserializer::new(map);
        match kind.as_str() {
            "header" => HeaderIn::deserialize(rest).map(Line::Header),
            "set" => SetIn::deserialize(rest).map(Line::Set),
            "summary" => SummaryIn::deserialize(rest).map(Line::Summary),
            other => Err(A::Error::unknown_variant(
                other,
                &["header", "set", "summary"],
            )),
        }
    }
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
    #[serde(default)]
    cached: bool,
    replicas: u64,
    reclaimable: u64,
    members: Members,
}

impl SetIn {
    fn check(self) -> Result<ReadSet, BadLine> {
        let digest = self.digest.as_deref().map(digest).transpose()?;
        self.members.room.check(self.size, digest.as_ref())?;
        let members = self.members.list;
        if members.is_empty() {
            return Err(BadLine::NoMember);
        }
        Ok(ReadSet {
            size: self.size,
            digest,
            cached: self.cached,
            replicas: self.replicas,
            reclaimable: self.reclaimable,
            members: members
                .into_iter()
                .map(MemberIn::check)
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Members, as many as there is room for.
struct Members {
    list: Vec<MemberIn>,
    room: Room,
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let (list, room) = json.deserialize_seq(Few(MemberIn::takes, PhantomData))?;
        Ok(Self { list, room })
    }
}

/// Names, as many as there is room for.
#[derive(Default)]
struct Names {
    list: Vec<Name<'static>>,
    room: Room,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let (list, room) = json.deserialize_seq(Few(name_takes, PhantomData))?;
        Ok(Self { list, room })
    }
}

/// Reads an array as long as there is room; what goes beyond that is counted and dropped, and so is the rest.
struct Few<T, F: Fn(&T, &mut Room) -> bool>(F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, F: Fn(&T, &mut Room) -> bool> Visitor<'de> for Few<T, F> {
    type Value = (Vec<T>, Room);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let (mut list, mut room) = (Vec::new(), Room::default());
        while let Some(next) = seq.next_element()? {
            match (self.0)(&next, &mut room) {
                true => list.push(next),
                false => list = Vec::new(),
            }
        }
        Ok((list, room))
    }
}

fn name_takes(name: &Name<'static>, room: &mut Room) -> bool {
    let (Name::Text(text) | Name::Bytes(text)) = name;
    room.take(1, text.len())
}

#[derive(Deserialize)]
struct MemberIn {
    path: Name<'static>,
    #[serde(default)]
    hard_links: Names,
    mtime: String,
    dev: u64,
    ino: u64,
    links: u64,
    allocated: u64,
    disk: String,
    root: u32,
}

impl MemberIn {
    fn takes(&self, room: &mut Room) -> bool {
        let said = self.mtime.len() + self.disk.len();
        let links = &self.hard_links.room;
        name_takes(&self.path, room) & room.take(0, said) & room.add(links)
    }

    fn check(self) -> Result<ReadMember, BadLine> {
        let names = std::iter::once(self.path).chain(self.hard_links.list);
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
            marked: false,
        })
    }
}

fn bytes(name: Name<'_>) -> Result<Vec<u8>, BadLine> {
    name.into_bytes().ok_or(BadLine::Base64)
}

fn nanoseconds(text: String) -> Result<i64, BadLine> {
    time::from_rfc3339(&text).ok_or(BadLine::Time(text))
}

/// The header; as a line it also says what it is a header of.
#[derive(Deserialize)]
struct HeaderIn {
    format: Option<String>,
    schema: Option<u32>,
    version: String,
    command: Names,
    folder: Name<'static>,
    roots: Names,
    started: String,
    #[serde(default)]
    options: Options,
}

impl HeaderIn {
    fn check(self) -> Result<Header, BadLine> {
        if !self.command.room.is_enough() || !self.roots.room.is_enough() {
            return Err(BadLine::LargeHeader);
        }
        let all = |names: Names| names.list.into_iter().map(bytes).collect::<Result<_, _>>();
        Ok(Header {
            version: self.version,
            command: all(self.command)?,
            folder: bytes(self.folder)?,
            roots: all(self.roots)?,
            started_ns: nanoseconds(self.started)?,
            options: self.options,
        })
    }
}

fn known_format(name: &str) -> Result<(), BadLine> {
    if name == "seekless" {
        Ok(())
    } else {
        Err(BadLine::Foreign)
    }
}

/// The parts of a document that were read so far.
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
                    let header: HeaderIn = map.next_value()?;
                    let header = header.check().map_err(A::Error::custom)?;
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
