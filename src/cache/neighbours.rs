//! Rows in memory: those of requested inodes, and those of their neighbours, which are mostly requested next.

use std::ops::ControlFlow;
use std::time::Duration;

use hashbrown::HashTable;

use super::day::Day;
use super::pack::{self, PackKey};
use super::patience;
use super::row::Row;
use super::store::{CacheError, Store};
use crate::sys::memory;

/// Maximum bytes of packs in memory. When there are more, all are dropped: those that are requested again are read
/// again. A guess: it is enough for the rows of more than a million files.
const MOST: usize = 128 << 20;

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
    /// Packs by their numbers.
    packs: HashTable<Pack>,
    /// The stored form of these packs: most rows are requested once, so a row is decoded only then. One buffer for all
    /// packs: a box for each of them costs three times as much, since the C library makes the heap of a thread longer
    /// page by page.
    bytes: Vec<u8>,
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
            packs: HashTable::new(),
            bytes: Vec::new(),
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

    /// The reason why the user may not write to the file, if so.
    pub fn is_read_only(&self) -> Option<String> {
        let why = self.store.as_ref()?.is_read_only()?;
        Some(why.to_string())
    }

    /// The file of rows, unless it was missing or empty, and the rows in it to be marked as used today.
    pub fn into_used(mut self) -> (Option<Store>, Vec<UsedRows>) {
        self.forget();
        (self.store, self.used)
    }

    /// Drops all packs.
    fn forget(&mut self) {
        let used = self.packs.iter().filter(|pack| pack.used != 0);
        self.used.extend(used.map(|pack| UsedRows {
            number: pack.number,
            bits: pack.used,
        }));
        self.packs.clear();
        self.bytes.clear();
    }

    /// The row of a file, for any state of the file.
    ///
    /// # Errors
    /// If the file of rows cannot be read.
    pub fn row(&mut self, subvolume: u64, inode: u64) -> Result<Option<Row>, CacheError> {
        if self.store.is_none() {
            return Ok(None);
        }
        let number = PackKey::of(subvolume, inode).table_number();
        if self.packs.find(hash(number), is(number)).is_none() {
            self.read(number)?;
        }
        let found = self.packs.find_mut(hash(number), is(number));
        let Some(pack) = found else { return Ok(None) };
        self.requested += usize::from(!pack.is_requested);
        pack.is_requested = true;
        let rows = self.bytes.get(pack.start..pack.end).unwrap_or_default();
        let Some((row, marked)) = pack::find(rows, subvolume, inode) else {
            return Ok(None);
        };
        if self.today.renews(marked) {
            pack.used |= pack::bit(inode);
        }
        Ok(Some(row))
    }

    /// Reads a pack, and the packs after it up to one that is in memory, as long as at least half of the packs read so
    /// far were requested. So if few rows are requested, few packs are read.
    fn read(&mut self, number: i64) -> Result<(), CacheError> {
        if self.bytes.len() + self.packs.len() * EACH > MOST {
            self.forget();
        }
        self.ahead = match self.requested * 2 >= self.read {
            true => (self.ahead * 2).min(AHEAD),
            false => 1,
        };
        let read_patiently = match self.patience {
            Some(_) => Some(self.read_patiently(number)?),
            None => None,
        };
        let Self {
            store: Some(store),
            packs,
            bytes,
            ..
        } = self
        else {
            return Ok(());
        };
        let mut read = 0;
        let mut add = |number, rows: &[u8]| {
            if packs.find(hash(number), is(number)).is_some() {
                return ControlFlow::Break(());
            }
            let start = bytes.len();
            memory::reserve(bytes, rows.len());
            bytes.extend_from_slice(rows);
            let pack = Pack {
                number,
                start,
                end: bytes.len(),
                is_requested: false,
                used: 0,
            };
            packs.insert_unique(hash(number), pack, |pack| hash(pack.number));
            read += usize::from(!rows.is_empty());
            ControlFlow::Continue(())
        };
        match read_patiently {
            Some(found) => {
                for (number, rows) in found {
                    if add(number, &rows).is_break() {
                        break;
                    }
                }
            }
            None => store.packs(number, self.ahead, &mut add)?,
        }
        // If it is missing.
        let _is_known = add(number, &[]);
        self.read += read;
        Ok(())
    }
}

/// A test for a number.
fn is(number: i64) -> impl Fn(&Pack) -> bool {
    move |pack| pack.number == number
}

impl KnownRows {
    /// Reads packs in another thread, and does not wait for it for ever. If it does not answer, the file is lost to it.
    fn read_patiently(&mut self, number: i64) -> Result<Vec<(i64, Vec<u8>)>, CacheError> {
        let Some(store) = self.store.take() else {
            return Ok(Vec::new());
        };
        let most = self.ahead;
        let read = move || {
            let mut found = Vec::new();
            let read = store.packs(number, most, |number, rows| {
                found.push((number, rows.to_vec()));
                ControlFlow::Continue(())
            });
            (store, read.map(|()| found))
        };
        let (store, found) = patience::within(self.patience, read)?;
        self.store = Some(store);
        found
    }
}

/// A hash of a number. The numbers of neighbouring packs are consecutive.
fn hash(number: i64) -> u64 {
    let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

#[cfg(all(test, feature = "cache"))]
mod tests {
    use super::*;
    use crate::cache::pack::Numbered;
    use crate::cache::{CacheFolder, FileState, RowPart, VolumeKey};
    use crate::hash::SampleDigest;

    const KEY: VolumeKey = VolumeKey {
        uuid: [7; 16],
        subvolume: 0,
        by_path: false,
    };

    fn row(inode: u64) -> Row {
        let mut row = Row::new(FileState::default(), 9);
        row.add(RowPart::Head(SampleDigest::of(&inode.to_le_bytes())));
        row
    }

    /// The rows of these inodes, and none that is in memory.
    fn known(place: &tempfile::TempDir, inodes: impl Iterator<Item = u64>) -> KnownRows {
        let folder = CacheFolder::at(&place.path().join("cache")).expect("is made");
        let mut store = Store::open(&folder, &KEY).expect("is made");
        let rows = inodes.map(|inode| {
            vec![Numbered {
                subvolume: 0,
                inode,
                row: row(inode),
            }]
        });
        let written = store.write(rows, MARKED, |_, new| new.clone());
        written.expect("is written");
        KnownRows::new(Some(store), TODAY, None).expect("is read")
    }

    const MARKED: Day = Day::from_number(20_000);
    const TODAY: Day = Day::from_number(20_030);

    #[test]
    fn requested_rows_are_to_be_marked_also_when_their_packs_have_left_memory() {
        let place = tempfile::tempdir().expect("a folder");
        let mut known = known(&place, [3, 5, 70, 100].into_iter());
        for inode in [3, 5, 6, 200] {
            found(&mut known, inode);
        }
        known.forget();
        for inode in [5, 70] {
            found(&mut known, inode);
        }
        let (_, mut used) = known.into_used();
        used.sort_by_key(|used| (used.number, used.bits));
        let used = used.iter().map(|used| (used.number, used.bits));
        let expected = [(0, 1 << 5), (0, 1 << 3 | 1 << 5), (2, 1 << 6)];
        assert_eq!(used.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_marked_already_is_not_to_be_marked_again() {
        let place = tempfile::tempdir().expect("a folder");
        let mut known = known(&place, [3].into_iter());
        known.today = MARKED;
        assert!(found(&mut known, 3).is_some());
        assert_eq!(known.into_used().1, []);
    }

    fn found(known: &mut KnownRows, inode: u64) -> Option<Row> {
        known.row(0, inode).expect("is read")
    }

    #[test]
    fn every_row_is_found_in_any_order_and_no_other_one() {
        let place = tempfile::tempdir().expect("a folder");
        let inodes = || (0..400_u32).map(|nth| u64::from(nth) * 50);
        let mut known = known(&place, inodes());
        for inode in inodes().chain(inodes().rev()) {
            assert_eq!(found(&mut known, inode), Some(row(inode)));
            assert_eq!(found(&mut known, inode + 1), None);
            assert_eq!(found(&mut known, inode + 40_000), None);
        }
        assert_eq!(known.row(1, 50).expect("is read"), None);
    }

    #[test]
    fn what_is_requested_in_order_is_read_ahead_and_scattered_rows_are_not() {
        let place = tempfile::tempdir().expect("a folder");
        let mut in_order = known(&place, (0..32_000).step_by(32));
        for inode in (0..32_000).step_by(32) {
            found(&mut in_order, inode);
        }
        assert_eq!(in_order.ahead, AHEAD);
        let place = tempfile::tempdir().expect("a folder");
        let mut scattered = known(&place, (0..320_000).step_by(32));
        for inode in (0..320_000).step_by(32 * 100) {
            found(&mut scattered, inode);
        }
        assert_eq!(scattered.requested, 100);
        assert!(scattered.read <= 200 + AHEAD, "{}", scattered.read);
    }
}
