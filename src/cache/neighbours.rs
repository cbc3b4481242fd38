//! Rows in memory: those of requested inodes, and those of their neighbours, which are mostly requested next.

use hashbrown::HashTable;

use super::pack::{self, PackKey};
use super::row::Row;
use super::store::{CacheError, Store};

/// Maximum bytes of packs in memory. When there are more, all are dropped: those that are requested again are read
/// again. A guess: it is enough for the rows of about a million files.
const MOST: usize = 128 << 20;

/// Bytes that a pack takes beside its data: its key, and its place.
const EACH: usize = 48;

/// The rows of a file of rows, as far as they were requested.
pub struct KnownRows {
    /// The file; `None` if it was missing or empty when the run began. The run does not request rows that it writes
    /// itself.
    store: Option<Store>,
    /// Packs in their stored form: most rows are requested once, so a row is decoded only then.
    packs: HashTable<(PackKey, Box<[u8]>)>,
    /// Bytes of these packs.
    bytes: usize,
}

impl KnownRows {
    /// No row was requested yet.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn new(store: Option<Store>) -> Result<Self, CacheError> {
        let is_empty = store.as_ref().map_or(Ok(true), Store::is_empty)?;
        Ok(Self {
            store: store.filter(|_| !is_empty),
            packs: HashTable::new(),
            bytes: 0,
        })
    }

    /// The file of rows, unless it was missing or empty.
    pub fn into_store(self) -> Option<Store> {
        self.store
    }

    /// The row of a file, for any state of the file.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn row(&mut self, subvolume: u64, inode: u64) -> Result<Option<Row>, CacheError> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let key = PackKey::of(subvolume, inode);
        let found = self.packs.find(hash(key), |(known, _)| *known == key);
        if let Some((_, pack)) = found {
            return Ok(pack::find(pack, subvolume, inode));
        }
        let pack = store.pack(key)?;
        let row = pack::find(&pack, subvolume, inode);
        if self.bytes > MOST {
            self.packs.clear();
            self.bytes = 0;
        }
        self.bytes += pack.len() + EACH;
        self.packs
            .insert_unique(hash(key), (key, pack), |(key, _)| hash(*key));
        Ok(row)
    }
}

/// A hash of a key: packs have consecutive numbers.
fn hash(key: PackKey) -> u64 {
    let mixed = (key.table_number() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}
