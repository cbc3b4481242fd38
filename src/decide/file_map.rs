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
