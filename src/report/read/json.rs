//! Reads the JSON formats one set at a time, so that a report may be longer than the memory.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};

use super::{BadLine, Each, Ending, Frame, ReadError, ReadSet};
use crate::report::Header;
use crate::report::json::{SetIn, Start, known_format, known_schema};

/// The line that a user can append if the report is complete.
const END: &str = r#"{"type":"summary","incomplete":true}"#;

#[derive(Deserialize)]
struct SummaryIn {
    incomplete: bool,
}

impl From<SummaryIn> for Ending {
    fn from(summary: SummaryIn) -> Self {
        if summary.incomplete {
            Self::Interrupted
        } else {
            Self::Complete
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
pub fn read_lines(input: impl Read, each: Each<'_>) -> Result<Frame, ReadError> {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "lowercase")]
    enum Object {
        Header(Start<Header>),
        Set(SetIn),
        Summary(SummaryIn),
    }
    let mut frame = Frame::default();
    let mut line = 0;
    for object in serde_json::Deserializer::from_reader(input).into_iter() {
        line += 1;
        match object.map_err(|error| ReadError::in_object(line, error))? {
            Object::Header(_) if line > 1 => return Err(ReadError::at(line, BadLine::Second)),
            Object::Header(start) => frame.header = Some(start.rest),
            Object::Set(set) => {
                // What follows the end has none.
                frame.ending = Ending::Unsaid;
                each(frame.header.as_ref(), set.into());
            }
            Object::Summary(summary) => frame.ending = summary.into(),
        }
    }
    frame.whole(line, END)
}

/// Reads what `json` wrote.
pub fn read_document(input: impl Read, each: Each<'_>) -> Result<Frame, ReadError> {
    let mut json = serde_json::Deserializer::from_reader(input);
    let frame = json.deserialize_map(Document(each))?;
    json.end()?;
    Ok(frame)
}

/// A document: its keys may come in any order, and further ones are passed over.
struct Document<'a>(Each<'a>);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Frame;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report of seekless")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Frame, A::Error> {
        let mut frame = Frame::default();
        let (mut has_format, mut has_schema) = (false, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => {
                    known_format(map.next_value::<String>()?.into_deserializer())?;
                    has_format = true;
                }
                "schema" => {
                    known_schema(map.next_value::<u32>()?.into_deserializer())?;
                    has_schema = true;
                }
                "header" => frame.header = Some(map.next_value()?),
                "sets" => map.next_value_seed(Sets {
                    header: frame.header.as_ref(),
                    each: &mut *self.0,
                })?,
                "summary" => frame.ending = map.next_value::<SummaryIn>()?.into(),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if has_format && has_schema {
            Ok(frame)
        } else {
            Err(A::Error::custom(BadLine::Foreign))
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

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
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
