//! The SQLite file with the rows of one file system.
//!
//! It is in WAL mode: a killed process leaves it intact, and two runs may use it at a time.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::contents::Contents;
use super::day::Day;
use super::error::CacheError;
use super::folder::CacheFolder;
use super::format::{self, is_ours};
use super::pack::{self, Numbered};
use super::row::Row;
use super::volume::VolumeKey;

/// Time to wait for another run that is writing.
const BUSY: Duration = Duration::from_secs(5);

/// Replaces a pack, and marks it as used on a day.
pub(super) const UPDATE: &str = "UPDATE pack SET used = ?2, rows = ?3 WHERE number = ?1";

/// One open file of rows.
pub struct Store {
    pub(super) sqlite: Connection,
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
        if !folder.has(&name)? {
            return Ok(None);
        }
        folder.mark_used(&name);
        Self::open_at(&folder.path().join(&name)).map(Some)
    }

    fn open_at(path: &Path) -> Result<Self, CacheError> {
        let mut sqlite = connected(path)?;
        if !is_ours(&sqlite)? {
            format::begin(&mut sqlite)?;
        }
        // Where another run has it open just now, the mode stays what it is; that one is as safe.
        let _as_it_was = sqlite.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
        // A loss of power may cost what was written last. It never leaves a file that is half written.
        sqlite.pragma_update(None, "synchronous", "normal")?;
        Ok(Self { sqlite })
    }

    /// The contents of an existing file of rows. Reads all of it.
    ///
    /// # Errors
    /// If any part of it cannot be read, or if it is no file of rows that this program understands.
    pub fn contents(folder: &CacheFolder, name: &str) -> Result<Contents, CacheError> {
        let path = folder.path().join(name);
        if !folder.has(name)? {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        let sqlite = connected(&path)?;
        if is_ours(&sqlite)? {
            Self { sqlite }.read_all()
        } else {
            Ok(Contents::default())
        }
    }

    fn read_all(&self) -> Result<Contents, CacheError> {
        self.check()?;
        let mut select = self.sqlite.prepare("SELECT rows FROM pack")?;
        let counts = select.query_map([], |found| {
            Ok(pack::count(found.get_ref(0)?.as_blob().unwrap_or_default()))
        })?;
        Ok(Contents {
            files: counts.sum::<Result<u64, _>>()?,
            folder: self.last_folder()?,
        })
    }

    /// Checks every page, also those of the index, which only a run that writes reads.
    fn check(&self) -> Result<(), CacheError> {
        let check = "PRAGMA integrity_check(1)";
        let said: String = self.sqlite.query_row(check, [], |row| row.get(0))?;
        match &*said {
            "ok" => Ok(()),
            _ => Err(CacheError::Altered),
        }
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
            // The first transaction would write to a new file.
            if !format::is_new(&sqlite)? {
                sqlite.execute_batch("BEGIN EXCLUSIVE")?;
            }
            Ok(Self { sqlite })
        };
        match locked() {
            Err(CacheError::Damaged(_) | CacheError::Altered) => Ok(None),
            locked => locked.map(Some),
        }
    }

    /// Appends up to `most` packs in the order of their numbers to `bytes`, beginning with this number; returns the number
    /// of each, and where it ends. They may be damaged.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn packs(
        &self,
        number: i64,
        most: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Vec<(i64, usize)>, CacheError> {
        let mut select = self.sqlite.prepare_cached(FROM)?;
        let mut found = select.query([number])?;
        let mut packs = Vec::with_capacity(most);
        while packs.len() < most
            && let Some(found) = found.next()?
        {
            bytes.extend_from_slice(found.get_ref(1)?.as_blob().unwrap_or_default());
            packs.push((found.get(0)?, bytes.len()));
        }
        Ok(packs)
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

    /// Records the folder that a run searches, which begins to write.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin_run(&self, folder: &Path) -> Result<(), CacheError> {
        let replace = "REPLACE INTO searched (rowid, folder) VALUES (1, ?1)";
        self.sqlite
            .execute(replace, [folder.as_os_str().as_bytes()])?;
        Ok(())
    }

    /// The folder that was searched by the last run that wrote a row; `None` if there is none.
    fn last_folder(&self) -> Result<Option<PathBuf>, CacheError> {
        let select = "SELECT folder FROM searched";
        let found = self.sqlite.query_row(select, [], |row| row.get(0));
        let bytes = found.optional()?;
        Ok(bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes))))
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
            let mut insert = batch.prepare_cached("INSERT INTO pack VALUES (?1, ?2, ?3)")?;
            let mut update = batch.prepare_cached(UPDATE)?;
            // The index stays as it is. To replace a row with its entry in the index takes twice the time.
            let update_rows = "UPDATE pack SET rows = ?2 WHERE number = ?1";
            let mut update_rows = batch.prepare_cached(update_rows)?;
            for new in packs {
                let Some(key) = new.first().map(Numbered::pack) else {
                    continue;
                };
                let number = key.table_number();
                let before = written(&batch, number)?;
                let rows = before.as_ref().map_or(&[][..], |pack| &pack.rows);
                let pack = pack::updated(rows, key, &new, today, &join);
                match before {
                    None => insert.execute(params![number, today.number(), pack])?,
                    Some(before) if before.used == i64::from(today.number()) => {
                        update_rows.execute(params![number, pack])?
                    }
                    Some(_) => update.execute(params![number, today.number(), pack])?,
                };
            }
        }
        batch.commit()?;
        Ok(())
    }
}

/// Selects packs, beginning with a number. With a parameter as its limit, SQLite would compile the statement anew for each
/// value of the parameter.
const FROM: &str = "SELECT number, rows FROM pack WHERE number >= ?1 ORDER BY number";

/// Opens an existing file.
fn connected(path: &Path) -> Result<Connection, CacheError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let sqlite = Connection::open_with_flags(path, flags)?;
    sqlite.busy_timeout(BUSY)?;
    sqlite.pragma_update(None, "trusted_schema", false)?;
    sqlite.pragma_update(None, "cell_size_check", true)?;
    Ok(sqlite)
}

/// A pack in the file.
pub(super) struct StoredPack {
    /// Number of the day of its last mark.
    used: i64,
    pub(super) rows: Box<[u8]>,
}

/// The pack with this number.
pub(super) fn written(sqlite: &Connection, number: i64) -> Result<Option<StoredPack>, CacheError> {
    let select = "SELECT used, rows FROM pack WHERE number = ?1";
    let mut select = sqlite.prepare_cached(select)?;
    let found = select.query_row([number], |found| {
        let rows = found.get_ref(1)?.as_blob().unwrap_or_default();
        Ok(StoredPack {
            // If it is no day, the pack gets one when it is written.
            used: found.get_ref(0)?.as_i64().unwrap_or_default(),
            rows: Box::from(rows),
        })
    });
    Ok(found.optional()?)
}

#[cfg(test)]
mod tests;
