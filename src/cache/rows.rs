//! One file of rows. It has two parts: sorted rows in frames of some kilobytes with an index, and a log of what runs
//! have learned since the rows were sorted.
//!
//! A run appends frames to the log, so that a kill costs only the last one. Several runs may do so at a time: each has
//! a shared lock. A run that ends alone writes a new file when the log is long (`merge`).

use std::ffi::OsStr;
use std::fs::File;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::CacheError;
use super::folder::CacheFolder;
use super::frame::{self, Day, Entry, HEAD, Key, Kind, WORD};
use super::row::Row;
use super::rule;
use crate::hash::SampleDigest;
use crate::sys::{sync, write};

/// Number of frames of sorted rows in memory: rows are mostly requested folder by folder, so in the order of their
/// inode numbers. A guess.
const SLOTS: usize = 32;

/// Maximum length of a log that is used.
const LONGEST: u64 = 1 << 30;

/// A file of rows, opened with a shared lock.
pub struct Rows {
    file: Arc<File>,
    /// Its length when it was read.
    len: u64,
    /// Differs from file to file, so that a frame of another file counts as damaged.
    pub(super) seed: u64,
    /// The frames of sorted rows.
    blocks: Vec<Block>,
    /// Number of sorted rows.
    sorted: u64,
    /// Length of the part with the sorted rows and the index.
    pub(super) sorted_len: u64,
    /// The log, as it is in the file.
    log: Vec<u8>,
    /// The keys and places of its entries, sorted.
    logged: Vec<(Key, u32)>,
    /// Length of the log in the file, as far as it is whole.
    pub(super) log_len: u64,
    searched: Option<PathBuf>,
    /// Frames with their numbers, each in the slot that its number leads to.
    slots: Vec<(Option<usize>, Vec<u8>)>,
    /// The place of the sorted row that was requested last, and the number of its frame. Mostly the next one is near.
    next: (usize, usize),
}

/// A frame of sorted rows: its first key, and its place.
#[derive(Clone, Copy)]
struct Block {
    first: Key,
    start: u64,
    end: u64,
}

/// The seed of the checksums in a file with this name.
pub fn seed_of(name: &str) -> u64 {
    SampleDigest::of(name.as_bytes()).first_word()
}

impl Rows {
    /// The rows of a file of this name; `None` if it is missing.
    ///
    /// # Errors
    /// If the file cannot be used or read, or if seekless did not make it.
    pub fn open(folder: &CacheFolder, name: &str) -> Result<Option<Self>, CacheError> {
        let file = folder.locked(name, false)?;
        let Some(file) = file else { return Ok(None) };
        let rows = Self::read(Arc::new(file), seed_of(name))?;
        rows.cut_off()?;
        Ok(Some(rows))
    }

    /// Reads the index and the log. A file of another version and a damaged one have no rows.
    pub(super) fn read(file: Arc<File>, seed: u64) -> Result<Self, CacheError> {
        let len = file.metadata()?.len();
        is_ours(&file)?;
        let mut rows = Self {
            file,
            len,
            seed,
            blocks: Vec::new(),
            sorted: 0,
            sorted_len: 0,
            log: Vec::new(),
            logged: Vec::new(),
            log_len: 0,
            searched: None,
            slots: Vec::new(),
            next: (0, 0),
        };
        rows.read_index();
        rows.read_log();
        Ok(rows)
    }

    fn read_index(&mut self) -> Option<()> {
        let start = self.bytes(0, self.len.min(64));
        let Some((Kind::Start, payload)) = frame::first(&start, self.seed) else {
            return None;
        };
        let (offset, sorted) = payload.split_first_chunk()?;
        let offset = u64::from_le_bytes(*offset);
        let head = self.bytes(offset, HEAD as u64);
        let length = u32::from_le_bytes(*head.get(12..)?.first_chunk()?);
        let end = offset + HEAD as u64 + u64::from(length);
        let index = self.bytes(offset, end.min(self.len).checked_sub(offset)?);
        let Some((Kind::Index, payload)) = frame::first(&index, self.seed) else {
            return None;
        };
        self.sorted = u64::from_le_bytes(*sorted.first_chunk()?);
        let numbers = payload
            .as_chunks::<8>()
            .0
            .iter()
            .map(|number| u64::from_le_bytes(*number));
        let numbers: Vec<u64> = numbers.collect();
        let starts = numbers.as_chunks::<3>().0;
        let ends = starts.iter().skip(1).map(|next| next[2]).chain([offset]);
        let blocks = starts
            .iter()
            .zip(ends)
            .map(|(&[subvolume, inode, start], end)| Block {
                first: (subvolume, inode),
                start,
                end,
            });
        self.blocks = blocks.collect();
        self.sorted_len = end;
        Some(())
    }

    fn read_log(&mut self) {
        let log = self.bytes(self.sorted_len, (self.len - self.sorted_len).min(LONGEST));
        let mut start = 0;
        while let Some((kind, payload)) = frame::first(&log[start..], self.seed) {
            start += HEAD;
            match kind {
                Kind::Rows => {
                    let mut place = 0;
                    while let Some((entry, next)) = Entry::at(payload, place) {
                        self.logged.push((entry.key, (start + place) as u32));
                        place = next;
                    }
                }
                Kind::Searched => self.searched = Some(OsStr::from_bytes(payload).into()),
                // The index is damaged: the sorted rows are found all the same.
                Kind::Start | Kind::Index => {}
            }
            start += payload.len();
        }
        self.log_len = start as u64;
        self.log = log;
        self.logged.sort_unstable();
    }

    /// These bytes of the file. Those that cannot be read are missing, which costs reads of the files that they tell
    /// of.
    fn bytes(&self, offset: u64, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        match self.file.read_exact_at(&mut bytes, offset) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }

    /// True if any row is stored.
    pub fn any(&self) -> bool {
        !self.blocks.is_empty() || !self.logged.is_empty()
    }

    /// Cuts off what a killed run has half written, since what is appended after it would not be found; not if another
    /// run uses the file.
    fn cut_off(&self) -> Result<(), CacheError> {
        let whole = self.sorted_len + self.log_len;
        if whole < self.len {
            if sync::hold(&*self.file, true)? && self.file.metadata()?.len() == self.len {
                write::set_length(&*self.file, whole)?;
            }
            sync::hold(&*self.file, false)?;
        }
        Ok(())
    }

    /// The file, with its lock.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// The path that was searched by the last run that wrote a row.
    pub fn searched(&self) -> Option<&Path> {
        self.searched.as_deref()
    }

    /// Number of files with a row.
    pub fn count(&mut self) -> u64 {
        let mut keys: Vec<Key> = self.logged.iter().map(|(key, _)| *key).collect();
        keys.dedup();
        let mut row = Row::default();
        keys.retain(|&key| self.sorted_row(key, &mut row).is_none());
        self.sorted + keys.len() as u64
    }

    /// Replaces `row` by the row of a file, for any state of the file, and returns the day of its mark; `None`, with
    /// `row` in any state, if there is none.
    pub fn find(&mut self, key: Key, row: &mut Row) -> Option<Day> {
        let mut day = self.sorted_row(key, row);
        let first = self.logged.partition_point(|(logged, _)| *logged < key);
        let of_key = self.logged[first..]
            .iter()
            .take_while(|(logged, _)| *logged == key);
        for (_, place) in of_key {
            let Some((entry, _)) = Entry::at(&self.log, *place as usize) else {
                continue;
            };
            let mut new = Row::default();
            if new.read(entry.row) {
                *row = joined(day.map(|_| &*row), new);
                day = Some(entry.day);
            }
        }
        day
    }

    fn sorted_row(&mut self, key: Key, row: &mut Row) -> Option<Day> {
        let holds = |nth: usize| {
            let (this, next) = (self.blocks.get(nth), self.blocks.get(nth + 1));
            this.is_some_and(|this| this.first <= key) && next.is_none_or(|next| next.first > key)
        };
        // Mostly it is near the row before.
        let nth = if holds(self.next.1) {
            self.next.1
        } else {
            let after = self.blocks.partition_point(|block| block.first <= key);
            after.checked_sub(1)?
        };
        let mut place = if self.next.1 == nth { self.next.0 } else { 0 };
        let payload = self.block(nth);
        // The rows are sorted, so if the next one comes after this file, the search begins anew.
        if Entry::at(payload, place).is_none_or(|(entry, _)| entry.key > key) {
            place = 0;
        }
        while let Some((entry, next)) = Entry::at(payload, place) {
            if entry.key >= key {
                let is_found = entry.key == key && row.read(entry.row);
                let day = is_found.then_some(entry.day);
                self.next = (place, nth);
                return day;
            }
            place = next;
        }
        None
    }

    /// The payload of a frame of sorted rows; empty if it is damaged.
    fn block(&mut self, nth: usize) -> &[u8] {
        if self.slots.is_empty() {
            let slots = SLOTS.min(self.blocks.len());
            self.slots.resize_with(slots, Default::default);
        }
        let at = nth % self.slots.len();
        if self.slots[at].0 != Some(nth) {
            let (_, mut frame) = mem::take(&mut self.slots[at]);
            self.read_block(nth, &mut frame);
            self.slots[at] = (Some(nth), frame);
        }
        self.slots[at].1.get(HEAD..).unwrap_or_default()
    }

    /// Replaces `frame` by a frame of sorted rows, by nothing if it is damaged.
    fn read_block(&self, nth: usize, frame: &mut Vec<u8>) {
        let Block { start, end, .. } = self.blocks[nth];
        frame.resize(end.saturating_sub(start) as usize, 0);
        let is_read = self.file.read_exact_at(frame, start).is_ok();
        let payload = match frame::first(frame, self.seed) {
            Some((Kind::Rows, payload)) if is_read => payload.len(),
            _ => 0,
        };
        frame.truncate(HEAD + payload);
    }

    /// Passes the entries of all rows to `each`, in the order of their keys.
    pub(super) fn each(&self, mut each: impl FnMut(Entry<'_>)) {
        let mut bytes = Vec::new();
        let mut pass = |sorted: Option<Entry<'_>>, logged: &[(Key, u32)]| {
            let logged = logged
                .iter()
                .filter_map(|(_, place)| Entry::at(&self.log, *place as usize));
            let mut entries = sorted.into_iter().chain(logged.map(|(entry, _)| entry));
            let Some(mut last) = entries.next() else {
                return;
            };
            let mut row = None;
            for entry in entries {
                let before = row.or_else(|| decoded(last.row));
                row = decoded(entry.row)
                    .map(|new| joined(before.as_ref(), new))
                    .or(before);
                last = entry;
            }
            if let Some(row) = row {
                bytes.clear();
                row.encode(&mut bytes);
                each(Entry {
                    row: &bytes,
                    ..last
                });
            } else {
                each(last);
            }
        };
        let mut logged = self.logged.chunk_by(|a, b| a.0 == b.0).peekable();
        let mut frame = Vec::new();
        for nth in 0..self.blocks.len() {
            self.read_block(nth, &mut frame);
            for sorted in Entry::all(frame.get(HEAD..).unwrap_or_default()) {
                while let Some(of_key) = logged.next_if(|of_key| of_key[0].0 < sorted.key) {
                    pass(None, of_key);
                }
                let of_key = logged.next_if(|of_key| of_key[0].0 == sorted.key);
                pass(Some(sorted), of_key.unwrap_or_default());
            }
        }
        logged.for_each(|of_key| pass(None, of_key));
    }
}

/// Makes sure that seekless made a file.
///
/// # Errors
/// If it did not.
pub fn is_ours(file: &File) -> Result<(), CacheError> {
    let mut word = WORD;
    let read = file.read_at(&mut word, 0)?;
    if word[..read] == WORD[..read] {
        Ok(())
    } else {
        Err(CacheError::Occupied("is a file"))
    }
}

fn decoded(bytes: &[u8]) -> Option<Row> {
    let mut row = Row::default();
    row.read(bytes).then_some(row)
}

/// A new row, with the data of an older one if it still applies.
fn joined(before: Option<&Row>, mut new: Row) -> Row {
    let holds = |was: &&Row| rule::holds(&was.state, was.began_ns, &new.state, new.began_ns);
    if let Some(before) = before.filter(holds) {
        new.join(before.clone());
    }
    new
}
