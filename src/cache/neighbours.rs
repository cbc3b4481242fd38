//! Rows in memory: those of requested inodes, and those of their neighbours, which are mostly requested next.

use std::time::Duration;

use hashbrown::HashTable;

use super::day::Day;
use super::error::CacheError;
use super::pack::{self, PackKey};
use super::row::Row;
use super::store::Store;
use crate::heartbeat::within;
use crate::sys::memory::{self, Memory};

/// Maximum bytes of packs in memory. When there are more, all are dropped: those that are requested again are read
/// again. A guess: it is enough for the rows of more than a million files.
const MOST: u64 = 128 << 20;

/// They take no more than this share of the memory: the tables of the run need the rest.
const SHARE: u64 = 16;

/// Bytes that a pack takes beside its data: its number, and its place.
const EACH: usize = 48;

/// Maximum number of packs that one statement reads. A guess.
const AHEAD: usize = 64;

/// The rows of a file of rows, as far as they were requested.
pub struct KnownRows {
    /// The file; `None` if it was missing or empty when the run began. The run does not request rows that it writes
    /// itself.
    store: Option<Store>,
    /// The day of the run.
    today: Day,
    /// How long a read of the file is waited for; `None` where the system answers at once.
    patience: Option<Duration>,
    packs: Vec<Pack>,
    /// Places of packs, by their numbers.
    places: HashTable<u32>,
    /// The place of the pack that was requested last. Files come folder by folder, so mostly the next row is in it, too.
    last: usize,
    /// The stored form of these packs: most rows are requested once, so a row is decoded only then. One buffer for all
    /// packs: a box for each of them costs three times as much, since the C library makes the heap of a thread longer
    /// page by page.
    bytes: Vec<u8>,
    /// Maximum bytes of packs in memory.
    most: usize,
    /// Rows to be marked as used today, of packs that are no longer in memory.
    used: Vec<UsedRows>,
    /// Number of packs that the next statement reads.
    ahead: usize,
    /// Number of packs that were read.
    read: usize,
    /// Number of packs of which a row was requested.
    requested: usize,
}

/// Rows of one pack that a run used and that are not marked as used on one of the last days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedRows {
    /// Number of the pack.
    pub number: i64,
    /// The bits of the rows in it.
    pub bits: u32,
}

/// A pack in memory. If no pack with its number is stored, it is empty.
struct Pack {
    number: i64,
    /// Its place among the bytes.
    start: usize,
    end: usize,
    is_requested: bool,
    /// The bits of the rows to be marked as used today.
    used: u32,
}

impl KnownRows {
    /// No row was requested yet. A read of the file is not waited for longer than `patience`.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn new(
        store: Option<Store>,
        today: Day,
        patience: Option<Duration>,
    ) -> Result<Self, CacheError> {
        let store = match store {
            Some(store) => (!store.is_empty()?).then_some(store),
            None => None,
        };
        Ok(Self {
            store,
            today,
            patience,
            packs: Vec::new(),
            places: HashTable::new(),
            last: 0,
            bytes: Vec::new(),
            most: memory::of_this_process().map_or(MOST, most) as usize,
            used: Vec::new(),
            ahead: 1,
            read: 0,
            requested: 0,
        })
    }

    /// True if any row is stored.
    pub fn any(&self) -> bool {
        self.store.is_some()
    }

    /// The file of rows, unless it was missing or empty, and the rows in it to be marked as used today.
    pub fn into_used(mut self) -> (Option<Store>, Vec<UsedRows>) {
        self.forget();
        (self.store, self.used)
    }

    /// Drops all packs.
    pub fn forget(&mut self) {
        let used = self.packs.iter().filter(|pack| pack.used != 0);
        self.used.extend(used.map(|pack| UsedRows {
            number: pack.number,
            bits: pack.used,
        }));
        self.packs.clear();
        self.places.clear();
        self.bytes = Vec::new();
    }

    /// Replaces `row` by the row of a file, for any state of the file. Returns false, with `row` in any state, if there is
    /// none.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn read_row(
        &mut self,
        (subvolume, inode): (u64, u64),
        row: &mut Row,
    ) -> Result<bool, CacheError> {
        if self.store.is_none() {
            return Ok(false);
        }
        let number = PackKey::of(subvolume, inode).table_number();
        let last = self.packs.get(self.last);
        if last.is_none_or(|pack| pack.number != number) {
            let known = place_of(&self.packs, &self.places, number);
            self.last = match known {
                Some(place) => place,
                None => self.read(number)?,
            };
        }
        let Some(pack) = self.packs.get_mut(self.last) else {
            return Ok(false);
        };
        self.requested += usize::from(!pack.is_requested);
        pack.is_requested = true;
        let rows = self.bytes.get(pack.start..pack.end).unwrap_or_default();
        let Some(marked) = pack::find(rows, subvolume, inode, row) else {
            return Ok(false);
        };
        if self.today.renews(marked) {
            pack.used |= pack::bit(inode);
        }
        Ok(true)
    }

    /// Reads a pack, and the packs after it up to one that is in memory, as long as at least half of the packs read so
    /// far were requested. So if few rows are requested, few packs are read. Returns the place of the pack.
    fn read(&mut self, number: i64) -> Result<usize, CacheError> {
        if self.bytes.len() + self.packs.len() * EACH > self.most {
            self.forget();
        }
        self.ahead = if self.requested * 2 >= self.read {
            (self.ahead * 2).min(AHEAD)
        } else {
            1
        };
        let Some(store) = self.store.take() else {
            return Ok(usize::MAX);
        };
        let most = self.ahead;
        let read = move || {
            let mut bytes = Vec::new();
            let packs = store.packs(number, most, &mut bytes);
            (store, packs.map(|packs| (packs, bytes)))
        };
        // If it does not answer, the file is lost to that thread.
        let (store, found) = within(self.patience, read)?;
        self.store = Some(store);
        let (found, bytes) = found?;
        let mut start = 0;
        for (number, end) in found {
            if place_of(&self.packs, &self.places, number).is_some() {
                break;
            }
            self.add(number, &bytes[start..end]);
            self.read += 1;
            start = end;
        }
        if place_of(&self.packs, &self.places, number).is_none() {
            self.add(number, &[]);
        }
        Ok(place_of(&self.packs, &self.places, number).unwrap_or(usize::MAX))
    }

    fn add(&mut self, number: i64, rows: &[u8]) {
        let start = self.bytes.len();
        memory::reserve(&mut self.bytes, rows.len());
        self.bytes.extend_from_slice(rows);
        let place = self.packs.len() as u32;
        self.packs.push(Pack {
            number,
            start,
            end: self.bytes.len(),
            is_requested: false,
            used: 0,
        });
        let hash_at = |&place: &u32| hash(self.packs[place as usize].number);
        self.places.insert_unique(hash(number), place, hash_at);
    }
}

/// Maximum bytes of packs where so much memory is held and available.
fn most(memory: Memory) -> u64 {
    let all = memory.held.saturating_add(memory.available);
    MOST.min(all / SHARE).min(memory.addresses / SHARE)
}

/// The place of the pack with this number.
fn place_of(packs: &[Pack], places: &HashTable<u32>, number: i64) -> Option<usize> {
    let is_it = |&place: &u32| packs[place as usize].number == number;
    let place = places.find(hash(number), is_it)?;
    Some(*place as usize)
}

/// A hash of a number. The numbers of neighbouring packs are consecutive.
fn hash(number: i64) -> u64 {
    let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

#[cfg(all(test, feature = "cache"))]
mod tests;
