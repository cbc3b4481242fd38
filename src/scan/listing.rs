//! A buffer for the entries of one folder, and limits for a scan that would not end by itself.
//!
//! A FUSE file system is a program and may show anything: a folder with endless names, or endlessly nested folders.
//! `docs/explanation/correctness.md` gives the reason for each limit.

use std::ffi::CStr;

use rustix::fs::FileType;

use crate::sys::memory::{self, Memory};
use crate::sys::names;

/// Maximum number of entries in memory. The walk processes the entries in memory in the order of inode numbers, so up
/// to a million entries come in the order of the disk; a folder may have any number.
const ENTRIES: usize = 1 << 20;

/// Maximum bytes of names in memory: as many names of 30 bytes.
const NAMES: usize = 32 << 20;

/// Entries with their names in one buffer, reused from folder to folder.
#[derive(Default)]
pub struct Listing {
    entries: Vec<Entry>,
    names: Vec<u8>,
}

/// One entry.
#[derive(Clone, Copy)]
pub struct Entry {
    ino: u64,
    start: u32,
    /// The type according to the folder; [`FileType::Unknown`] if the folder does not tell.
    pub kind: FileType,
}

impl Listing {
    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.names.clear();
        // One folder of a million names need not cost every walker that memory for good.
        self.names.shrink_to(1 << 20);
        self.entries.shrink_to(1 << 16);
    }

    /// Adds an entry.
    pub fn push(&mut self, name: &CStr, ino: u64, kind: FileType) {
        let start = self.names.len() as u32;
        self.entries.push(Entry { ino, start, kind });
        self.names.extend_from_slice(name.to_bytes_with_nul());
    }

    /// True if the entries must be processed before more are added.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= ENTRIES || self.names.len() >= NAMES
    }

    /// Sorts the entries by inode number, which is the order of the inode tables on disk.
    pub fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.ino);
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The name of an entry.
    pub fn name(&self, entry: Entry) -> &CStr {
        names::first_name(&self.names[entry.start as usize..])
    }
}

/// Maximum number of names in one folder.
pub const MOST_NAMES: u64 = 100_000_000;

/// Maximum depth of nested folders.
pub const DEPTH: u32 = 16_384;

/// Maximum number of folders with one inode number: each further one is compared with all of them.
pub const ALIKE: usize = 256;

/// After this many names, check how much memory is left.
pub const LOOK: usize = 1 << 14;

/// Minimum memory of a process, bytes: a process that uses less is not checked.
const LITTLE: u64 = 32 << 20;

/// True if memory is nearly used up, and this process uses much of it.
pub fn is_memory_short() -> bool {
    memory::of_this_process().is_some_and(is_short)
}

/// Memory that a report takes at most for each set: its place among the sets, and what sorts them.
const SET: u64 = 64;

/// Memory that a report takes beside that for its sets.
const REPORT: u64 = 6 << 20;

/// True if memory is used up but for what a report of so many sets takes.
pub fn is_memory_exhausted(sets: usize) -> bool {
    memory::of_this_process().is_some_and(|memory| is_exhausted(memory, sets))
}

fn is_exhausted(memory: Memory, sets: usize) -> bool {
    let report = REPORT + SET * sets as u64;
    leaves_less_than(memory, 1, 5) || memory.held >= LITTLE && memory.available < report
}

/// True if the tables could not grow much longer. All tables are lists that double when they are full. The system
/// provides memory when it is used: lists that double at one time touch a large page each, and what follows the listing
/// takes up to a third more. If other processes use the memory, listing less would not help.
fn is_short(memory: Memory) -> bool {
    leaves_less_than(memory, 2, 3)
}

/// True if less than this share of what is held is left.
fn leaves_less_than(memory: Memory, part: u64, of: u64) -> bool {
    memory.held >= LITTLE && memory.available < memory.held / of * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_short_when_this_process_holds_most_of_it() {
        let short = |held: u64, available: u64| {
            is_short(Memory {
                held: held << 20,
                available: available << 20,
            })
        };
        assert!(short(6000, 3900));
        assert!(!short(6000, 4100));
        assert!(!short(30, 1), "others hold it");
        assert!(short(500, 330));
    }

    #[test]
    fn memory_is_exhausted_when_a_report_would_take_what_is_left() {
        let exhausted = |held: u64, available: u64, sets| {
            let (held, available) = (held << 20, available << 20);
            is_exhausted(Memory { held, available }, sets)
        };
        let million = 1 << 20;
        assert!(exhausted(100, 69, million));
        assert!(!exhausted(100, 70, million));
        assert!(exhausted(1000, 199, 0));
        assert!(!exhausted(1000, 201, 0));
        assert!(!exhausted(30, 1, million), "others hold it");
    }
}
