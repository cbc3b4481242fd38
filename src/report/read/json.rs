//! Reads the JSON formats one set at a time, so that a report may be longer than the memory.

use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind};

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer as _};

use super::bounded::{OneLine, ShortTexts, skip_blank};
use super::json_records::{HeaderIn, SetIn, SummaryIn, known_format};
use super::{BadLine, Each, Ending, Frame, ReadError, bad_line};
use crate::report::{Header, SCHEMA};

/// Reads what `json` wrote.
pub fn read_document(input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut document = Document {
        each,
        format: None,
        schema: None,
        frame: Frame::default(),
    };
    let mut json = serde_json::Deserializer::from_reader(ShortTexts::new(input));
    let read = json
        .deserialize_map(&mut document)
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
        let bad = bad_line(line);
        let first_of_all = line == 1;
        let whole = BufReader::new(ShortTexts::new(OneLine::new(&mut input)));
        let mut json = serde_json::Deserializer::from_reader(whole);
        let read = json.deserialize_map(LineVisitor);
        let read = read.and_then(|read| json.end().map(|()| read));
        match read {
            Err(error) if error.io_error_kind() == Some(ErrorKind::InvalidData) => {
                return Err(bad(BadLine::TooLong));
            }
            Err(error) if error.is_io() => return Err(ReadError::Io(error.into())),
            Err(error) if error.is_eof() => return Err(ReadError::CutOff(line)),
            Err(error) => return Err(bad(BadLine::Shape(without_place(&error)))),
            Ok(ReadLine::Header(header)) => {
                if let Some(other) = header.schema.filter(|&schema| schema != SCHEMA) {
                    return Err(ReadError::Schema(other));
                }
                if !first_of_all {
                    return Err(bad(BadLine::Second));
                }
                known_format(header.format.as_deref().unwrap_or_default()).map_err(&bad)?;
                frame.header = Some(header.check().map_err(&bad)?);
            }
            Ok(ReadLine::Set(set)) => {
                // What follows the end has none.
                frame.ending = Ending::Unsaid;
                each(frame.header.as_ref(), set.check().map_err(&bad)?);
            }
            Ok(ReadLine::Summary(summary)) => frame.ending = summary.ending(),
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
enum ReadLine {
    Header(HeaderIn),
    Set(SetIn),
    Summary(SummaryIn),
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = ReadLine;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object whose first key is \"type\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReadLine, A::Error> {
        if map.next_key::<String>()?.as_deref() != Some("type") {
            return Err(A::Error::custom("the first key is not \"type\""));
        }
        let kind: String = map.next_value()?;
        let rest = MapAccessDeserializer::new(map);
        match kind.as_str() {
            "header" => HeaderIn::deserialize(rest).map(ReadLine::Header),
            "set" => SetIn::deserialize(rest).map(ReadLine::Set),
            "summary" => SummaryIn::deserialize(rest).map(ReadLine::Summary),
            other => Err(A::Error::unknown_variant(
                other,
                &["header", "set", "summary"],
            )),
        }
    }
}

/// The parts of a document that were read so far; its keys may come in any order and further ones are passed over.
struct Document<'a> {
    each: Each<'a>,
    format: Option<String>,
    schema: Option<u32>,
    frame: Frame,
}

impl<'de> Visitor<'de> for &mut Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report of seekless")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => {
                    let name: String = map.next_value()?;
                    known_format(&name).map_err(A::Error::custom)?;
                    self.format = Some(name);
                }
                "schema" => {
                    let schema = map.next_value()?;
                    self.schema = Some(schema);
                    if schema != SCHEMA {
                        return Err(A::Error::custom(ReadError::Schema(schema)));
                    }
                }
                "header" => {
                    let header: HeaderIn = map.next_value()?;
                    let header = header.check().map_err(A::Error::custom)?;
                    self.frame.header = Some(header);
                }
                "sets" => map.next_value_seed(Sets {
                    header: self.frame.header.as_ref(),
                    each: &mut *self.each,
                })?,
                "summary" => self.frame.ending = map.next_value::<SummaryIn>()?.ending(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (&self.format, self.schema) {
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
