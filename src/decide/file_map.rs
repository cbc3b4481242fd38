//! Maps with file numbers as keys. Files are numbered in the order of their arrival, so no user can choose the
//! numbers, and a hash that only mixes their bits is enough.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

use crate::file::FileIndex;

use super::keys::mixed;

/// A map by file.
pub type FileMap<T> = HashMap<FileIndex, T, BuildHasherDefault<NumberHasher>>;

/// Removes the value of a key. Most maps of a search are empty, and `HashMap::remove` hashes the key of an empty map, too.
pub fn removed<K: Eq + Hash, T, S: BuildHasher>(map: &mut HashMap<K, T, S>, key: &K) -> Option<T> {
    match map.is_empty() {
        true => None,
        false => map.remove(key),
    }
}

/// Hashes a number.
#[derive(Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mixed(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = mixed(self.0 ^ u64::from(number));
    }

    fn finish(&self) -> u64 {
        self.0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_files_that_were_added_and_no_others() {
        let added = [0, 1, 63, 64, 1000, 63];
        let mut set = FileSet::default();
        added
            .into_iter()
            .for_each(|number| set.insert(FileIndex(number)));
        let found = (0..2000).filter(|&number| set.contains(FileIndex(number)));
        assert_eq!(found.collect::<Vec<_>>(), [0, 1, 63, 64, 1000]);
    }
}
