//! The SQLite file that holds the rows of one file system.
//!
//! It is in WAL mode: a process that is killed leaves it whole, and two runs may use it at a time.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::folder::CacheFolder;
use super::row::Row;
use super::volume::VolumeKey;

/// Marks the file as ours, as `file` and SQLite's own tools show it: "skls".
const APPLICATION: i32 = 0x736b_6c73;

/// What the tables look like, and what the digests are of. A program that knows another number leaves the file alone.
const VERSION: i32 = 1;

/// How long another run that is writing is waited for.
const BUSY: Duration = Duration::from_secs(5);

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS file (subvolume INTEGER NOT NULL, inode INTEGER NOT NULL, \
                      row BLOB NOT NULL, PRIMARY KEY (subvolume, inode)) WITHOUT ROWID";

/// Why rows cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or the file cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not what it was when it was written.
    #[error("damaged ({0})")]
    Damaged(rusqlite::Error),
    /// Another run is writing to it, and goes on doing so.
    #[error("another run keeps writing to it")]
    Busy,
    /// Something that is not a cache, or one of another version of this program.
    #[error("not a cache of this version of seekless")]
    Foreign,
    /// Anything else that SQLite says.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for CacheError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}

/// One open file of rows.
pub struct Store {
    path: PathBuf,
    sqlite: Connection,
}

impl Store {
    /// Opens the file of a volume, and makes it if it is missing.
    ///
    /// # Errors
    /// If the folder does not permit it, or if it is no file of rows that this program understands.
    pub fn open(folder: &CacheFolder, key: &VolumeKey) -> Result<Self, CacheError> {
        let path = folder.make(&key.file_name())?;
        Self::open_at(path)
    }

    fn open_at(path: PathBuf) -> Result<Self, CacheError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut sqlite = Connection::open_with_flags(&path, flags)?;
        sqlite.busy_timeout(BUSY)?;
        sqlite.pragma_update(None, "trusted_schema", false)?;
        sqlite.pragma_update(None, "cell_size_check", true)?;
        if kind(&sqlite)? != (APPLICATION, VERSION) {
            begin(&mut sqlite)?;
        }
        // Where another run has it open just now, the mode stays what it is; that one is as safe.
        let _as_it_was = sqlite.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
        // A loss of power may cost what was written last. It never leaves a file that is half written.
        sqlite.pragma_update(None, "synchronous", "normal")?;
        Ok(Self { path, sqlite })
    }

    /// Where it is.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Hands over what is written down for the inodes from `first` to `last` of a subvolume, in order. It may be damaged.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn each(
        &self,
        subvolume: u64,
        first: u64,
        last: u64,
        take: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<(), CacheError> {
        let select = "SELECT inode, row FROM file WHERE subvolume = ?1 AND inode BETWEEN ?2 AND ?3";
        let mut select = self.sqlite.prepare_cached(select)?;
        let mut found = select.query(params![subvolume as i64, first as i64, last as i64])?;
        while let Some(row) = found.next()? {
            let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
            take(row.get::<_, i64>(0)? as u64, bytes);
        }
        Ok(())
    }

    /// Writes rows down, all or none of them. `join` gets what is written down so far, and what is new.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write<'r>(
        &mut self,
        rows: impl Iterator<Item = (u64, u64, &'r Row)>,
        join: impl Fn(Option<Row>, &Row) -> Row,
    ) -> Result<(), CacheError> {
        let mode = TransactionBehavior::Immediate;
        let batch = self.sqlite.transaction_with_behavior(mode)?;
        {
            let select = "SELECT row FROM file WHERE subvolume = ?1 AND inode = ?2";
            let mut select = batch.prepare_cached(select)?;
            let mut replace = batch.prepare_cached("REPLACE INTO file VALUES (?1, ?2, ?3)")?;
            for (subvolume, inode, row) in rows {
                let at = (subvolume as i64, inode as i64);
                let before = select.query_row(at, |found| {
                    let bytes = found.get_ref(0)?.as_blob().unwrap_or_default();
                    Ok(Row::decode(subvolume, inode, bytes))
                });
                let row = join(before.optional()?.flatten(), row);
                replace.execute(params![at.0, at.1, row.encode(subvolume, inode)])?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn count(&self) -> Result<u64, CacheError> {
        let count = "SELECT count(*) FROM file";
        let count = self.sqlite.query_row(count, [], |row| row.get::<_, i64>(0));
        Ok(count?.unsigned_abs())
    }
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

/// Makes the table in a new file, all at once: another run may do the same, and this one may be killed.
fn begin(sqlite: &mut Connection) -> Result<(), CacheError> {
    let batch = sqlite.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match kind(&batch)? {
        (APPLICATION, VERSION) => return Ok(()),
        (0, 0) if number(&batch, "schema_version")? == 0 => {}
        _ => return Err(CacheError::Foreign),
    }
    batch.execute_batch(SCHEMA)?;
    batch.pragma_update(None, "application_id", APPLICATION)?;
    batch.pragma_update(None, "user_version", VERSION)?;
    Ok(batch.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{Part, State};
    use crate::hash::SampleDigest;

    const KEY: VolumeKey = VolumeKey {
        uuid: [7; 16],
        subvolume: 0,
        by_path: false,
    };

    fn row(byte: u8) -> Row {
        let state = State {
            size: 3,
            mtime_ns: 1,
            ctime_ns: 2,
        };
        let mut row = Row::new(state, 9);
        row.add(Part::Head(SampleDigest::of(&[byte])));
        row
    }

    fn stored(store: &Store, subvolume: u64, first: u64, last: u64) -> Vec<(u64, Option<Row>)> {
        let mut rows = Vec::new();
        let take = &mut |inode, bytes: &[u8]| {
            rows.push((inode, Row::decode(subvolume, inode, bytes)));
        };
        store.each(subvolume, first, last, take).expect("is read");
        rows
    }

    fn newest(_: Option<Row>, new: &Row) -> Row {
        new.clone()
    }

    #[test]
    fn rows_are_found_by_subvolume_and_inode_again() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = CacheFolder::at(&place.path().join("cache")).expect("is made");
        let rows = [row(1), row(2), row(3)];
        let numbered = [(0, 5, &rows[0]), (0, 300, &rows[1]), (9, 5, &rows[2])];
        Store::open(&folder, &KEY)
            .expect("is made")
            .write(numbered.into_iter(), newest)
            .expect("is written");
        let store = Store::open(&folder, &KEY).expect("is there");
        assert_eq!(stored(&store, 0, 0, 255), [(5, Some(row(1)))]);
        assert_eq!(stored(&store, 0, 256, 511), [(300, Some(row(2)))]);
        assert_eq!(stored(&store, 9, 5, 5), [(5, Some(row(3)))]);
        assert_eq!(store.count().expect("is counted"), 3);
    }

    #[test]
    fn a_file_of_another_version_is_left_alone() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = CacheFolder::at(place.path()).expect("is ours");
        let store = Store::open(&folder, &KEY).expect("is made");
        store
            .sqlite
            .pragma_update(None, "user_version", VERSION + 1)
            .expect("is set");
        drop(store);
        let again = Store::open(&folder, &KEY);
        assert!(matches!(again, Err(CacheError::Foreign)));
    }

    #[test]
    fn a_file_that_is_no_database_is_told_as_damaged() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = CacheFolder::at(place.path()).expect("is ours");
        let path = folder.make(&KEY.file_name()).expect("is made");
        std::fs::write(path, [b'x'; 5000]).expect("is written");
        let damaged = Store::open(&folder, &KEY);
        assert!(matches!(damaged, Err(CacheError::Damaged(_))));
    }
}
