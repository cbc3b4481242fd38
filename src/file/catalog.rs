//! Every candidate file, in columns.

use std::collections::HashMap;

use hashbrown::HashTable;

use super::dir_table::mix;
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

/// Names `1 << NAMES_SHIFT` files apart share one 64-bit base, so that each file needs 32 bits only.
const NAMES_SHIFT: usize = 16;

/// Columns: 54 bytes a file and its name's bytes.
#[derive(Debug, Default)]
pub struct Catalog {
    dirs: Vec<DirId>,
    inos: Vec<u64>,
    sizes: Vec<u64>,
    mtimes: Vec<i64>,
    ctimes: Vec<i64>,
    blocks: Vec<u32>,
    links: Vec<u32>,
    volumes: Vec<u16>,
    name_ends: Vec<u32>,
    name_bases: Vec<u64>,
    names: Vec<u8>,
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
        self.inos.is_empty()
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
        if i & ((1 << NAMES_SHIFT) - 1) == 0 {
            self.name_bases.push(self.names.len() as u64);
        }
        self.names.extend_from_slice(name);
        let base = self.name_bases[i >> NAMES_SHIFT];
        self.name_ends.push((self.names.len() as u64 - base) as u32);
        self.dirs.push(dir);
        self.inos.push(found.ino);
        self.sizes.push(found.size);
        self.mtimes.push(found.mtime_ns);
        self.ctimes.push(found.ctime_ns);
        self.blocks
            .push(u32::try_from(found.blocks).unwrap_or(u32::MAX));
        self.links.push(found.links);
        self.volumes.push(volume);
        index
    }

    /// The file with this device and inode among those that were [`Catalog::identify`]-ed. A file
    /// whose size changed during the scan is another one: each size has its own.
    pub fn find(&self, volume: u16, ino: u64, size: u64) -> Option<FileIndex> {
        self.by_inode
            .find(mix(volume.into(), ino), |&i| {
                let i = i as usize;
                self.inos[i] == ino && self.volumes[i] == volume && self.sizes[i] == size
            })
            .map(|&i| FileIndex(i))
    }

    /// Makes the file findable by [`Catalog::find`].
    pub fn identify(&mut self, file: FileIndex) {
        let (volume, ino) = (self.volume(file), self.ino(file));
        if self.find(volume, ino, self.size(file)).is_some() {
            return;
        }
        let (inos, volumes) = (&self.inos, &self.volumes);
        let hash = |&i: &u32| mix(volumes[i as usize].into(), inos[i as usize]);
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

    /// All names of a file, the one found first at the front.
    pub fn names(&self, file: FileIndex) -> impl Iterator<Item = (DirId, &[u8])> {
        let first = (self.dirs[file.0 as usize], self.first_name(file));
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
        let i = file.0 as usize;
        let base = self.name_bases[i >> NAMES_SHIFT];
        let start = if i & ((1 << NAMES_SHIFT) - 1) == 0 {
            0
        } else {
            self.name_ends[i - 1]
        };
        let end = self.name_ends[i];
        &self.names[(base + u64::from(start)) as usize..(base + u64::from(end)) as usize]
    }

    /// The folder of the name found first.
    pub fn dir(&self, file: FileIndex) -> DirId {
        self.dirs[file.0 as usize]
    }

    /// Length, bytes.
    pub fn size(&self, file: FileIndex) -> u64 {
        self.sizes[file.0 as usize]
    }

    /// Volume number, see [`Catalog::volume_number`].
    pub fn volume(&self, file: FileIndex) -> u16 {
        self.volumes[file.0 as usize]
    }

    /// Inode number.
    pub fn ino(&self, file: FileIndex) -> u64 {
        self.inos[file.0 as usize]
    }

    /// Names of the inode, inside and outside the roots.
    pub fn links(&self, file: FileIndex) -> u32 {
        self.links[file.0 as usize]
    }

    /// Bytes allocated on disk.
    pub fn allocated(&self, file: FileIndex) -> u64 {
        u64::from(self.blocks[file.0 as usize]) * 512
    }

    /// Identity and state as the scan saw them.
    pub fn fingerprint(&self, file: FileIndex) -> Fingerprint {
        let i = file.0 as usize;
        Fingerprint {
            dev: self.devs[usize::from(self.volumes[i])],
            ino: self.inos[i],
            size: self.sizes[i],
            mtime_ns: self.mtimes[i],
            ctime_ns: self.ctimes[i],
        }
    }

    /// Writes the path of one of the file's names into `path`.
    pub fn path(&self, file: FileIndex, dirs: &DirTable, path: &mut Vec<u8>) {
        dirs.path(self.dir(file), path);
        path.extend_from_slice(self.first_name(file));
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
            links: 70_000,
            name_len: 0,
            via_link: false,
        }
    }

    /// Names have 32-bit ends that start anew every 65,536 files.
    #[test]
    fn names_on_both_sides_of_a_base_are_kept() {
        let mut catalog = Catalog::default();
        let name = |i: u32| match i % 5 {
            0 => Vec::new(),
            1 => vec![b'n'; 700],
            _ => i.to_string().into_bytes(),
        };
        let files = 2 * 65_536 + 3;
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
        assert_eq!(catalog.links(FileIndex(0)), 70_000);
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
