//! The document about a cache, for programs.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;

use super::record::write_json as write_record;
use super::time::rfc3339;
use crate::cache::StoredVolume;
use crate::file::Name;

/// Number of the document's layout; grows when a key changes its meaning.
const CACHE_SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    schema: u32,
    version: &'static str,
    folder: Name<'a>,
    file_systems: Vec<KeptRecord<'a>>,
}

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
    let document = Document {
        format: "seekless-cache",
        schema: CACHE_SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        folder: Name::new(folder.as_os_str().as_bytes()),
        file_systems: kept.iter().map(record).collect(),
    };
    write_record(out, &document)?;
    out.write_all(b"\n")
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
