//! Maps and lists of files by their numbers.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use crate::file::{FileIndex, NumberMap};

/// A map by file.
pub type FileMap<T> = NumberMap<FileIndex, T>;

/// Removes the value of a key. Most maps of a search are empty, and `HashMap::remove` hashes the key of an empty map,
/// too.
pub fn removed<K: Eq + Hash, T, S: BuildHasher>(map: &mut HashMap<K, T, S>, key: &K) -> Option<T> {
    if map.is_empty() {
        None
    } else {
        map.remove(key)
    }
}

/// A set of files: one bit for each number up to the highest one in it. Files are numbered in the order of their
/// arrival, so a set takes at most an eighth of a byte for each file that was found.
#[derive(Debug, Default)]
pub struct FileSet(Vec<u64>);

impl FileSet {
    /// Adds a file.
    pub fn insert(&mut self, file: FileIndex) {
        let (word, bit) = place(file);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// True if the file is in the set.
    pub fn contains(&self, file: FileIndex) -> bool {
        let (word, bit) = place(file);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// The word and the bit of a file.
fn place(file: FileIndex) -> (usize, u64) {
    let FileIndex(number) = file;
    ((number / u64::BITS) as usize, 1 << (number % u64::BITS))
}

/// "No file".
const NONE: u32 = u32::MAX;

/// The files held in one class: the last of them, from which [`Chain`] leads to the others.
#[derive(Clone, Copy, Debug)]
pub struct Held(u32);

impl Default for Held {
    fn default() -> Self {
        Self(NONE)
    }
}

/// For each file, the file held before it in the same class. A file is held in one place at a time, so one chain serves
/// all joins.
#[derive(Debug, Default)]
pub struct Chain(Vec<u32>);

impl Chain {
    /// Holds one more file.
    pub fn hold(&mut self, held: &mut Held, file: FileIndex) {
        let i = file.0 as usize;
        if i >= self.0.len() {
            self.0.resize(i + 1, NONE);
        }
        self.0[i] = held.0;
        held.0 = file.0;
    }

    /// The files that are held, in the order of arrival.
    pub fn list(&self, held: Held) -> Vec<FileIndex> {
        let mut files = Vec::new();
        let mut at = held.0;
        while at != NONE {
            files.push(FileIndex(at));
            at = self.0[at as usize];
        }
        files.reverse();
        files
    }
}

/// A number with its bits well mixed (splitmix64's finalizer).
pub fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
