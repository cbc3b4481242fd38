//! Packs: rows of neighbouring inodes, which are written and read together. With single rows, SQLite itself would take
//! most of the time of a row.
//!
//! ```text
//! subvolume u64 · number u64 · places u32 · n × day u16 · n × length u16 · n × row
//! ```
//! A bit of `places` says for each inode whether the pack has a row for it. The rows are in the order of the inodes. A day
//! is the one on which the row was last marked as used. It is not part of the checksum: a wrong day costs a read, or some
//! bytes.

use super::day::Day;
use super::row::Row;

/// Number of inodes whose rows are in one pack, as a power of two. A run that learns one row writes the whole pack
/// again.
///
/// Swept with packs in another format, by a program that only wrote 100,000 rows and read them again, hot, on ext4. With
/// 16 inodes and pages of 8 KiB, a row took 1.05 to 1.11 µs of CPU to write and 0.31 to read, with 16 KiB 1.11 and 0.29.
/// With 32 inodes and 16 KiB it took 0.85 to 0.99 and 0.26. Row by row it was 2.3 and 0.7 µs.
const PLACES: u32 = 5;

/// Length of most rows, bytes.
const ROW: usize = 80;

/// The key of a pack: the inodes whose rows are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackKey {
    /// Their subvolume.
    pub subvolume: u64,
    /// The common beginning of their numbers.
    pub number: u64,
}

impl PackKey {
    /// The pack of an inode's row.
    pub fn of(subvolume: u64, inode: u64) -> Self {
        let number = inode >> PLACES;
        Self { subvolume, number }
    }

    /// The number of the pack in its table. Packs of one subvolume are in the order of their inodes.
    ///
    /// Two packs with one number displace each other, which costs reads: each pack contains its key.
    pub fn table_number(self) -> i64 {
        (self.number ^ self.subvolume.rotate_left(40)) as i64
    }

    fn to_bytes(self) -> [u8; KEY] {
        let mut bytes = [0; KEY];
        bytes[..8].copy_from_slice(&self.subvolume.to_le_bytes());
        bytes[8..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }
}

/// Length of a key in a pack, bytes.
const KEY: usize = 16;

/// Number of an inode in its pack.
fn place(inode: u64) -> u32 {
    (inode & ((1 << PLACES) - 1)) as u32
}

/// A row with its inode.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// Subvolume of the file.
    pub subvolume: u64,
    /// Its inode number.
    pub inode: u64,
    /// The row.
    pub row: Row,
}

impl Numbered {
    /// The pack of the row.
    pub fn pack(&self) -> PackKey {
        PackKey::of(self.subvolume, self.inode)
    }
}

/// The bit of an inode in its pack.
pub fn bit(inode: u64) -> u32 {
    1 << place(inode)
}

/// Replaces `row` by the row of an inode in its pack, and returns the day of its mark; `None` if it is missing or damaged.
pub fn find(pack: &[u8], subvolume: u64, inode: u64, row: &mut Row) -> Option<Day> {
    let rows = Rows::of(pack, PackKey::of(subvolume, inode))?;
    let (day, stored) = rows.at(place(inode))?;
    row.read(subvolume, inode, stored).then_some(day)
}

/// Number of rows in a pack, including damaged ones.
pub fn count(pack: &[u8]) -> u64 {
    let rows = pack.get(KEY..).and_then(Rows::of_any);
    rows.map_or(0, |rows| u64::from(rows.places.count_ones()))
}

/// The pack with new rows in it, which are in the order of their inodes. `join` gets the stored row and the new one. Rows
/// that have not been used for long are left out.
pub fn updated(
    pack: &[u8],
    key: PackKey,
    new: &[Numbered],
    today: Day,
    join: impl Fn(Option<Row>, &Row) -> Row,
) -> Vec<u8> {
    let before = Rows::of(pack, key).unwrap_or_default();
    let length = pack.len() + new.len() * ROW;
    let mut new = new.chunk_by(|one, next| one.inode == next.inode).peekable();
    rebuilt(&key.to_bytes(), length, |at, rows| {
        let Some(new) = new.next_if(|new| place(new[0].inode) == at) else {
            return before.copy(at, today, rows);
        };
        let inode = new[0].inode;
        let stored = before.at(at);
        let decoded = stored.and_then(|(_, bytes)| Row::decode(key.subvolume, inode, bytes));
        let row = new
            .iter()
            .fold(decoded, |row, new| Some(join(row, &new.row)));
        if let Some(row) = row {
            row.encode(key.subvolume, inode, rows);
        }
        today
    })
}

/// The pack with these rows, by their bits, marked as used today. Rows that have not been used for long are left out.
pub fn renewed(pack: &[u8], used: u32, today: Day) -> Option<Vec<u8>> {
    let (key, before) = pack.split_at_checked(KEY)?;
    let before = Rows::of_any(before)?;
    Some(rebuilt(key, pack.len(), |at, rows| match before.at(at) {
        Some((_, row)) if used >> at & 1 == 1 => {
            rows.extend_from_slice(row);
            today
        }
        _ => before.copy(at, today, rows),
    }))
}

/// A pack of about this length. `each` appends the row of an inode, if there is one, and returns its day.
fn rebuilt(key: &[u8], length: usize, mut each: impl FnMut(u32, &mut Vec<u8>) -> Day) -> Vec<u8> {
    let mut rows = Vec::with_capacity(length);
    let mut places = 0;
    let mut days = Vec::with_capacity(2 << PLACES);
    let mut lengths = Vec::with_capacity(2 << PLACES);
    for at in 0..1 << PLACES {
        let start = rows.len();
        let day = each(at, &mut rows);
        match u16::try_from(rows.len() - start) {
            Ok(0) => {}
            Ok(length) => {
                places |= 1_u32 << at;
                days.extend(day.number().to_le_bytes());
                lengths.extend(length.to_le_bytes());
            }
            Err(_) => rows.truncate(start),
        }
    }
    let header = KEY + size_of::<u32>() + days.len() + lengths.len();
    let mut pack = Vec::with_capacity(header + rows.len());
    pack.extend(key);
    pack.extend(places.to_le_bytes());
    pack.extend(days);
    pack.extend(lengths);
    pack.extend(rows);
    pack
}

/// The rows of a pack.
#[derive(Clone, Copy, Debug, Default)]
struct Rows<'p> {
    places: u32,
    days: &'p [[u8; 2]],
    lengths: &'p [[u8; 2]],
    rows: &'p [u8],
}

impl<'p> Rows<'p> {
    /// The rows of a pack with this key.
    fn of(pack: &'p [u8], key: PackKey) -> Option<Self> {
        Self::of_any(pack.strip_prefix(&key.to_bytes())?)
    }

    /// The rows after the key of a pack.
    fn of_any(pack: &'p [u8]) -> Option<Self> {
        let (places, rest) = pack.split_first_chunk()?;
        let places = u32::from_le_bytes(*places);
        let count = places.count_ones() as usize;
        let (numbers, rows) = rest.split_at_checked(4 * count)?;
        let (days, lengths) = numbers.as_chunks().0.split_at(count);
        Some(Self {
            places,
            days,
            lengths,
            rows,
        })
    }

    /// Appends a stored row, unless it has not been used for long; returns its day.
    fn copy(&self, place: u32, today: Day, to: &mut Vec<u8>) -> Day {
        let stored = self.at(place);
        match stored.filter(|(day, _)| *day >= today.first_kept()) {
            Some((day, row)) => {
                to.extend_from_slice(row);
                day
            }
            None => today,
        }
    }

    /// The row of an inode with this number in the pack, and the day of its mark.
    fn at(&self, place: u32) -> Option<(Day, &'p [u8])> {
        let bit = 1 << place;
        if self.places & bit == 0 {
            return None;
        }
        let before = (self.places & (bit - 1)).count_ones() as usize;
        let length = |length: &[u8; 2]| usize::from(u16::from_le_bytes(*length));
        let start = self.lengths.get(..before)?.iter().map(length).sum();
        let end = start + self.lengths.get(before).map(length)?;
        let day = u16::from_le_bytes(*self.days.get(before)?);
        Some((Day::from_number(day), self.rows.get(start..end)?))
    }
}

#[cfg(test)]
mod tests;
