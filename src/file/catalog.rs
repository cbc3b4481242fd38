//! Every candidate file, in columns.

use std::collections::HashMap;

use hashbrown::HashTable;

use super::dir_table::mix;
use super::names::Names;
use super::narrow::Narrow;
use super::places::Places;
use super::{DirId, DirTable, Fingerprint};

/// Number of a file (an inode) in the [`Catalog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(pub u32);

/// A file as the scan found it; its name travels beside it.
#[derive(Clone, Copy, Debug)]
pub struct FoundFile {
    /// Inode number.
    pub ino: u64,
    /// Length, bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Allocated blocks of 512 bytes.
    pub blocks: u64,
    /// Number of names, inside and outside the roots.
    pub links: u32,
    /// Length of the name, bytes (FAT and its like allow 255 characters of up to three bytes).
    pub name_len: u16,
    /// The name is a symbolic link to the file, not one of its own.
    pub via_link: bool,
}

/// A further name of a file that is in the catalog.
#[derive(Clone, Copy, Debug)]
struct ExtraName {
    dir: DirId,
    len: u16,
    start: u64,
    /// The file's next further name.
    next: Option<u32>,
    /// Of file, folder and name.
    hash: u64,
}

/// Columns: 32 bytes a file, its name's bytes, and 12 for each folder.
#[derive(Debug, Default)]
pub struct Catalog {
    places: Places,
    inos: Narrow,
    sizes: Narrow,
    mtimes: Vec<i64>,
    ctimes: Vec<i64>,
    blocks: Vec<u32>,
    links: Vec<u8>,
    /// Where eight bits are too few.
    many_links: HashMap<FileIndex, u32>,
    names: Names,
    extra_names: Vec<ExtraName>,
    extra_bytes: Vec<u8>,
    /// Last of each file's further names; few files have any.
    extra_of: HashMap<FileIndex, u32>,
    /// Further names by what they are, since one file may have very many.
    extra_by_name: HashTable<(FileIndex, u32)>,
    /// `st_dev` of each volume number.
    devs: Vec<u64>,
    /// Files that have been given an identity to be found by.
    by_inode: HashTable<u32>,
}

impl Catalog {
    /// Files in the catalog.
    pub fn len(&self) -> usize {
        self.inos.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The small number that stands for an `st_dev`, given out in order of first use.
    pub fn volume_number(&mut self, dev: u64) -> u16 {
        // A run meets a handful of file systems, and mostly the one it met last.
        let at = self.devs.iter().rposition(|&d| d == dev);
        let at = at.unwrap_or_else(|| {
            self.devs.push(dev);
            self.devs.len() - 1
        });
        u16::try_from(at).expect("fewer than 65,536 file systems")
    }

    /// Adds a file.
    pub fn push(&mut self, found: &FoundFile, name: &[u8], dir: DirId, volume: u16) -> FileIndex {
        let i = self.inos.len();
        let index = FileIndex(u32::try_from(i).expect("fewer than 2^32 files"));
        self.names.push(name);
        self.places.push(dir, volume);
        self.inos.push(found.ino);
        self.sizes.push(found.size);
        self.mtimes.push(found.mtime_ns);
        self.ctimes.push(found.ctime_ns);
        self.blocks
            .push(u32::try_from(found.blocks).unwrap_or(u32::MAX));
        self.links.push(found.links.try_into().unwrap_or(u8::MAX));
        if found.links >= u8::MAX.into() {
            self.many_links.insert(index, found.links);
        }
        index
    }

    /// The file with this device and inode among those that were [`Catalog::identify`]-ed. A file
    /// whose size changed during the scan is another one: each size has its own.
    pub fn find(&self, volume: u16, ino: u64, size: u64) -> Option<FileIndex> {
        self.by_inode
            .find(mix(volume.into(), ino), |&i| {
                let at = i as usize;
                self.inos.get(at) == ino
                    && self.sizes.get(at) == size
                    && self.volume(FileIndex(i)) == volume
            })
            .map(|&i| FileIndex(i))
    }

    /// Makes the file findable by [`Catalog::find`].
    pub fn identify(&mut self, file: FileIndex) {
        let (volume, ino) = (self.volume(file), self.ino(file));
        if self.find(volume, ino, self.size(file)).is_some() {
            return;
        }
        let (inos, places) = (&self.inos, &self.places);
        let hash = |&i: &u32| {
            let (_, volume) = places.get(i as usize);
            mix(volume.into(), inos.get(i as usize))
        };
        self.by_inode.insert_unique(hash(&file.0), file.0, hash);
    }

    /// Adds a further name unless the file has this very name (in this very folder) already.
    pub fn add_name(&mut self, file: FileIndex, name: &[u8], dir: DirId, dirs: &DirTable) -> bool {
        let place = dirs.identity(dir);
        let hash = hash_of_name(file, place, name);
        let is_first = self.first_name(file) == name && dirs.identity(self.dir(file)) == place;
        let is_known = |&(of, number): &(FileIndex, u32)| {
            let extra = &self.extra_names[number as usize];
            of == file && self.extra_name(extra) == name && dirs.identity(extra.dir) == place
        };
        if is_first || self.extra_by_name.find(hash, is_known).is_some() {
            return false;
        }
        let number = u32::try_from(self.extra_names.len()).expect("fewer than 2^32 names");
        self.extra_names.push(ExtraName {
            dir,
            len: u16::try_from(name.len()).expect("a name is shorter than a path"),
            start: self.extra_bytes.len() as u64,
            next: self.extra_of.insert(file, number),
            hash,
        });
        self.extra_bytes.extend_from_slice(name);
        let names = &self.extra_names;
        self.extra_by_name
            .insert_unique(hash, (file, number), |&(_, n)| names[n as usize].hash);
        true
    }

    fn extra_name(&self, name: &ExtraName) -> &[u8] {
        let start = name.start as usize;
        &self.extra_bytes[start..start + usize::from(name.len)]
    }

    /// Names of all files, without the one of each that was found first.
    pub fn further_names(&self) -> u64 {
        self.extra_names.len() as u64
    }

    /// True if the file has more names than the one found first.
    pub fn has_further_names(&self, file: FileIndex) -> bool {
        self.extra_of.contains_key(&file)
    }

    /// All names of a file, the one found first at the front.
    pub fn names(&self, file: FileIndex) -> impl Iterator<Item = (DirId, &[u8])> {
        let first = (self.dir(file), self.first_name(file));
        let mut next = self.extra_of.get(&file).copied();
        let extra = std::iter::from_fn(move || {
            let name = &self.extra_names[next? as usize];
            next = name.next;
            Some((name.dir, self.extra_name(name)))
        });
        std::iter::once(first).chain(extra)
    }

    /// The name found first.
    pub fn first_name(&self, file: FileIndex) -> &[u8] {
        self.names.get(file.0 as usize)
    }

    /// The folder of the name found first.
    pub fn dir(&self, file: FileIndex) -> DirId {
        self.places.get(file.0 as usize).0
    }

    /// Length, bytes.
    pub fn size(&self, file: FileIndex) -> u64 {
        self.sizes.get(file.0 as usize)
    }

    /// Volume number, see [`Catalog::volume_number`].
    pub fn volume(&self, file: FileIndex) -> u16 {
        self.places.get(file.0 as usize).1
    }

    /// Inode number.
    pub fn ino(&self, file: FileIndex) -> u64 {
        self.inos.get(file.0 as usize)
    }

    /// Names of the inode, inside and outside the roots.
    pub fn links(&self, file: FileIndex) -> u32 {
        match self.links[file.0 as usize] {
            u8::MAX => self.many_links[&file],
            few => few.into(),
        }
    }

    /// Bytes allocated on disk.
    pub fn allocated(&self, file: FileIndex) -> u64 {
        u64::from(self.blocks[file.0 as usize]) * 512
    }

    /// Identity and state as the scan saw them.
    pub fn fingerprint(&self, file: FileIndex) -> Fingerprint {
        let i = file.0 as usize;
        Fingerprint {
            dev: self.devs[usize::from(self.volume(file))],
            ino: self.inos.get(i),
            size: self.sizes.get(i),
            mtime_ns: self.mtimes[i],
            ctime_ns: self.ctimes[i],
        }
    }

    /// Writes the path of one of the file's names into `path`.
    pub fn path(&self, file: FileIndex, dirs: &DirTable, path: &mut Vec<u8>) {
        dirs.path_of(self.dir(file), self.first_name(file), path);
    }
}

fn hash_of_name(file: FileIndex, (dev, ino): (u64, u64), name: &[u8]) -> u64 {
    let seed = mix(mix(dev, ino), file.0.into());
    name.chunks(8).fold(seed, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash, u64::from_le_bytes(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ino: u64) -> FoundFile {
        FoundFile {
            ino,
            size: ino * 3,
            mtime_ns: 5,
            ctime_ns: 6,
            blocks: 8,
            links: 1,
            name_len: 0,
            via_link: false,
        }
    }

    #[test]
    fn what_is_pushed_can_be_found_and_asked_for() {
        let mut catalog = Catalog::default();
        let name = |i: u32| i.to_string().into_bytes();
        let files = 10_000;
        for i in 0..files {
            let file = catalog.push(&found(i.into()), &name(i), DirId(i / 7), (i % 3) as u16);
            assert_eq!(file, FileIndex(i));
            catalog.identify(file);
        }
        assert_eq!(catalog.len(), files as usize);
        for i in 0..files {
            let file = FileIndex(i);
            assert_eq!(catalog.first_name(file), name(i), "{i}");
            let ino = u64::from(i);
            assert_eq!(catalog.find((i % 3) as u16, ino, ino * 3), Some(file));
            assert_eq!(catalog.find((i % 3) as u16, ino, ino * 3 + 1), None);
            assert_eq!(catalog.find((i % 3) as u16 + 1, ino, ino * 3), None);
            assert_eq!(catalog.dir(file), DirId(i / 7));
        }
    }

    #[test]
    fn any_number_of_links_is_kept() {
        let mut catalog = Catalog::default();
        for links in [0, 1, 254, 255, 256, 70_000, u32::MAX] {
            let file = FoundFile { links, ..found(1) };
            let file = catalog.push(&file, b"x", DirId(0), 0);
            assert_eq!(catalog.links(file), links);
        }
    }

    #[test]
    fn a_name_counts_once_and_long_ones_count_too() {
        let mut dirs = DirTable::default();
        let one = dirs.add_root(b"a", 0, 1, 1);
        let again = dirs.add_root(b"b/../a", 1, 1, 1);
        let other = dirs.add_root(b"b", 2, 1, 2);
        let mut catalog = Catalog::default();
        let file = catalog.push(&found(1), b"x", one, 0);
        let neighbour = catalog.push(&found(2), b"x", other, 0);
        let long = "\u{6f22}".repeat(255).into_bytes();
        for (name, dir, is_new) in [
            (&b"x"[..], one, false),
            (b"x", again, false),
            (b"x", other, true),
            (b"x", other, false),
            (b"y", one, true),
            (b"y", again, false),
            (&long, other, true),
            (&long, other, false),
        ] {
            assert_eq!(catalog.add_name(file, name, dir, &dirs), is_new, "{name:?}");
        }
        let names: Vec<_> = catalog.names(file).collect();
        let expected = [(one, &b"x"[..]), (other, &long), (one, b"y"), (other, b"x")];
        assert_eq!(names, expected);
        assert_eq!(catalog.names(neighbour).count(), 1);
        assert!(
            catalog.add_name(neighbour, b"x", one, &dirs),
            "another file's name"
        );
    }
}
