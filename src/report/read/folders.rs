//! Reads the JSON reports of `folders`, with whatever entries their user took out.

use std::io::Read;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::{BadLine, ReadError, without_byte_order_mark};
use crate::file::Raw;
use crate::folders::CanGo;
use crate::report::folders::FORMAT;
use crate::report::json::known_schema;

/// The line that a user can append if the report is complete.
const END: &str = r#"{"type":"summary"}"#;

/// A report of folders as it was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFolders {
    /// Where relative paths start.
    pub folder: Raw,
    /// The paths that were compared.
    pub roots: Vec<Raw>,
    /// The folders that are still listed and can go, in their order.
    pub pairs: Vec<ReadPair>,
    /// The same folders of which all but one can go, group by group.
    pub groups: Vec<Vec<ReadPair>>,
    /// Folders that cannot go as a whole.
    pub staying: usize,
}

/// A folder and the one that has what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPair {
    /// The folder.
    pub folder: Vec<u8>,
    /// The other one.
    pub other: Vec<u8>,
}

#[derive(Deserialize)]
struct HeaderIn {
    #[serde(rename = "schema", deserialize_with = "known_schema")]
    _schema: u32,
    folder: Raw,
    roots: Vec<Raw>,
}

#[derive(Deserialize)]
struct EntryIn {
    can_go: CanGo,
    folders: Vec<FolderIn>,
}

#[derive(Deserialize)]
struct FolderIn {
    path: Raw,
    other: Option<Raw>,
}

/// True if a report begins like one of folders.
pub fn is_of_folders(start: &[u8]) -> bool {
    let start = without_byte_order_mark(start);
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    let Ok(first) = str::from_utf8(first).map(str::trim_end) else {
        return false;
    };
    // The quotes tell it from a path that holds the name.
    first.contains(&format!("\"format\":\"{FORMAT}\""))
        || first.starts_with("# seekless ") && first.ends_with(" folders")
}

/// Reads what `json` or `ndjson` wrote.
///
/// # Errors
/// If it is no such report, or not a whole one.
pub fn read_folders(mut input: impl Read) -> Result<ReadFolders, ReadError> {
    #[derive(Deserialize)]
    struct Typed {
        r#type: Option<IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct Document {
        header: HeaderIn,
        entries: Vec<EntryIn>,
    }
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "lowercase")]
    enum Object {
        Header(HeaderIn),
        Entry(EntryIn),
        Summary {},
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let text = without_byte_order_mark(&bytes);
    if !text.starts_with(b"{") {
        return Err(ReadError::FoldersNotJson);
    }
    let mut read = ReadFolders::default();
    let first: Option<Result<Typed, _>> = Deserializer::from_slice(text).into_iter().next();
    let is_lines = matches!(first, Some(Ok(Typed { r#type: Some(_) })));
    if !is_lines {
        let Document { header, entries } = serde_json::from_slice(text)?;
        read.begin(header);
        entries.into_iter().for_each(|entry| read.add(entry));
        return Ok(read);
    }
    let (mut line, mut is_whole) = (0, false);
    for object in Deserializer::from_slice(text).into_iter() {
        line += 1;
        match object.map_err(|error| ReadError::in_object(line, error))? {
            Object::Header(_) if line > 1 => return Err(ReadError::at(line, BadLine::Second)),
            Object::Header(header) => read.begin(header),
            Object::Entry(entry) => {
                // What follows the end has none.
                is_whole = false;
                read.add(entry);
            }
            Object::Summary {} => is_whole = true,
        }
    }
    if is_whole {
        Ok(read)
    } else {
        Err(ReadError::NoEnd { line, wanted: END })
    }
}

impl ReadFolders {
    fn begin(&mut self, header: HeaderIn) {
        self.folder = header.folder;
        self.roots = header.roots;
    }

    fn add(&mut self, entry: EntryIn) {
        let listed = entry.folders.len();
        let pairs = entry.folders.into_iter().filter_map(|folder| {
            Some(ReadPair {
                folder: folder.path.0,
                other: folder.other?.0,
            })
        });
        match entry.can_go {
            CanGo::All => self.pairs.extend(pairs),
            CanGo::AllButOne => self.groups.push(pairs.collect()),
            CanGo::None => self.staying += listed,
        }
    }
}
