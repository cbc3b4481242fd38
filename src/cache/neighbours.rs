//! Rows in memory: those of requested inodes, and those of their neighbours, which are mostly requested next.

use std::collections::HashMap;

use super::pack::{self, PackKey};
use super::row::Row;
use super::store::{CacheError, Store};
use super::writer::RunMark;

/// Maximum bytes of packs in memory. When there are more, all are dropped: those that are requested again are read
/// again. A guess: it is enough for the rows of about a million files.
const MOST: usize = 128 << 20;

/// Bytes that a pack takes beside its data: its key, and its place.
const EACH: usize = 48;

/// The rows of a file of rows, as far as they were requested.
pub struct KnownRows {
    store: Store,
    /// The file was empty when the run began. The run does not request rows that it writes itself.
    is_empty: bool,
    /// Packs in their stored form: most rows are requested once, so a row is decoded only then.
    packs: HashMap<PackKey, Box<[u8]>>,
    /// Bytes of these packs.
    bytes: usize,
}

impl KnownRows {
    /// No row was requested yet.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn new(store: Store) -> Result<Self, CacheError> {
        Ok(Self {
            is_empty: store.is_empty()?,
            store,
            packs: HashMap::new(),
            bytes: 0,
        })
    }

    /// The file of rows.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Records that a run ended.
    ///
    /// # Errors
    /// If the file of rows cannot be written.
    pub fn end_run(&mut self, run: &RunMark) -> Result<(), CacheError> {
        self.store.end_run(run)
    }

    /// The row of a file, for any state of the file.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn row(&mut self, subvolume: u64, inode: u64) -> Result<Option<Row>, CacheError> {
        if self.is_empty {
            return Ok(None);
        }
        let key = PackKey::of(subvolume, inode);
        if let Some(pack) = self.packs.get(&key) {
            return Ok(pack::find(pack, subvolume, inode));
        }
        let pack = self.store.pack(key)?;
        let row = pack::find(&pack, subvolume, inode);
        if self.bytes > MOST {
            self.packs.clear();
            self.bytes = 0;
        }
        self.bytes += pack.len() + EACH;
        self.packs.insert(key, pack);
        Ok(row)
    }
}
