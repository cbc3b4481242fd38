//! The columns of the file table that take less room than a list of their values would, and further names.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use hashbrown::HashTable;

use super::dir_table::mix;
use super::{DevIndex, DirId, FileIndex};

/// A map by file or folder. They are numbered in the order of their arrival, so no user can choose the numbers, and a
/// hash that only mixes their bits is enough.
pub type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Hashes a number.
#[derive(Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mix(self.0, u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = mix(self.0, u64::from(number));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Names `1 << NAMES_SHIFT` files apart share a 64-bit base, so that each needs 16 bits only.
const NAMES_SHIFT: usize = 4;

/// Longest name, bytes: 4,095, as long as a path can be. So many of them do not reach 2^16.
const LONGEST: usize = ((1 << 16) - 1) >> NAMES_SHIFT;

/// A column of names.
#[derive(Debug, Default)]
pub struct Names {
    /// From the base on.
    ends: Vec<u16>,
    bases: Vec<u64>,
    bytes: Vec<u8>,
}

impl Names {
    /// Adds one.
    ///
    /// # Panics
    /// If it is longer than a path can be.
    pub fn push(&mut self, name: &[u8]) {
        assert!(name.len() <= LONGEST, "a name of {} bytes", name.len());
        if self.ends.len().is_multiple_of(1 << NAMES_SHIFT) {
            self.bases.push(self.bytes.len() as u64);
        }
        let base = self.bases[self.ends.len() >> NAMES_SHIFT];
        self.bytes.extend_from_slice(name);
        self.ends.push((self.bytes.len() as u64 - base) as u16);
    }

    /// The one at this place.
    pub fn get(&self, i: usize) -> &[u8] {
        let base = self.bases[i >> NAMES_SHIFT] as usize;
        let start = if i.is_multiple_of(1 << NAMES_SHIFT) {
            0
        } else {
            self.ends[i - 1]
        };
        &self.bytes[base + usize::from(start)..base + usize::from(self.ends[i])]
    }
}

/// Numbers below 2^32 take four bytes each; from the last larger one on backwards, eight.
#[derive(Debug, Default)]
pub struct Narrow {
    low: Vec<u32>,
    /// Upper halves, as far as the last that is not zero.
    high: Vec<u32>,
}

impl Narrow {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Adds one.
    pub fn push(&mut self, number: u64) {
        let high = (number >> 32) as u32;
        if high != 0 {
            self.high.resize(self.low.len(), 0);
            self.high.push(high);
        }
        self.low.push(number as u32);
    }

    /// The one at this place.
    pub fn get(&self, i: usize) -> u64 {
        let high = self.high.get(i).copied().unwrap_or(0);
        u64::from(high) << 32 | u64::from(self.low[i])
    }
}

/// Files `1 << PLACES_SHIFT` apart share an entry that says which run they begin in.
const PLACES_SHIFT: usize = 4;

/// Files one after the other with the same place.
#[derive(Clone, Copy, Debug)]
struct PlaceRun {
    first: u32,
    dir: DirId,
    volume: DevIndex,
}

/// A column of folders and volumes: 12 bytes for each run.
#[derive(Debug, Default)]
pub struct Places {
    len: usize,
    runs: Vec<PlaceRun>,
    /// The run of every `1 << PLACES_SHIFT`-th file.
    starts: Vec<u32>,
}

impl Places {
    /// Adds one.
    pub fn push(&mut self, dir: DirId, volume: DevIndex) {
        let goes_on = |run: &PlaceRun| run.dir == dir && run.volume == volume;
        if !self.runs.last().is_some_and(goes_on) {
            self.runs.push(PlaceRun {
                first: self.len as u32,
                dir,
                volume,
            });
        }
        if self.len.is_multiple_of(1 << PLACES_SHIFT) {
            self.starts.push(self.runs.len() as u32 - 1);
        }
        self.len += 1;
    }

    /// The one at this place.
    pub fn get(&self, i: usize) -> (DirId, DevIndex) {
        let start = self.starts[i >> PLACES_SHIFT] as usize;
        let further = self.runs[start + 1..].iter();
        let further = further.take_while(|run| run.first as usize <= i);
        let run = self.runs[start + further.count()];
        (run.dir, run.volume)
    }
}

/// A further name of a file.
#[derive(Clone, Copy, Debug)]
struct FurtherName {
    dir: DirId,
    /// The file's next further name.
    next: Option<u32>,
    /// Of file, folder and name.
    hash: u64,
}

/// The names of files beyond the first; few files have any, and one may have very many.
#[derive(Debug, Default)]
pub struct FurtherNames {
    places: Vec<FurtherName>,
    names: Names,
    /// Last of each file's further names.
    last_of: NumberMap<FileIndex, u32>,
    /// Names by what they are.
    by_name: HashTable<(FileIndex, u32)>,
    /// The start of each hash: users choose names, and must not be able to choose hashes.
    secret: RandomState,
}

impl FurtherNames {
    /// True if no file has any.
    pub fn is_empty(&self) -> bool {
        self.last_of.is_empty()
    }

    /// True if a file has any.
    pub fn has(&self, file: FileIndex) -> bool {
        self.last_of.contains_key(&file)
    }

    /// The hash of a name of a file in the folder of this device and inode number.
    pub fn hash(&self, file: FileIndex, (dev, ino): (u64, u64), name: &[u8]) -> u64 {
        let seed = mix(mix(self.secret.hash_one(file.0), dev), ino);
        name.chunks(8).fold(seed, |hash, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            mix(hash, u64::from_le_bytes(word))
        })
    }

    /// The folders in which the file is known by this name, among those that give this hash.
    pub fn folders_of(
        &self,
        file: FileIndex,
        name: &[u8],
        hash: u64,
    ) -> impl Iterator<Item = DirId> {
        let known = self.by_name.iter_hash(hash);
        let known = known
            .filter(move |(of, number)| *of == file && self.names.get(*number as usize) == name);
        known.map(|&(_, number)| self.places[number as usize].dir)
    }

    /// Adds a name of this [hash](Self::hash).
    pub fn push(&mut self, file: FileIndex, dir: DirId, name: &[u8], hash: u64) {
        let number = u32::try_from(self.places.len()).expect("fewer than 2^32 names");
        let next = self.last_of.insert(file, number);
        self.places.push(FurtherName { dir, next, hash });
        self.names.push(name);
        let places = &self.places;
        self.by_name
            .insert_unique(hash, (file, number), |&(_, n)| places[n as usize].hash);
    }

    /// The further names of a file, with their folders.
    pub fn of(&self, file: FileIndex) -> impl Iterator<Item = (DirId, &[u8])> {
        let mut next = self.last_of.get(&file).copied();
        std::iter::from_fn(move || {
            let number = next? as usize;
            let place = self.places[number];
            next = place.next;
            Some((place.dir, self.names.get(number)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_both_sides_of_a_base_are_kept() {
        let name = |i: usize| match i % 5 {
            0 => Vec::new(),
            1 => vec![b'n'; LONGEST],
            2 => vec![b'N'; 765],
            _ => i.to_string().into_bytes(),
        };
        let mut names = Names::default();
        let count = 5 * (1 << NAMES_SHIFT) + 3;
        (0..count).for_each(|i| names.push(&name(i)));
        for i in 0..count {
            assert_eq!(names.get(i), name(i), "{i}");
        }
    }

    #[test]
    fn large_numbers_may_come_at_any_time() {
        let numbers = [0, 7, u64::MAX, 1, 2, 1 << 32, u32::MAX.into(), 3];
        let mut column = Narrow::default();
        for (i, &number) in numbers.iter().enumerate() {
            assert_eq!(column.len(), i);
            column.push(number);
            for (j, &before) in numbers[..=i].iter().enumerate() {
                assert_eq!(column.get(j), before);
            }
        }
    }

    /// Runs of every length, also across the shared entries.
    #[test]
    fn each_file_has_the_place_it_came_with() {
        let mut places = Places::default();
        let mut expected = Vec::new();
        for run in 0..300_u32 {
            for _ in 0..run % 150 {
                let place = (DirId(run / 2), DevIndex((run % 3) as u16));
                places.push(place.0, place.1);
                expected.push(place);
            }
        }
        for (i, &place) in expected.iter().enumerate() {
            assert_eq!(places.get(i), place, "{i}");
        }
        assert!(places.runs.len() <= 300);
    }
}
