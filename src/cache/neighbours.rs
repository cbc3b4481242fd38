//! Rows in memory: those of requested inodes, and those of their neighbours, which are mostly requested next.

use std::collections::HashMap;

use super::pack::{self, PackKey};
use super::row::Row;
use super::store::{CacheError, Store};
use super::writer::RunMark;

/// Bytes of packs that stay in memory. When there are more, all are forgotten: those that are asked for again are read
/// again. A guess: it holds the rows of about a million files.
const MOST: usize = 128 << 20;

/// What a pack takes beside its bytes: its key, and where it is.
const EACH: usize = 48;

/// What a file of rows says, as far as it was asked.
pub struct KnownRows {
    store: Store,
    /// Nothing was written down when the run began. What it writes itself, it does not ask for.
    is_empty: bool,
    /// As they are written down: a row is mostly asked for once, so it is taken apart only then.
    packs: HashMap<PackKey, Box<[u8]>>,
    /// Bytes that they take.
    bytes: usize,
}

impl KnownRows {
    /// Nothing was asked yet.
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

    /// The row of a file, in whatever state the file was.
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
