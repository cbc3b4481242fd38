//! Packs: rows of neighbouring inodes, which are written and read together. With single rows, SQLite itself would take
//! most of the time of a row.
//!
//! ```text
//! subvolume u64 · number u64 · places u32 · n × length u16 · n × row
//! ```
//! A bit of `places` says for each inode whether the pack has a row for it. The rows are in the order of the inodes.

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

/// The row of an inode in its pack; `None` if it is missing or damaged.
pub fn find(pack: &[u8], subvolume: u64, inode: u64) -> Option<Row> {
    let rows = Rows::of(pack, PackKey::of(subvolume, inode))?;
    Row::decode(subvolume, inode, rows.at(place(inode))?)
}

/// Number of rows in a pack, including damaged ones.
pub fn count(pack: &[u8]) -> u64 {
    let rows = pack.get(KEY..).and_then(Rows::of_any);
    rows.map_or(0, |rows| u64::from(rows.places.count_ones()))
}

/// The pack with new rows in it, which are in the order of their inodes. `join` gets the stored row and the new one.
pub fn updated(
    pack: &[u8],
    key: PackKey,
    new: &[Numbered],
    join: impl Fn(Option<Row>, &Row) -> Row,
) -> Vec<u8> {
    let before = Rows::of(pack, key).unwrap_or_default();
    let mut rows = Vec::with_capacity(pack.len() + new.len() * ROW);
    let (mut places, mut lengths) = (0, Vec::with_capacity(2 << PLACES));
    let mut new = new.chunk_by(|one, next| one.inode == next.inode).peekable();
    for at in 0..1 << PLACES {
        let start = rows.len();
        let stored = before.at(at);
        match new.next_if(|new| place(new[0].inode) == at) {
            Some(new) => {
                let inode = new[0].inode;
                let decoded = stored.and_then(|bytes| Row::decode(key.subvolume, inode, bytes));
                let row = new
                    .iter()
                    .fold(decoded, |row, new| Some(join(row, &new.row)));
                if let Some(row) = row {
                    row.encode(key.subvolume, inode, &mut rows);
                }
            }
            None => rows.extend_from_slice(stored.unwrap_or_default()),
        }
        match u16::try_from(rows.len() - start) {
            Ok(0) => {}
            Ok(length) => {
                places |= 1_u32 << at;
                lengths.extend(length.to_le_bytes());
            }
            Err(_) => rows.truncate(start),
        }
    }
    let mut pack = Vec::with_capacity(KEY + size_of::<u32>() + lengths.len() + rows.len());
    pack.extend(key.to_bytes());
    pack.extend(places.to_le_bytes());
    pack.extend(lengths);
    pack.extend(rows);
    pack
}

/// The rows of a pack.
#[derive(Clone, Copy, Debug, Default)]
struct Rows<'p> {
    places: u32,
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
        let (lengths, rows) = rest.split_at_checked(2 * places.count_ones() as usize)?;
        let (lengths, _) = lengths.as_chunks();
        Some(Self {
            places,
            lengths,
            rows,
        })
    }

    /// The row of an inode with this number in the pack.
    fn at(&self, place: u32) -> Option<&'p [u8]> {
        let bit = 1 << place;
        if self.places & bit == 0 {
            return None;
        }
        let before = (self.places & (bit - 1)).count_ones() as usize;
        let length = |length: &[u8; 2]| usize::from(u16::from_le_bytes(*length));
        let start = self.lengths.get(..before)?.iter().map(length).sum();
        let end = start + self.lengths.get(before).map(length)?;
        self.rows.get(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{FileState, RowPart};
    use crate::hash::SampleDigest;

    const SUBVOLUME: u64 = 5;
    const FIRST: u64 = 7 << PLACES;

    fn numbered(inode: u64, byte: u8) -> Numbered {
        let mut row = Row::new(FileState::default(), 9);
        row.add(RowPart::Head(SampleDigest::of(&[byte])));
        Numbered {
            subvolume: SUBVOLUME,
            inode,
            row,
        }
    }

    fn with(pack: &[u8], new: &[Numbered]) -> Vec<u8> {
        updated(pack, new[0].pack(), new, |_, new| new.clone())
    }

    #[test]
    fn a_pack_has_the_newest_row_of_each_inode() {
        let last = FIRST + (1 << PLACES) - 1;
        let pack = with(&[], &[numbered(FIRST, 1), numbered(last, 2)]);
        let pack = with(&pack, &[numbered(FIRST + 3, 3), numbered(last, 4)]);
        let row = |inode| find(&pack, SUBVOLUME, inode);
        assert_eq!(row(FIRST), Some(numbered(FIRST, 1).row));
        assert_eq!(row(FIRST + 1), None);
        assert_eq!(row(FIRST + 3), Some(numbered(FIRST, 3).row));
        assert_eq!(row(last), Some(numbered(last, 4).row));
        // The same place in another pack, or in another subvolume.
        assert_eq!(row(FIRST + (1 << PLACES)), None);
        assert_eq!(find(&pack, SUBVOLUME + 1, FIRST), None);
    }

    #[test]
    fn the_rows_of_one_inode_are_joined() {
        let pack = with(&[], &[numbered(FIRST, 1)]);
        let new = [numbered(FIRST, 2), numbered(FIRST + 1, 2)];
        let older = |before: Option<Row>, new: &Row| before.unwrap_or_else(|| new.clone());
        let pack = updated(&pack, new[0].pack(), &new, older);
        assert_eq!(find(&pack, SUBVOLUME, FIRST), Some(numbered(FIRST, 1).row));
        assert_eq!(
            find(&pack, SUBVOLUME, FIRST + 1),
            Some(numbered(FIRST, 2).row)
        );
    }

    #[test]
    fn a_damaged_pack_has_right_rows_or_none() {
        let rows = [numbered(FIRST, 1), numbered(FIRST + 5, 2)];
        let whole = with(&[], &rows);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            for pack in [&bytes[..], &whole[..at]] {
                for (nth, numbered) in rows.iter().enumerate() {
                    let found = find(pack, SUBVOLUME, numbered.inode);
                    assert!(
                        found.is_none() || found.as_ref() == Some(&rows[nth].row),
                        "byte {at}"
                    );
                }
                // Nor does it spoil what is added.
                let mended = with(pack, &rows);
                for numbered in &rows {
                    let found = find(&mended, SUBVOLUME, numbered.inode);
                    assert_eq!(found.as_ref(), Some(&numbered.row), "byte {at}");
                }
            }
        }
    }
}
