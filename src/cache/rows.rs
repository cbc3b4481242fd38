//! One file of rows: frames of rows in the order in which runs learned them, and the index of a run that ended alone.
//!
//! A run appends frames, so that a kill costs only the last one. Several runs may do so at a time: each has a shared
//! lock. Later runs request the rows mostly in the same order, so mostly the next one is in the frame that was read
//! last.

use std::ffi::OsStr;
use std::fs::File;
use std::mem;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::CacheError;
use super::folder::CacheFolder;
use super::frame::{
    self, Day, Entry, FULL, HEAD, Key, Kind, LONGEST_ENTRY, MAGIC, START, WORD_LEN,
};
use super::index::{Index, hash};
use super::log::Log;
use super::row::Row;
use super::rule;
use crate::hash::SampleDigest;
use crate::heartbeat::current;
use crate::sys::{sync, write};

/// Number of parts of frames in memory. A repeat does not come by all files in the order in which they were read first,
/// least of all where that was the order of a disk: over 200,000 files, it then came by each frame 38 times.
const SLOTS: usize = 192;

/// Length of such a part, words. A frame is read as a whole only to check it.
const PART: u32 = 1024;

/// Length of a part with the end of its last entry, bytes.
const LONGEST_PART: usize = PART as usize * WORD_LEN + LONGEST_ENTRY;

/// A file of rows, opened with a shared lock.
pub struct Rows {
    /// Its end, as far as it is whole, with the places of all entries.
    pub log: Log,
    /// The length of its part that the last index in it covers.
    pub covered: u64,
    /// The hashes of entries before later ones with the same hash, sorted.
    pub superseded: Vec<u32>,
    /// The ends of frames that were checked, by number: the place of the beginning if a frame is damaged, 0 if it was
    /// not checked yet. Other runs do not change what is whole.
    ends: Vec<u32>,
    /// Parts of checked frames with their places, each in the slot that its place leads to, and each with the end of its
    /// last entry.
    parts: Vec<(u32, Vec<u8>)>,
    /// The part that an entry was requested of last, and its slot.
    part: (Range<u32>, usize),
    /// Room for a frame that is checked.
    frame: Vec<u8>,
    /// The place after the entry that was requested last: mostly that of the next one.
    next: u32,
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

    /// Reads the index, and the frames that it does not cover. A file of another version has no rows.
    fn read(file: Arc<File>, seed: u64) -> Result<Self, CacheError> {
        is_ours(&file)?;
        let mut rows = Self::new(file, seed);
        if rows.log.len()? >= START as u64 {
            rows.read_index();
            rows.read_log();
        }
        rows.sort();
        Ok(rows)
    }

    /// An empty file of rows.
    pub fn new(file: Arc<File>, seed: u64) -> Self {
        Self {
            log: Log::new(file, seed, 0),
            covered: 0,
            superseded: Vec::new(),
            ends: Vec::new(),
            parts: Vec::new(),
            part: (0..0, 0),
            frame: Vec::new(),
            next: 0,
        }
    }

    /// Reads the last index. If it is damaged, everything is read as if there were none.
    fn read_index(&mut self) -> Option<()> {
        self.covered = START as u64;
        let mut frame = Vec::new();
        let kind = self.read_frame(0, &mut frame)?;
        let offset = u64::from_le_bytes(*frame[HEAD..].first_chunk()?);
        if kind == Kind::Start && self.read_frame(offset, &mut frame)? == Kind::Index {
            self.log.index = Index::decode(&frame[HEAD..])?;
            self.covered = offset + frame.len() as u64;
        }
        Some(())
    }

    fn read_log(&mut self) {
        self.log.end = self.covered;
        let mut frame = Vec::new();
        while let Some(kind) = self.read_frame(self.log.end, &mut frame) {
            match kind {
                Kind::Rows => self.log.index.add(&frame, self.log.end),
                Kind::Searched => {
                    let path = frame[HEAD..].split(|byte| *byte == 0).next();
                    self.log.searched = path.map(|path| OsStr::from_bytes(path).into());
                }
                Kind::Start | Kind::Index => {}
            }
            self.log.end += frame.len() as u64;
        }
    }

    /// Replaces `frame` by the frame at this offset, and returns its kind; `None` if there is no whole one.
    fn read_frame(&self, offset: u64, frame: &mut Vec<u8>) -> Option<Kind> {
        frame.resize(FULL + LONGEST_ENTRY, 0);
        let read = self.log.file.read_at(frame, offset).ok()?;
        let length = HEAD + frame::length(frame[..read].first_chunk()?);
        if length > read {
            // An index, unless the file ends before.
            if offset.checked_add(length as u64)? > self.log.len().ok()? {
                return None;
            }
            frame.resize(length, 0);
            self.log.file.read_exact_at(frame, offset).ok()?;
        }
        frame.truncate(length);
        frame::kind(frame, self.log.seed)
    }

    /// Makes all rows findable.
    fn sort(&mut self) {
        self.log.index.sort();
        self.log.index.note_starts();
        self.superseded = self.log.index.superseded();
    }

    /// Adds the rows that this run has appended. If other runs have appended some as well, all are read again.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn join(mut self, appended: Option<Log>) -> Result<Self, CacheError> {
        if let Some(appended) = appended {
            self.log.index.join(appended.index);
            (self.log.end, self.log.searched) = (appended.end, appended.searched);
        }
        if self.log.len()? != self.log.end {
            return Self::read(self.log.file, self.log.seed);
        }
        self.sort();
        Ok(self)
    }

    /// True if any row is stored.
    pub fn any(&self) -> bool {
        !self.log.index.entries.is_empty()
    }

    /// Cuts off what a killed run has half written, since what is appended after it would not be found; not if another
    /// run uses the file.
    fn cut_off(&self) -> Result<(), CacheError> {
        let Log { file, end, .. } = &self.log;
        let len = self.log.len()?;
        if *end < len {
            if sync::hold(&**file, true)? && self.log.len()? == len {
                write::set_length(&**file, *end)?;
            }
            sync::hold(&**file, false)?;
        }
        Ok(())
    }

    /// The file with its lock, and its length as far as it is whole.
    pub fn end(&self) -> (Arc<File>, u64) {
        (Arc::clone(&self.log.file), self.log.end)
    }

    /// The path that was searched by the last run that wrote a row.
    pub fn searched(&self) -> Option<&Path> {
        self.log.searched.as_deref()
    }

    /// Number of files with a row. Two files with one hash count as one, which are few.
    pub fn count(&self) -> u64 {
        (self.log.index.entries.len() - self.superseded.len()) as u64
    }

    /// Replaces `row` by the row of a file, for any state of the file, and returns the day of its mark; `None`, with
    /// `row` in any state, if there is none.
    pub fn find(&mut self, key: Key, row: &mut Row) -> Option<Day> {
        self.find_last(key, row).map(|(day, _)| day)
    }

    /// The same, with the place of the last entry of this file.
    fn find_last(&mut self, key: Key, row: &mut Row) -> Option<(Day, u32)> {
        if self.has_one(key)
            && let Some((entry, next)) = self.entry(self.next)
            && entry.key == key
            && row.read(entry.row)
        {
            let day = entry.day;
            return Some((day, mem::replace(&mut self.next, next)));
        }
        let mut found = None;
        for nth in self.log.index.of(hash(key)) {
            let place = self.log.index.entries[nth] as u32;
            let mut new = Row::default();
            if let Some((entry, next)) = self.entry(place)
                && entry.key == key
                && new.read(entry.row)
            {
                let day = entry.day;
                self.next = next;
                *row = joined(found.map(|_| &*row), new);
                found = Some((day, place));
            }
        }
        found
    }

    /// True if there are no two entries with the hash of this key.
    fn has_one(&self, key: Key) -> bool {
        self.superseded.binary_search(&hash(key)).is_err()
    }

    /// The entry at a place, and the place after it; `None` if its frame is damaged or ends there.
    fn entry(&mut self, place: u32) -> Option<(Entry<'_>, u32)> {
        if !self.part.0.contains(&place) {
            self.load(place)?;
        }
        let (Range { start, .. }, slot) = self.part;
        let at = place.checked_sub(start)? as usize * WORD_LEN;
        let (entry, next) = Entry::at(&self.parts[slot].1, at)?;
        Some((entry, start + (next / WORD_LEN) as u32))
    }

    /// Gets the part of a frame with this place.
    fn load(&mut self, place: u32) -> Option<()> {
        self.part = (0..0, 0);
        let starts = &self.log.index.frames;
        let after = starts.partition_point(|start| *start <= place);
        let nth = after.checked_sub(1)?;
        self.ends.resize(starts.len(), 0);
        let room = || (0, Vec::with_capacity(LONGEST_PART));
        self.parts.resize_with(SLOTS, room);
        let frame = starts[nth];
        if self.ends[nth] == 0 {
            self.ends[nth] = self.check(frame);
        }
        let end = self.ends[nth];
        if place >= end {
            return None;
        }
        let start = place - (place - frame) % PART;
        let (slot, len) = part_of(start, end);
        let (kept, part) = &mut self.parts[slot];
        if *kept != start {
            // Nothing is kept if it cannot be read.
            *kept = 0;
            part.resize(len, 0);
            let offset = u64::from(start) * WORD_LEN as u64;
            self.log.file.read_exact_at(part, offset).ok()?;
            *kept = start;
        }
        self.part = (start..end.min(start.saturating_add(PART)), slot);
        Some(())
    }

    /// Checks the frame at this place, and keeps its parts. Returns its end; its beginning if it is damaged.
    fn check(&mut self, frame: u32) -> u32 {
        let mut bytes = mem::take(&mut self.frame);
        if self.read_rows(frame, &mut bytes).is_none() {
            bytes.clear();
        }
        let end = frame + (bytes.len() / WORD_LEN) as u32;
        for start in (frame..end).step_by(PART as usize) {
            let (slot, len) = part_of(start, end);
            let at = (start - frame) as usize * WORD_LEN;
            let (kept, part) = &mut self.parts[slot];
            *kept = start;
            part.clear();
            part.extend_from_slice(&bytes[at..][..len]);
        }
        self.frame = bytes;
        end
    }

    fn read_rows(&self, start: u32, frame: &mut Vec<u8>) -> Option<()> {
        let kind = self.read_frame(u64::from(start) * WORD_LEN as u64, frame);
        (kind == Some(Kind::Rows)).then_some(())
    }

    /// Passes an entry for each file to `each`, in the order of the last entries.
    pub(super) fn each(&mut self, mut each: impl FnMut(Entry<'_>)) {
        let (mut frame, mut row, mut bytes) = (Vec::new(), Row::default(), Vec::new());
        for nth in 0..self.log.index.frames.len() {
            // A large file takes some time.
            current::beat();
            let start = self.log.index.frames[nth];
            if self.read_rows(start, &mut frame).is_none() {
                continue;
            }
            let mut at = HEAD;
            while let Some((entry, next)) = Entry::at(&frame, at) {
                let place = start + (at / WORD_LEN) as u32;
                at = next;
                if self.has_one(entry.key) {
                    each(entry);
                } else if let Some((_, last)) = self.find_last(entry.key, &mut row)
                    && last == place
                {
                    bytes.clear();
                    row.encode(&mut bytes);
                    each(Entry {
                        row: &bytes,
                        ..entry
                    });
                }
            }
        }
    }
}

/// Makes sure that seekless made a file.
///
/// # Errors
/// If it did not.
pub fn is_ours(file: &File) -> Result<(), CacheError> {
    let mut word = MAGIC;
    let read = file.read_at(&mut word, 0)?;
    if word[..read] == MAGIC[..read] {
        Ok(())
    } else {
        Err(CacheError::Occupied("is a file"))
    }
}

/// The slot of the part that starts here, of a frame with this end, and its length in bytes.
fn part_of(start: u32, end: u32) -> (usize, usize) {
    let slot = (start / PART) as usize % SLOTS;
    (slot, LONGEST_PART.min((end - start) as usize * WORD_LEN))
}

/// A new row, with the data of an older one if it still applies.
fn joined(before: Option<&Row>, mut new: Row) -> Row {
    let holds = |was: &&Row| rule::holds(&was.state, was.began_ns, &new.state, new.began_ns);
    if let Some(before) = before.filter(holds) {
        new.join(before.clone());
    }
    new
}
