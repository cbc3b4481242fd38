//! The frames of a file of rows: each has a checksum, so a piece that is damaged or half written is as good as missing.
//!
//! ```text
//! frame: "seekless" · version u8 · kind u8 · 0 u16 · length u32 · check u64 · payload
//! rows:  n × (subvolume u64 · inode u64 · day u16 · length u16 · row)
//! index: n × (subvolume u64 · inode u64 · offset u64)
//! start: offset of the index u64 · number of its rows u64
//! ```

use super::row::{Rest, Row};

/// The first bytes of each frame, in all versions.
pub const WORD: [u8; 8] = *b"seekless";

/// The version of the format, and the kind of the digests. Frames of another version count as damaged.
const VERSION: u8 = 2;

/// Length of the head of a frame, bytes.
pub const HEAD: usize = 24;

/// What a frame contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Where the index of the sorted rows is. It is the first frame of a file that has an index.
    Start,
    /// Rows.
    Rows,
    /// The first row of each frame of sorted rows, and the offset of the frame.
    Index,
    /// The path that a run searched.
    Searched,
}

/// A frame without payload. Its head is written by [`seal`].
pub fn begun() -> Vec<u8> {
    vec![0; HEAD]
}

/// Completes a frame. `seed` differs from file to file.
pub fn seal(frame: &mut [u8], kind: Kind, seed: u64) {
    let (head, payload) = frame.split_at_mut(HEAD);
    head.copy_from_slice(&head_of(kind as u8, payload, seed));
}

/// The kind and the payload of the frame at the beginning of these bytes; `None` if there is no whole one.
pub fn first(bytes: &[u8], seed: u64) -> Option<(Kind, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let length = u32::from_le_bytes(*head[12..].first_chunk()?);
    let payload = rest.get(..length as usize)?;
    let kinds = [Kind::Start, Kind::Rows, Kind::Index, Kind::Searched];
    let kind = kinds.get(usize::from(head[9]))?;
    (*head == head_of(head[9], payload, seed)).then_some((*kind, payload))
}

fn head_of(kind: u8, payload: &[u8], seed: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&WORD);
    head[8..10].copy_from_slice(&[VERSION, kind]);
    head[12..16].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8] = kind;
    head[16..].copy_from_slice(&blake3::keyed_hash(&key, payload).as_bytes()[..8]);
    head
}

/// The file that a row belongs to: its subvolume and its inode number, or two numbers computed from its path.
pub type Key = (u64, u64);

/// A row in a frame, with its key and the day on which it was last marked as used.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'f> {
    /// Its file.
    pub key: Key,
    /// Its day.
    pub day: Day,
    /// The encoded row.
    pub row: &'f [u8],
}

/// Length of an entry without its row, bytes.
const EMPTY: usize = 20;

impl<'f> Entry<'f> {
    /// The entry at this place in the payload of a frame, and the place of the next one.
    pub fn at(payload: &'f [u8], place: usize) -> Option<(Self, usize)> {
        let (head, rest) = payload.get(place..)?.split_first_chunk::<EMPTY>()?;
        let mut head = Rest(head);
        let key = (
            u64::from_le_bytes(head.take()?),
            u64::from_le_bytes(head.take()?),
        );
        let day = Day(u16::from_le_bytes(head.take()?));
        let length = u16::from_le_bytes(head.take()?);
        let row = rest.get(..usize::from(length))?;
        let entry = Self { key, day, row };
        Some((entry, place + EMPTY + row.len()))
    }

    /// The entries of the payload of a frame.
    pub fn all(payload: &'f [u8]) -> impl Iterator<Item = Self> {
        let mut place = 0;
        std::iter::from_fn(move || {
            let (entry, next) = Self::at(payload, place)?;
            place = next;
            Some(entry)
        })
    }

    /// Appends it to a frame.
    pub fn push(&self, frame: &mut Vec<u8>) {
        frame.extend(self.key.0.to_le_bytes());
        frame.extend(self.key.1.to_le_bytes());
        frame.extend(self.day.0.to_le_bytes());
        frame.extend((self.row.len() as u16).to_le_bytes());
        frame.extend_from_slice(self.row);
    }
}

/// Appends a row to a frame.
pub fn push_row(frame: &mut Vec<u8>, key: Key, day: Day, row: &Row) {
    let start = frame.len();
    Entry { key, day, row: &[] }.push(frame);
    row.encode(frame);
    let length = frame.len() - start - EMPTY;
    frame[start + 18..start + EMPTY].copy_from_slice(&(length as u16).to_le_bytes());
}

/// Days after which a used row is marked as used again. So an ordinary run marks nothing: to mark rows, it writes the
/// whole file. A guess.
const MARKED_EVERY: u16 = 30;

/// Days for which an unused row stays at least: half a year.
const UNUSED: u16 = 183;

/// A day, as its number since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(u16);

impl Day {
    /// The day of a moment, nanoseconds since 1970. The last one that is known is in the year 2149.
    pub fn of(ns: i64) -> Self {
        const DAY_NS: i64 = 24 * 3600 * 1_000_000_000;
        Self(u16::try_from((ns / DAY_NS).max(0)).unwrap_or(u16::MAX))
    }

    /// True if a row that was marked on another day and is used today has to be marked again. A day in the future is
    /// from a clock that was wrong.
    pub fn renews(self, marked: Self) -> bool {
        marked > self || self.0 - marked.0 >= MARKED_EVERY
    }

    /// True if a row that was marked on another day stays today. One that goes has not been used for half a year, and
    /// up to `MARKED_EVERY` days longer.
    pub fn keeps(self, marked: Self) -> bool {
        marked.0 >= self.0.saturating_sub(UNUSED + MARKED_EVERY)
    }
}
