//! Reads the JSON formats one set at a time, so that a report may be longer than the memory.

use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer as _};

use super::{BadLine, Each, Ending, Frame, ReadError, ReadSet, bad_line, each_line};
use crate::report::json::FORMAT;
use crate::report::record::{SetIn, Start};
use crate::report::{Header, SCHEMA};

/// The line that a user can append if the report is complete.
const END: &str = r#"{"type":"summary","incomplete":true}"#;

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

impl From<SetIn> for ReadSet {
    fn from(read: SetIn) -> Self {
        Self {
            set: read.0,
            has_facts: true,
            marked: Vec::new(),
        }
    }
}

/// Reads what `ndjson` wrote.
pub fn read_lines(mut input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    #[derive(Deserialize)]
    struct Versioned {
        schema: Option<u32>,
    }
    let mut frame = Frame::default();
    let line = each_line(&mut input, false, |line, bytes| {
        if bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let typed: Typed = parsed(line, bytes)?;
        match typed.r#type.as_str() {
            "header" => {
                let Versioned { schema } = parsed(line, bytes)?;
                if let Some(other) = schema.filter(|&schema| schema != SCHEMA) {
                    return Err(ReadError::Schema(other));
                }
                if line > 1 {
                    return Err(bad_line(line)(BadLine::Second));
                }
                let start: Start<Header> = parsed(line, bytes)?;
                known_format(&start.format).map_err(bad_line(line))?;
                frame.header = Some(start.rest);
            }
            "set" => {
                // What follows the end has none.
                frame.ending = Ending::Unsaid;
                let set: SetIn = parsed(line, bytes)?;
                each(frame.header.as_ref(), set.into());
            }
            "summary" => frame.ending = parsed::<SummaryIn>(line, bytes)?.ending(),
            other => {
                let reason = format!("unknown type {other:?}: expected header, set or summary");
                return Err(bad_line(line)(BadLine::Shape(reason)));
            }
        }
        Ok(())
    })?;
    match frame.ending {
        Ending::Unsaid => Err(ReadError::NoEnd { line, wanted: END }),
        Ending::Complete | Ending::Interrupted => Ok(frame),
    }
}

fn parsed<'de, T: Deserialize<'de>>(line: usize, bytes: &'de [u8]) -> Result<T, ReadError> {
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_eof() {
            return ReadError::CutOff(line);
        }
        bad_line(line)(BadLine::Shape(without_place(&error)))
    })
}

fn known_format(name: &str) -> Result<(), BadLine> {
    if name == FORMAT {
        Ok(())
    } else {
        Err(BadLine::Foreign)
    }
}

/// Reads what `json` wrote.
pub fn read_document(input: impl BufRead, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut document = Document {
        each,
        format: None,
        schema: None,
        frame: Frame::default(),
    };
    let mut json = serde_json::Deserializer::from_reader(input);
    let read = json
        .deserialize_map(&mut document)
        .and_then(|()| json.end());
    match (read, document.schema) {
        (_, Some(other)) if other != SCHEMA => Err(ReadError::Schema(other)),
        (Err(error), _) => Err(json_error(error)),
        (Ok(()), _) => Ok(document.frame),
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
                "header" => self.frame.header = Some(map.next_value()?),
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
            (self.each)(self.header, set.into());
        }
        Ok(())
    }
}
