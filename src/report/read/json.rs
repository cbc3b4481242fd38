//! Reads the JSON formats: lines one set at a time, so that such a report may be longer than the memory.

use std::borrow::Cow;
use std::io::Read;

use serde::Deserialize;
use serde::de::Error as _;

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
        /// Nothing is done because of files that only show the same.
        Alike {},
        Probable {},
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
            Object::Alike {} | Object::Probable {} => {}
            Object::Summary(summary) => frame.ending = summary.into(),
        }
    }
    frame.whole(line, END)
}

/// Reads what `json` wrote: its keys may come in any order, and further ones are passed over.
pub fn read_document(input: impl Read, each: Each<'_>) -> Result<Frame, ReadError> {
    #[derive(Deserialize)]
    struct Document {
        #[serde(default, deserialize_with = "known_format")]
        format: Cow<'static, str>,
        #[serde(default, deserialize_with = "known_schema")]
        schema: u32,
        header: Option<Header>,
        #[serde(default)]
        sets: Vec<SetIn>,
        summary: Option<SummaryIn>,
    }
    let read: Document = serde_json::from_reader(input)?;
    if read.format.is_empty() || read.schema == 0 {
        return Err(serde_json::Error::custom(BadLine::Foreign).into());
    }
    let header = read.header;
    let sets = read.sets.into_iter();
    sets.for_each(|set| each(header.as_ref(), set.into()));
    Ok(Frame {
        header,
        ending: read.summary.map_or(Ending::Unsaid, Ending::from),
    })
}
