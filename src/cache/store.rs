//! The SQLite file with the rows of one file system.
//!
//! It is in WAL mode: a killed process leaves it intact, and two runs may use it at a time.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::contents::Contents;
use super::day::Day;
use super::folder::{CacheFolder, Permission};
use super::pack::{self, Numbered};
use super::row::Row;
use super::volume::VolumeKey;

/// Marks the file as ours, as `file` and SQLite's own tools show it: "skls".
const APPLICATION: i32 = 0x736b_6c73;

/// The format of the tables and the kind of the digests. A program with another number does not use the file.
const VERSION: i32 = 5;

/// Time to wait for another run that is writing.
const BUSY: Duration = Duration::from_secs(5);

/// Names of the tables, and their columns.
pub(super) const TABLES: [&str; 2] = [
    "pack (number INTEGER PRIMARY KEY, used INTEGER NOT NULL, rows BLOB NOT NULL)",
    "run (roots BLOB NOT NULL, began_ns INTEGER NOT NULL, folder BLOB NOT NULL, ended INTEGER NOT NULL, \
     PRIMARY KEY (roots, began_ns)) WITHOUT ROWID",
];

/// Finds packs that have not been used for long without reading the others.
const INDEX: &str = "pack_used ON pack (used)";

/// Bytes of a page of the file. A pack is mostly 2 to 4 KB long, and a page contains several. On smaller pages, a row took
/// three times the space.
const PAGE: u32 = 16_384;

/// The error if rows cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or the file cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file differs from what was written to it.
    #[error("damaged ({0})")]
    Damaged(rusqlite::Error),
    /// It was cut, or its tables were changed.
    #[error("damaged (cut off, or changed by another program)")]
    Altered,
    /// Another run is using it, and goes on doing so.
    #[error("another run is using it")]
    Busy,
    /// The file belongs to another version of this program.
    #[error("not a cache of this version of seekless")]
    OtherVersion,
    /// The user may only read it, and it cannot be read without its log.
    #[error("another user's run is writing to it, or was killed while it did")]
    BeingWritten,
    /// The user may only read it, and cannot remove it either.
    #[error("{0}")]
    Unreadable(&'static str),
    /// There is nothing to read, and the user may not write it.
    #[error("it has nothing about this file system, and cannot be written: {0}")]
    Useless(String),
    /// The file belongs to another program.
    #[error("not a cache of seekless: move it away")]
    Foreign,
    /// Any other error of SQLite.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl CacheError {
    /// True if no run can use the file until it is removed.
    pub fn needs_removal(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Altered | Self::OtherVersion)
    }
}

impl From<rusqlite::Error> for CacheError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            // A value is not what was written; a table or the format of the file is not.
            None | Some(ErrorCode::Unknown) => Self::Altered,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}

/// One open file of rows.
pub struct Store {
    pub(super) sqlite: Connection,
    /// The reason why the user may not write it.
    pub(super) read_only: Option<io::Error>,
}

impl Store {
    /// Opens the file of a volume, and makes it if it is missing.
    ///
    /// # Errors
    /// If the folder does not permit it, or if it is no file of rows that this program understands.
    pub fn open(folder: &CacheFolder, key: &VolumeKey) -> Result<Self, CacheError> {
        let path = folder.make(&key.file_name())?;
        Self::open_at(&path)
    }

    /// Opens the file of a volume; `None` if there is none yet.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn existing(folder: &CacheFolder, key: &VolumeKey) -> Result<Option<Self>, CacheError> {
        let name = key.file_name();
        let path = folder.path().join(&name);
        match folder.permission(&name)? {
            None => Ok(None),
            Some(Permission::Write) => {
                folder.mark_used(&name);
                Self::open_at(&path).map(Some)
            }
            Some(Permission::Read(why)) => Self::read_only(&path, why),
        }
    }

    /// The reason why the user may not write it, if so.
    pub fn is_read_only(&self) -> Option<&io::Error> {
        self.read_only.as_ref()
    }

    pub(super) fn of(sqlite: Connection) -> Self {
        Self {
            sqlite,
            read_only: None,
        }
    }

    fn open_at(path: &Path) -> Result<Self, CacheError> {
        let mut sqlite = connected(path)?;
        if kind(&sqlite)? != (APPLICATION, VERSION) {
            // The second one would be written to a file of another version.
            if is_empty(&sqlite)? {
                sqlite.pragma_update(None, "page_size", PAGE)?;
                sqlite.pragma_update(None, "auto_vacuum", "incremental")?;
            }
            begin(&mut sqlite)?;
        }
        check_tables(&sqlite)?;
        // Where another run has it open just now, the mode stays what it is; that one is as safe.
        let _as_it_was = sqlite.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
        // A loss of power may cost what was written last. It never leaves a file that is half written.
        sqlite.pragma_update(None, "synchronous", "normal")?;
        Ok(Self::of(sqlite))
    }

    /// The contents of an existing file of rows.
    ///
    /// # Errors
    /// If it cannot be read, or if it is no file of rows that this program understands.
    pub fn contents(folder: &CacheFolder, name: &str) -> Result<Contents, CacheError> {
        let path = folder.path().join(name);
        let store = match folder.permission(name)? {
            None => return Err(io::Error::from(io::ErrorKind::NotFound).into()),
            Some(Permission::Read(why)) => Self::read_only(&path, why)?,
            Some(Permission::Write) => {
                let sqlite = connected(&path)?;
                is_ours(&sqlite)?.then_some(Self::of(sqlite))
            }
        };
        let Some(store) = store else {
            return Ok(Contents::default());
        };
        let mut select = store.sqlite.prepare("SELECT rows FROM pack")?;
        let counts = select.query_map([], |found| {
            Ok(pack::count(found.get_ref(0)?.as_blob().unwrap_or_default()))
        })?;
        Ok(Contents {
            files: counts.sum::<Result<u64, _>>()?,
            folder: store.last_folder()?,
        })
    }

    /// Prevents all runs from using a file of rows of any version, as long as the returned value exists; `None` if the
    /// file is damaged, so that no run can use it.
    ///
    /// # Errors
    /// If a run is using it, or if another program made it.
    pub fn lock(path: &Path) -> Result<Option<Self>, CacheError> {
        let locked = || {
            let sqlite = connected(path)?;
            // From the first read on, nobody else can open the file. This needs no space for shared memory: the disk may
            // be full.
            sqlite.pragma_update_and_check(None, "locking_mode", "exclusive", |_| Ok(()))?;
            match kind(&sqlite)? {
                (APPLICATION, _) => sqlite.execute_batch("BEGIN EXCLUSIVE")?,
                // The first transaction would write to it.
                _ if is_empty(&sqlite)? => {}
                _ => return Err(CacheError::Foreign),
            }
            Ok(Self::of(sqlite))
        };
        match locked() {
            Err(CacheError::Damaged(_) | CacheError::Altered) => Ok(None),
            locked => locked.map(Some),
        }
    }

    /// Passes on up to `most` packs in the order of their numbers, beginning with this number, until the receiver breaks
    /// off. They may be damaged.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn packs(
        &self,
        number: i64,
        most: usize,
        mut each: impl FnMut(i64, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), CacheError> {
        let select = "SELECT number, rows FROM pack WHERE number >= ?1 ORDER BY number LIMIT ?2";
        let mut select = self.sqlite.prepare_cached(select)?;
        let mut read = || {
            let mut found = select.query(params![number, most as i64])?;
            while let Some(found) = found.next()? {
                let rows = found.get_ref(1)?.as_blob().unwrap_or_default();
                if each(found.get(0)?, rows).is_break() {
                    break;
                }
            }
            Ok(())
        };
        read().map_err(|error: CacheError| self.told(error))
    }

    /// True if no row is stored.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn is_empty(&self) -> Result<bool, CacheError> {
        let any = "SELECT 1 FROM pack LIMIT 1";
        let any = self.sqlite.query_row(any, [], |_| Ok(())).optional()?;
        Ok(any.is_none())
    }

    /// Writes rows, all or none of them, pack by pack, and marks them as used today. `join` gets the stored row and the
    /// new one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(
        &mut self,
        packs: impl IntoIterator<Item = Vec<Numbered>>,
        today: Day,
        join: impl Fn(Option<Row>, &Row) -> Row,
    ) -> Result<(), CacheError> {
        let mode = TransactionBehavior::Immediate;
        let batch = self.sqlite.transaction_with_behavior(mode)?;
        {
            let mut replace = batch.prepare_cached("REPLACE INTO pack VALUES (?1, ?2, ?3)")?;
            for new in packs {
                let Some(key) = new.first().map(Numbered::pack) else {
                    continue;
                };
                let before = written(&batch, key.table_number())?.unwrap_or_default();
                let pack = pack::updated(&before, key, &new, today, &join);
                replace.execute(params![key.table_number(), today.number(), pack])?;
            }
        }
        batch.commit()?;
        Ok(())
    }
}

/// Opens an existing file.
fn connected(path: &Path) -> Result<Connection, CacheError> {
    connected_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens a file in this way.
pub(super) fn connected_with(path: &Path, way: OpenFlags) -> Result<Connection, CacheError> {
    let flags = way | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let sqlite = Connection::open_with_flags(path, flags)?;
    sqlite.busy_timeout(BUSY)?;
    sqlite.pragma_update(None, "trusted_schema", false)?;
    sqlite.pragma_update(None, "cell_size_check", true)?;
    Ok(sqlite)
}

/// The pack with this number.
pub(super) fn written(sqlite: &Connection, number: i64) -> Result<Option<Box<[u8]>>, CacheError> {
    let select = "SELECT rows FROM pack WHERE number = ?1";
    let mut select = sqlite.prepare_cached(select)?;
    let found = select.query_row([number], |found| {
        Ok(Box::from(found.get_ref(0)?.as_blob().unwrap_or_default()))
    });
    Ok(found.optional()?)
}

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
pub(super) fn is_ours(sqlite: &Connection) -> Result<bool, CacheError> {
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
        "SELECT roots, began_ns, folder, ended FROM run",
    ];
    for select in all {
        sqlite.prepare(select)?;
    }
    Ok(())
}

/// True for a new file, which a run that was killed right away leaves as well.
fn is_empty(sqlite: &Connection) -> Result<bool, CacheError> {
    Ok(kind(sqlite)? == (0, 0) && number(sqlite, "schema_version")? == 0)
}

/// Creates the tables in a new file, all at once: another run may do the same, and this one may be killed.
fn begin(sqlite: &mut Connection) -> Result<(), CacheError> {
    let batch = sqlite.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match kind(&batch)? {
        (APPLICATION, VERSION) => return Ok(()),
        _ if is_empty(&batch)? => {}
        (APPLICATION, _) => return Err(CacheError::OtherVersion),
        _ => return Err(CacheError::Foreign),
    }
    for table in TABLES {
        batch.execute(&format!("CREATE TABLE {table}"), [])?;
    }
    batch.execute(&format!("CREATE INDEX {INDEX}"), [])?;
    batch.pragma_update(None, "application_id", APPLICATION)?;
    batch.pragma_update(None, "user_version", VERSION)?;
    Ok(batch.commit()?)
}

#[cfg(test)]
mod tests;
