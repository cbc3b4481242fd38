//! The index of a file of rows: the place of each entry, sorted by a hash of its key. Eight bytes for each entry. Two
//! keys with one hash cost a look at both entries, since the keys are in the entries.

use std::ops::Range;

use super::frame::{Day, Entry, HEAD, Key, WORD_LEN};
use super::row::Rest;

/// Number of entries that share the upper bits of their hashes, at least, if there are so many: they fill a line of the
/// processor's cache.
const TOGETHER: usize = 8;

/// The places of entries.
#[derive(Debug)]
pub struct Index {
    /// For each entry, the hash of its key and, in the lower half, its place.
    pub entries: Vec<u64>,
    /// The places of their frames.
    pub frames: Vec<u32>,
    /// The day of the entry that has not been used for the longest time.
    pub oldest: Day,
    /// By the upper bits of a hash, where the entries that have them, or higher ones, begin.
    starts: Vec<u32>,
    /// How far to shift an entry for these bits.
    shift: u32,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            frames: Vec::new(),
            oldest: Day(u16::MAX),
            starts: Vec::new(),
            shift: u64::BITS - 1,
        }
    }
}

/// The hash of a key.
pub fn hash(key: Key) -> u32 {
    // The end of SplitMix64: all hashes are equally probable, whatever the numbers are.
    let mut mixed = key.0.rotate_left(32) ^ key.1;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 32) as u32
}

impl Index {
    /// Adds the entries of a frame at this offset in the file. What is behind the last place is not added, so it is not
    /// found.
    pub fn add(&mut self, frame: &[u8], offset: u64) {
        let words = |bytes: u64| u32::try_from(bytes / WORD_LEN as u64);
        let (Ok(start), Ok(_)) = (words(offset), words(offset + frame.len() as u64)) else {
            return;
        };
        self.frames.push(start);
        let mut at = HEAD;
        while let Some((entry, next)) = Entry::at(frame, at) {
            let place = start + (at / WORD_LEN) as u32;
            let hash = u64::from(hash(entry.key));
            self.entries.push(hash << 32 | u64::from(place));
            self.oldest = self.oldest.min(entry.day);
            at = next;
        }
    }

    /// Adds the entries of later frames.
    pub fn join(&mut self, mut later: Self) {
        self.entries.append(&mut later.entries);
        self.frames.append(&mut later.frames);
        self.oldest = self.oldest.min(later.oldest);
    }

    /// Sorts the entries.
    pub fn sort(&mut self) {
        self.entries.sort();
    }

    /// Makes sorted entries findable.
    pub fn note_starts(&mut self) {
        let bits = (self.entries.len() / TOGETHER).max(2).ilog2();
        self.shift = u64::BITS - bits;
        self.starts.clear();
        for (nth, entry) in (0..).zip(&self.entries) {
            let bits = (entry >> self.shift) as usize;
            if self.starts.len() <= bits {
                self.starts.resize(bits + 1, nth);
            }
        }
    }

    /// The numbers of the entries with this hash, in the order in which they were written.
    pub fn of(&self, hash: u32) -> Range<usize> {
        let first = u64::from(hash) << 32;
        let start = self.starts.get((first >> self.shift) as usize);
        let start = start.map_or(self.entries.len(), |start| *start as usize);
        let before = self.entries[start..].iter();
        let start = start + before.take_while(|entry| **entry < first).count();
        let of_hash = self.entries[start..].iter();
        let of_hash = of_hash.take_while(|entry| *entry >> 32 == u64::from(hash));
        start..start + of_hash.count()
    }

    /// The hashes of entries before later ones with the same hash, sorted.
    pub fn superseded(&self) -> Vec<u32> {
        let pairs = self.entries.iter().zip(self.entries.iter().skip(1));
        let pairs = pairs.filter(|(a, b)| *a >> 32 == *b >> 32);
        pairs.map(|(a, _)| (a >> 32) as u32).collect()
    }

    /// Appends it to a frame.
    pub fn encode(&self, frame: &mut Vec<u8>) {
        frame.extend(self.oldest.0.to_le_bytes());
        frame.extend([0; 2]);
        frame.extend((self.frames.len() as u32).to_le_bytes());
        frame.extend(self.frames.iter().flat_map(|place| place.to_le_bytes()));
        frame.extend(self.entries.iter().flat_map(|entry| entry.to_le_bytes()));
    }

    /// The index in the payload of a frame.
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let mut rest = Rest(payload);
        let oldest = Day(u16::from_le_bytes(rest.take()?));
        let [_, _] = rest.take()?;
        let frames = u32::from_le_bytes(rest.take()?) as usize;
        let (frames, entries) = rest.0.split_at_checked(frames * WORD_LEN)?;
        let frames = frames.as_chunks().0.iter();
        let entries = entries.as_chunks().0.iter();
        Some(Self {
            oldest,
            frames: frames.map(|bytes| u32::from_le_bytes(*bytes)).collect(),
            entries: entries.map(|bytes| u64::from_le_bytes(*bytes)).collect(),
            ..Self::default()
        })
    }
}
