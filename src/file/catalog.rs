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
    /// Length of the name, bytes.
    pub name_len: u8,
    /// The name is a symbolic link to the file, not one of its own.
    pub via_link: bool,
}

/// A further name of a file that is in the catalog.
#[derive(Clone, Copy, Debug)]
struct ExtraName {
    dir: DirId,
    len: u8,
    start: u64,
    /// The file's next further name.
    next: Option<u32>,
}

/// Names `1 << NAMES_SHIFT` files apart share one 64-bit base, so that each file needs 32 bits only.
const NAMES_SHIFT: usize = 16;

/// Columns: 52 bytes a file and its name's bytes.
#[derive(Debug, Default)]
pub struct Catalog {
    dirs: Vec<DirId>,
    inos: Vec<u64>,
    sizes: Vec<u64>,
    mtimes: Vec<i64>,
    ctimes: Vec<i64>,
    blocks: Vec<u32>,
    links: Vec<u16>,
    volumes: Vec<u16>,
    name_ends: Vec<u32>,
    name_bases: Vec<u64>,
    names: Vec<u8>,
    extra_names: Vec<ExtraName>,
    extra_bytes: Vec<u8>,
    /// Last of each file's further names; few files have any.
    extra_of: HashMap<FileIndex, u32>,
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
        self.links
            .push(u16::try_from(found.links).unwrap_or(u16::MAX));
        self.volumes.push(volume);
        index
    }

    /// The file with this device and inode among those that were [`Catalog::identify`]-ed.
    pub fn find(&self, volume: u16, ino: u64) -> Option<FileIndex> {
        self.by_inode
            .find(mix(volume.into(), ino), |&i| {
                self.inos[i as usize] == ino && self.volumes[i as usize] == volume
            })
            .map(|&i| FileIndex(i))
    }

    /// Makes the file findable by [`Catalog::find`].
    pub fn identify(&mut self, file: FileIndex) {
        let (inos, volumes) = (&self.inos, &self.volumes);
        let hash = |&i: &u32| mix(volumes[i as usize].into(), inos[i as usize]);
        self.by_inode.insert_unique(hash(&file.0), file.0, hash);
    }

    /// Adds a further name unless the file has this very name (in this very folder) already.
    pub fn add_name(&mut self, file: FileIndex, name: &[u8], dir: DirId, dirs: &DirTable) -> bool {
        let place = dirs.identity(dir);
        let known = self
            .names(file)
            .any(|(other, n)| n == name && dirs.identity(other) == place);
        if !known {
            let number = self.extra_names.len() as u32;
            self.extra_names.push(ExtraName {
                dir,
                len: name.len() as u8,
                start: self.extra_bytes.len() as u64,
                next: self.extra_of.insert(file, number),
            });
            self.extra_bytes.extend_from_slice(name);
        }
        !known
    }

    /// All names of a file, the one found first at the front.
    pub fn names(&self, file: FileIndex) -> impl Iterator<Item = (DirId, &[u8])> {
        let first = (self.dirs[file.0 as usize], self.first_name(file));
        let mut next = self.extra_of.get(&file).copied();
        let extra = std::iter::from_fn(move || {
            let name = &self.extra_names[next? as usize];
            next = name.next;
            let start = name.start as usize;
            Some((
                name.dir,
                &self.extra_bytes[start..start + usize::from(name.len)],
            ))
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
    pub fn links(&self, file: FileIndex) -> u16 {
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
