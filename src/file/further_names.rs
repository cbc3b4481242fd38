//! The names of files beyond the first; few files have any, and one may have very many.

use std::collections::HashMap;

use hashbrown::HashTable;

use super::dir_table::mix;
use super::{DirId, FileIndex};

/// A further name of a file.
#[derive(Clone, Copy, Debug)]
struct FurtherName {
    dir: DirId,
    len: u16,
    start: u64,
    /// The file's next further name.
    next: Option<u32>,
    /// Of file, folder and name.
    hash: u64,
}

/// The further names of all files.
#[derive(Debug, Default)]
pub struct FurtherNames {
    names: Vec<FurtherName>,
    bytes: Vec<u8>,
    /// Last of each file's further names.
    last_of: HashMap<FileIndex, u32>,
    /// Names by what they are.
    by_name: HashTable<(FileIndex, u32)>,
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
    pub fn hash(file: FileIndex, (dev, ino): (u64, u64), name: &[u8]) -> u64 {
        let seed = mix(mix(dev, ino), file.0.into());
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
        let numbers = self
            .by_name
            .iter_hash(hash)
            .filter(move |(of, _)| *of == file);
        let known = numbers.map(|&(_, number)| &self.names[number as usize]);
        let equal = known.filter(move |known| self.bytes_of(known) == name);
        equal.map(|known| known.dir)
    }

    /// Adds a name of this [hash](Self::hash).
    pub fn push(&mut self, file: FileIndex, dir: DirId, name: &[u8], hash: u64) {
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 names");
        self.names.push(FurtherName {
            dir,
            len: u16::try_from(name.len()).expect("a name is shorter than a path"),
            start: self.bytes.len() as u64,
            next: self.last_of.insert(file, number),
            hash,
        });
        self.bytes.extend_from_slice(name);
        let names = &self.names;
        self.by_name
            .insert_unique(hash, (file, number), |&(_, n)| names[n as usize].hash);
    }

    /// The further names of a file, with their folders.
    pub fn of(&self, file: FileIndex) -> impl Iterator<Item = (DirId, &[u8])> {
        let mut next = self.last_of.get(&file).copied();
        std::iter::from_fn(move || {
            let name = &self.names[next? as usize];
            next = name.next;
            Some((name.dir, self.bytes_of(name)))
        })
    }

    fn bytes_of(&self, name: &FurtherName) -> &[u8] {
        let start = name.start as usize;
        &self.bytes[start..start + usize::from(name.len)]
    }
}
