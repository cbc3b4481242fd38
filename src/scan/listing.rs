//! A buffer for the entries of one folder.

use std::ffi::CStr;

use rustix::fs::FileType;

use crate::sys::dirent;

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
        dirent::first_name(&self.names[entry.start as usize..])
    }

    /// True if there is an entry of this name.
    pub fn contains(&self, name: &[u8]) -> bool {
        self.entries
            .iter()
            .any(|&entry| self.name(entry).to_bytes() == name)
    }
}
