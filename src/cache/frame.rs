//! The frames of a file of rows: each has a checksum, so a piece that is damaged or half written is as good as missing.
//!
//! ```text
//! frame:    "seekless" · version u8 · kind u8 · 0 u16 · length u32 · check u64 · payload
//! start:    offset of the index u64; 0 if there is none
//! rows:     n × (subvolume u64 · inode u64 · day u16 · length u8 · row)
//! index:    oldest day u16 · 0 u16 · frames u32 · frames × place u32 · n × (place u32 · hash of the key u32)
//! searched: path, filled up with zeros
//! ```
//! All frames and all entries are whole words of 4 bytes long. A place is an offset in words.

use super::row::{Rest, Row};

/// The first bytes of each frame, in all versions.
pub const MAGIC: [u8; 8] = *b"seekless";

/// The version of the format, and the kind of the digests. Frames of another version count as damaged.
const VERSION: u8 = 4;

/// Length of the head of a frame, bytes.
pub const HEAD: usize = 24;

/// Length of the first frame of a file, bytes.
pub const START: usize = HEAD + 8;

/// Length of a word in which places count, bytes: an index has places in 16 GiB.
pub const WORD_LEN: usize = 4;

/// Length of a frame of rows that is full, bytes. A request for one row may read all of it. The checksum of 16 KiB
/// takes little more time than that of 4 KiB: their pieces of 1 KiB are hashed together. Otherwise a guess.
pub const FULL: usize = 16_000;

/// What a frame contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Where the last index is. It is the first frame of a file.
    Start,
    /// Rows, in the order in which a run learned them.
    Rows,
    /// The places of all entries before it.
    Index,
    /// The path that a run searched.
    Searched,
}

/// A frame without payload. Its head is written by [`seal`].
pub fn begun() -> Vec<u8> {
    vec![0; HEAD]
}

/// A frame with this payload.
pub fn of(kind: Kind, payload: &[u8], seed: u64) -> Vec<u8> {
    let mut frame = [&begun(), payload].concat();
    seal(&mut frame, kind, seed);
    frame
}

/// Completes a frame. `seed` differs from file to file.
pub fn seal(frame: &mut Vec<u8>, kind: Kind, seed: u64) {
    frame.resize(frame.len().next_multiple_of(WORD_LEN), 0);
    let (head, payload) = frame.split_at_mut(HEAD);
    head.copy_from_slice(&head_of(kind as u8, payload, seed));
}

/// The length of the payload of the frame that has this head.
pub fn length(head: &[u8; HEAD]) -> usize {
    head[12..]
        .first_chunk()
        .map_or(0, |length| u32::from_le_bytes(*length)) as usize
}

/// The kind of a frame; `None` if it is not whole.
pub fn kind(frame: &[u8], seed: u64) -> Option<Kind> {
    let (head, payload) = frame.split_first_chunk::<HEAD>()?;
    let kinds = [Kind::Start, Kind::Rows, Kind::Index, Kind::Searched];
    let kind = kinds.get(usize::from(head[9]))?;
    (*head == head_of(head[9], payload, seed)).then_some(*kind)
}

fn head_of(kind: u8, payload: &[u8], seed: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&MAGIC);
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
const EMPTY: usize = 19;

/// Maximum length of an entry.
pub const LONGEST_ENTRY: usize = EMPTY + u8::MAX as usize;

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
        let [length] = head.take()?;
        let row = rest.get(..usize::from(length))?;
        let entry = Self { key, day, row };
        Some((entry, place + EMPTY + row.len()))
    }

    /// Appends it to a frame.
    pub fn push(&self, frame: &mut Vec<u8>) {
        frame.extend(self.key.0.to_le_bytes());
        frame.extend(self.key.1.to_le_bytes());
        frame.extend(self.day.0.to_le_bytes());
        frame.push(self.row.len() as u8);
        frame.extend_from_slice(self.row);
    }
}

/// Appends a row to a frame.
pub fn push_row(frame: &mut Vec<u8>, key: Key, day: Day, row: &Row) {
    let start = frame.len();
    Entry { key, day, row: &[] }.push(frame);
    row.encode(frame);
    frame[start + EMPTY - 1] = (frame.len() - start - EMPTY) as u8;
}

/// Days after which a used row is marked as used again. So an ordinary run marks nothing: to mark rows, it writes the
/// whole file. A guess.
const MARKED_EVERY: u16 = 30;

/// Days for which an unused row stays at least: half a year.
const UNUSED: u16 = 183;

/// A day, as its number since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub(super) u16);

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

    /// True if rows have to go, of which the oldest was marked on another day: a month after it need not stay, so that no
    /// file is written anew every day.
    pub fn drops(self, oldest: Self) -> bool {
        !self.keeps(Self(oldest.0.saturating_add(MARKED_EVERY)))
    }

    /// True if a row that was marked on another day stays today. One that goes has not been used for half a year, and
    /// up to `MARKED_EVERY` days longer.
    pub fn keeps(self, marked: Self) -> bool {
        marked.0 >= self.0.saturating_sub(UNUSED + MARKED_EVERY)
    }
}
