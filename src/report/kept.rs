//! The document about a cache, for programs.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;

use super::objects::write_document;
use super::time::rfc3339;
use crate::cache::StoredVolume;
use crate::file::Name;

/// Number of the document's layout; grows when a key changes its meaning.
const CACHE_SCHEMA: u32 = 1;

#[derive(Serialize)]
struct KeptRecord<'a> {
    file: &'a str,
    bytes: u64,
    last_used: String,
    files: Option<u64>,
    searched: Option<Name<'a>>,
    problem: Option<String>,
}

/// Writes what is kept in a folder as one document.
///
/// # Errors
/// Those of `out`.
pub fn write_json(out: &mut dyn Write, folder: &Path, kept: &[StoredVolume]) -> io::Result<()> {
    #[derive(Serialize)]
    struct Keys<'a> {
        folder: Name<'a>,
        file_systems: Vec<KeptRecord<'a>>,
    }
    let keys = Keys {
        folder: Name::new(folder.as_os_str().as_bytes()),
        file_systems: kept.iter().map(record).collect(),
    };
    write_document(out, "seekless-cache", CACHE_SCHEMA, &keys)
}

fn record(kept: &StoredVolume) -> KeptRecord<'_> {
    let contents = kept.contents.as_ref();
    let folder = contents.ok().and_then(|contents| contents.folder.as_ref());
    KeptRecord {
        file: &kept.name,
        bytes: kept.bytes,
        last_used: rfc3339(kept.last_used_ns),
        files: contents.ok().map(|contents| contents.files),
        searched: folder.map(|folder| Name::new(folder.as_os_str().as_bytes())),
        problem: contents.err().map(ToString::to_string),
    }
}
