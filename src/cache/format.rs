//! The format of a file of rows: its tables, and the marks in its header.

use rusqlite::{Connection, TransactionBehavior};

use super::error::CacheError;

/// Marks the file as ours, as `file` and SQLite's own tools show it: "skls".
const APPLICATION: i32 = 0x736b_6c73;

/// The format of the tables and the kind of the digests. A program with another number does not use the file.
pub const VERSION: i32 = 6;

/// Names of the tables, and their columns.
const TABLES: [&str; 2] = [
    "pack (number INTEGER PRIMARY KEY, used INTEGER NOT NULL, rows BLOB NOT NULL)",
    "searched (folder BLOB NOT NULL)",
];

/// Finds packs that have not been used for long without reading the others.
const INDEX: &str = "pack_used ON pack (used)";

/// Bytes of a page of the file. A pack is mostly 2 to 4 KB long, and a page contains several. On smaller pages, a row took
/// three times the space.
const PAGE: u32 = 16_384;

fn number(sqlite: &Connection, name: &str) -> Result<i32, CacheError> {
    Ok(sqlite.pragma_query_value(None, name, |row| row.get(0))?)
}

fn kind(sqlite: &Connection) -> Result<(i32, i32), CacheError> {
    Ok((
        number(sqlite, "application_id")?,
        number(sqlite, "user_version")?,
    ))
}

/// True for a file of rows that this program understands, false for a new file.
///
/// # Errors
/// For any other file.
pub fn is_ours(sqlite: &Connection) -> Result<bool, CacheError> {
    match kind(sqlite)? {
        (APPLICATION, VERSION) => check_tables(sqlite).map(|()| true),
        _ if is_empty(sqlite)? => Ok(false),
        (APPLICATION, _) => Err(CacheError::OtherVersion),
        _ => Err(CacheError::Foreign),
    }
}

/// Makes sure that the tables are there, with their columns.
fn check_tables(sqlite: &Connection) -> Result<(), CacheError> {
    let all = [
        "SELECT number, used, rows FROM pack",
        "SELECT folder FROM searched",
    ];
    for select in all {
        sqlite.prepare(select)?;
    }
    Ok(())
}

/// True for a new file, false for a file of rows of any version.
///
/// # Errors
/// For a file of another program.
pub fn is_new(sqlite: &Connection) -> Result<bool, CacheError> {
    match kind(sqlite)? {
        (APPLICATION, _) => Ok(false),
        _ if is_empty(sqlite)? => Ok(true),
        _ => Err(CacheError::Foreign),
    }
}

/// True for a new file, which a run that was killed right away leaves as well.
fn is_empty(sqlite: &Connection) -> Result<bool, CacheError> {
    Ok(kind(sqlite)? == (0, 0) && number(sqlite, "schema_version")? == 0)
}

/// Creates the tables in a new file, all at once: another run may do the same, and this one may be killed.
///
/// # Errors
/// If the file cannot be written.
pub fn begin(sqlite: &mut Connection) -> Result<(), CacheError> {
    sqlite.pragma_update(None, "page_size", PAGE)?;
    // So that the file can get smaller.
    sqlite.pragma_update(None, "auto_vacuum", "incremental")?;
    let batch = sqlite.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_ours(&batch)? {
        return Ok(());
    }
    for table in TABLES {
        batch.execute(&format!("CREATE TABLE {table}"), [])?;
    }
    batch.execute(&format!("CREATE INDEX {INDEX}"), [])?;
    batch.pragma_update(None, "application_id", APPLICATION)?;
    batch.pragma_update(None, "user_version", VERSION)?;
    Ok(batch.commit()?)
}
