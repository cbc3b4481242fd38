//! A file of rows that the user may read but not write: on a read-only file system, or of another user.
//!
//! A wrong row must not come from a run that writes meanwhile: each row has a checksum, and says of which state of a file
//! it is. So an old mixture of pages may lack rows or look damaged, and never gives a wrong answer.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::CacheError;
use super::format::{TABLES, is_ours};
use super::store::{Store, connected_with};

/// How often, and how long after another, a file is opened again that cannot be read without its log.
const AGAIN: u32 = 4;
const MOMENT: Duration = Duration::from_millis(25);

impl Store {
    /// Opens a file that the user may not write, for this reason; `None` if it is empty.
    ///
    /// # Errors
    /// If it cannot be read without being written, or if it is no file of rows that this program understands.
    pub(super) fn read_only(path: &Path, why: io::Error) -> Result<Option<Self>, CacheError> {
        let is_ours = |sqlite: Connection| match is_ours(&sqlite)? {
            true => check_schema(&sqlite).map(|()| Some(sqlite)),
            false => Ok(None),
        };
        let open = || {
            let opened = connected_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(is_ours);
            match opened {
                // The log cannot be created, or not be read, or needs to be written back.
                Err(CacheError::Sqlite(_)) if is_written(path) => Err(CacheError::BeingWritten),
                Err(CacheError::Sqlite(_)) => as_it_is(path).and_then(is_ours),
                opened => opened,
            }
        };
        let mut opened = open();
        // A run that begins or ends has a log that cannot be read for a moment.
        for _ in 0..AGAIN {
            if !matches!(opened, Err(CacheError::BeingWritten)) {
                break;
            }
            thread::sleep(MOMENT);
            opened = open();
        }
        let store = |sqlite| Self {
            sqlite,
            read_only: Some(why),
        };
        opened.map(|sqlite| sqlite.map(store)).map_err(unreadable)
    }

    /// What an error means: a file that the user may not write cannot be removed either, and may change while it is read.
    pub(super) fn told(&self, error: CacheError) -> CacheError {
        match &self.read_only {
            Some(_) => unreadable(error),
            None => error,
        }
    }
}

const MIXED: &str = "it is damaged, or another user is writing to it";

fn unreadable(error: CacheError) -> CacheError {
    match error {
        CacheError::Damaged(_) | CacheError::Altered => CacheError::Unreadable(MIXED),
        CacheError::OtherVersion => {
            CacheError::Unreadable("not a cache of this version of seekless")
        }
        other => other,
    }
}

/// Opens a file that nobody writes, as SQLite's parameter `immutable` says: without locks, and without its log.
fn as_it_is(path: &Path) -> Result<Connection, CacheError> {
    let mut uri = b"file:".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(byte),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte),
            _ => uri.extend(format!("%{byte:02x}").into_bytes()),
        }
    }
    uri.extend(b"?immutable=1");
    let uri = String::from_utf8(uri).unwrap_or_default();
    let way = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connected_with(Path::new(&uri), way)
}

/// True if the file has a log with data: a run is writing to it, or was killed before the log was written back. Without
/// its log, the file may be a mixture.
fn is_written(path: &Path) -> bool {
    let has_data = |end: &str| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        fs::symlink_metadata(PathBuf::from(beside)).is_ok_and(|log| log.len() > 0)
    };
    ["-wal", "-journal"].into_iter().any(has_data)
}

/// Makes sure that the tables are those that this program makes. Another user could have made views in their place that
/// never end.
fn check_schema(sqlite: &Connection) -> Result<(), CacheError> {
    let select = "SELECT COUNT(*) FROM sqlite_schema WHERE 'CREATE TABLE ' || ?1 = sql";
    for table in TABLES {
        let found: i64 = sqlite.query_row(select, [table], |row| row.get(0))?;
        if found != 1 {
            return Err(CacheError::Unreadable(MIXED));
        }
    }
    Ok(())
}
