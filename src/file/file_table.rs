//! Every candidate file, in columns.

use std::collections::{HashMap, HashSet};
use std::hint::black_box;

use hashbrown::HashTable;

use super::columns::{FurtherNames, Names, Narrow, Places};
use super::dir_table::mix;
use super::{DevIndex, DirId, DirTable, FileIndex, Fingerprint, Numbering, Sameness, Sighting};
use crate::sys::stat::Stat;

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
    /// The file is mounted on the name, which is that of another file below.
    pub mounted: bool,
}

impl FoundFile {
    /// True if the name is a directory entry of the file itself.
    pub fn is_entry(&self) -> bool {
        !self.via_link && !self.mounted
    }
}

/// The result of adding a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// The first name of a file.
    First,
    /// A further name of a file.
    Further,
    /// A name that is known already, reached on another way, or no name of the file's own.
    Known,
}

/// Columns: 32 bytes a file, its name's bytes, and 12 for each folder.
#[derive(Debug, Default)]
pub struct FileTable {
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
    further: FurtherNames,
    /// `st_dev` of each volume number.
    devs: Vec<u64>,
    /// How reliable inode numbers are on each volume.
    numberings: Vec<Numbering>,
    /// Files whose first name is no directory entry of theirs.
    no_entries: HashSet<FileIndex>,
    /// Files that have another record under their inode number: they changed between two looks, or the number
    /// was given to another file.
    doubled: HashSet<FileIndex>,
    /// The names of files of which some were not found again when they were looked up a last time.
    final_names: HashMap<FileIndex, Vec<(DirId, Vec<u8>)>>,
    /// Files that have been given an identity to be found by.
    by_inode: HashTable<u32>,
}

impl FileTable {
    /// Number of files.
    pub fn len(&self) -> usize {
        self.inos.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The small number that stands for an `st_dev`, given out in order of first use.
    pub fn volume_number(&mut self, dev: u64) -> DevIndex {
        // A run meets a handful of file systems, and mostly the one it met last.
        let at = self.devs.iter().rposition(|&d| d == dev);
        let at = at.unwrap_or_else(|| {
            self.devs.push(dev);
            self.numberings.push(Numbering::Arbitrary);
            self.devs.len() - 1
        });
        DevIndex(u16::try_from(at).expect("fewer than 65,536 file systems"))
    }

    /// Says what inode numbers of a volume are worth; nothing until then.
    pub fn trust_numbers(&mut self, volume: DevIndex, numbering: Numbering) {
        self.numberings[usize::from(volume)] = numbering;
    }

    /// True if inode numbers prove something on all volumes.
    pub fn trusts_all_numbers(&self) -> bool {
        self.numberings.iter().all(|n| n.tells_files())
    }

    /// How reliable the inode numbers of a volume are.
    pub fn numbering(&self, volume: DevIndex) -> Numbering {
        let known = self.numberings.get(usize::from(volume));
        known.copied().unwrap_or_default()
    }

    /// Adds a file.
    pub fn push(
        &mut self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        volume: DevIndex,
    ) -> FileIndex {
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
        if !found.is_entry() {
            self.no_entries.insert(index);
        }
        index
    }

    /// The records with this device, inode and size among those that were [`FileTable::identify`]-ed. A file whose
    /// size changed during the scan is another one: each size has its own.
    pub fn records(
        &self,
        volume: DevIndex,
        ino: u64,
        size: u64,
    ) -> impl Iterator<Item = FileIndex> {
        let known = self.by_inode.iter_hash(mix(volume.0.into(), ino));
        known.map(|&i| FileIndex(i)).filter(move |&file| {
            let at = file.0 as usize;
            self.inos.get(at) == ino && self.sizes.get(at) == size && self.volume(file) == volume
        })
    }

    /// The file that a name leads to, among those that were [`FileTable::identify`]-ed.
    pub fn find(
        &self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        volume: DevIndex,
        dirs: &DirTable,
    ) -> Option<FileIndex> {
        let numbering = self.numbering(volume);
        if numbering == Numbering::Listed && found.links == 1 {
            return None;
        }
        let seen = self.seen(found, dir, volume, dirs);
        self.records(volume, found.ino, found.size).find(|&file| {
            let known = self.sighting(file, dirs);
            Sameness::between(&known, &seen, numbering) == Sameness::Same
                || known.state == seen.state && self.has_entry(file, name, dir, dirs)
        })
    }

    /// The records of which a name may be another, where inode numbers do not say it.
    pub fn may_be(
        &self,
        found: &FoundFile,
        dir: DirId,
        volume: DevIndex,
        dirs: &DirTable,
    ) -> impl Iterator<Item = FileIndex> {
        let state = self.seen(found, dir, volume, dirs).state;
        let records = self.records(volume, found.ino, found.size);
        records.filter(move |&file| self.fingerprint(file) == state)
    }

    /// True if one of a file's names is this one in this very folder, where inode numbers tell folders.
    fn has_entry(&self, file: FileIndex, name: &[u8], dir: DirId, dirs: &DirTable) -> bool {
        let is_this = |at: DirId, known: &[u8]| {
            let same_folder = at == dir
                || self.numbering(self.volume(file)).tells_folders()
                    && dirs.identity(at) == dirs.identity(dir);
            known == name && same_folder
        };
        self.names(file).any(|(at, known)| is_this(at, known))
    }

    fn seen(&self, found: &FoundFile, dir: DirId, volume: DevIndex, dirs: &DirTable) -> Sighting {
        Sighting {
            state: Fingerprint {
                dev: self.devs.get(usize::from(volume)).copied().unwrap_or(0),
                ino: found.ino,
                size: found.size,
                mtime_ns: found.mtime_ns,
                ctime_ns: found.ctime_ns,
            },
            links: found.links,
            mount: dirs.mount(dir),
            is_entry: found.is_entry(),
        }
    }

    /// The state of a file under its first name during the scan.
    pub fn sighting(&self, file: FileIndex, dirs: &DirTable) -> Sighting {
        Sighting {
            state: self.fingerprint(file),
            links: self.links(file),
            mount: dirs.mount(self.dir(file)),
            is_entry: !self.no_entries.contains(&file),
        }
    }

    /// True if there are [records](FileTable::records) with this device, inode and size.
    pub fn has_records(&self, volume: DevIndex, ino: u64, size: u64) -> bool {
        self.records(volume, ino, size).next().is_some()
    }

    /// Makes the file findable by [`FileTable::find`], unless nobody will look for it; `is_met` says that others have
    /// its device, inode and size.
    pub fn identify(&mut self, file: FileIndex, is_met: bool) {
        let (volume, ino) = (self.volume(file), self.ino(file));
        let numbering = self.numbering(volume);
        if numbering == Numbering::Listed && self.links(file) == 1 {
            return;
        }
        if is_met && numbering.tells_files() {
            let others: Vec<FileIndex> = self.records(volume, ino, self.size(file)).collect();
            self.doubled.extend(others);
            self.doubled.insert(file);
        }
        let (inos, places) = (&self.inos, &self.places);
        let only = (self.devs.len() == 1).then_some(volume);
        let hash = |&i: &u32| {
            let volume = only.unwrap_or_else(|| places.get(i as usize).1);
            mix(volume.0.into(), inos.get(i as usize))
        };
        self.by_inode.insert_unique(hash(&file.0), file.0, hash);
    }

    /// True if some of a file's names may not lead to it any more: it has several, or another record.
    pub fn is_in_doubt(&self, file: FileIndex) -> bool {
        self.further.has(file) || self.doubled.contains(&file)
    }

    /// True if the inode of a file has another record: it changed during the scan.
    pub fn has_other_records(&self, file: FileIndex) -> bool {
        self.doubled.contains(&file)
    }

    /// True if any file is.
    pub fn has_doubts(&self) -> bool {
        !self.further.is_empty() || !self.doubled.is_empty()
    }

    /// Replaces the names of a file by those that lead to it; none if it is not to be found any more.
    pub fn settle_names(&mut self, file: FileIndex, names: Vec<(DirId, Vec<u8>)>) {
        self.final_names.insert(file, names);
    }

    /// False if none of a file's names leads to it any more.
    pub fn has_names(&self, file: FileIndex) -> bool {
        self.final_names
            .get(&file)
            .is_none_or(|names| !names.is_empty())
    }

    /// Adds a further name. It counts for none if it is in the very folder of a name that is known, which
    /// was reached on another way.
    pub fn add_name(
        &mut self,
        file: FileIndex,
        name: &[u8],
        dir: DirId,
        dirs: &DirTable,
    ) -> Naming {
        let place = dirs.identity(dir);
        let hash = self.further.hash(file, place, name);
        let mut naming = Naming::Further;
        if self.first_name(file) == name {
            if self.dir(file) == dir {
                return Naming::Known;
            }
            if dirs.identity(self.dir(file)) == place {
                naming = Naming::Known;
            }
        }
        for folder in self.further.folders_of(file, name, hash) {
            if dirs.identity(folder) == place {
                naming = Naming::Known;
                if folder == dir {
                    return naming;
                }
            }
        }
        self.further.push(file, dir, name, hash);
        naming
    }

    /// True if the file has more names than one.
    pub fn has_further_names(&self, file: FileIndex) -> bool {
        match self.final_names(file) {
            Some(names) => names.len() > 1,
            None => self.further.has(file),
        }
    }

    /// All names of a file, the one found first at the front.
    pub fn names(&self, file: FileIndex) -> impl Iterator<Item = (DirId, &[u8])> {
        let final_names = self.final_names(file);
        let found = final_names.is_none().then(|| self.found_names(file));
        let final_names = final_names.into_iter().flatten();
        let final_names = final_names.map(|(dir, name)| (*dir, name.as_slice()));
        final_names.chain(found.into_iter().flatten())
    }

    fn found_names(&self, file: FileIndex) -> impl Iterator<Item = (DirId, &[u8])> {
        let at = file.0 as usize;
        let first = (self.places.get(at).0, self.names.get(at));
        std::iter::once(first).chain(self.further.of(file))
    }

    /// The names that were looked up a last time, if any was lost.
    #[inline]
    fn final_names(&self, file: FileIndex) -> Option<&Vec<(DirId, Vec<u8>)>> {
        if self.final_names.is_empty() {
            None
        } else {
            self.final_names.get(&file)
        }
    }

    /// The name found first of those that are left.
    #[inline]
    pub fn first_name(&self, file: FileIndex) -> &[u8] {
        let final_names = self.final_names(file).and_then(|names| names.first());
        final_names.map_or_else(|| self.names.get(file.0 as usize), |(_, name)| name)
    }

    /// The folder of that name.
    #[inline]
    pub fn dir(&self, file: FileIndex) -> DirId {
        let final_names = self.final_names(file).and_then(|names| names.first());
        final_names.map_or_else(|| self.places.get(file.0 as usize).0, |(dir, _)| *dir)
    }

    /// Length, bytes.
    pub fn size(&self, file: FileIndex) -> u64 {
        self.sizes.get(file.0 as usize)
    }

    /// The files without a byte.
    pub fn empty_files(&self) -> impl Iterator<Item = FileIndex> {
        let files = (0..self.len() as u32).map(FileIndex);
        files.filter(|&file| self.size(file) == 0)
    }

    /// Volume number, see [`FileTable::volume_number`].
    pub fn volume(&self, file: FileIndex) -> DevIndex {
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

    /// Times of modification and of the last change as the scan saw them, nanoseconds since 1970.
    pub fn times(&self, file: FileIndex) -> (i64, i64) {
        let i = file.0 as usize;
        (self.mtimes[i], self.ctimes[i])
    }

    /// True if what was just looked at by a name of the file is that file, in the state that the scan saw.
    pub fn is_met_by(&self, file: FileIndex, now: &Stat) -> bool {
        let numbering = self.numbering(self.volume(file));
        let now = Fingerprint::from(now);
        self.fingerprint(file).is_met_by(&now, numbering)
    }

    /// Identity and state as the scan saw them.
    pub fn fingerprint(&self, file: FileIndex) -> Fingerprint {
        let (mtime_ns, ctime_ns) = self.times(file);
        Fingerprint {
            dev: self.devs[usize::from(self.volume(file))],
            ino: self.ino(file),
            size: self.size(file),
            mtime_ns,
            ctime_ns,
        }
    }

    /// Loads the columns of some files into the processor's caches. Each load waits for memory; loads of different
    /// files do not depend on each other, so they wait together. A caller that uses the files one after the other would
    /// wait for each.
    pub fn prefetch(&self, files: impl IntoIterator<Item = FileIndex>) {
        let read = |file: FileIndex| {
            let i = file.0 as usize;
            let name = self.names.get(i);
            let times = self.mtimes[i] ^ self.ctimes[i];
            let small = u64::from(self.blocks[i]) ^ u64::from(self.links[i]);
            let first = name.first().copied().unwrap_or(0);
            self.inos.get(i)
                ^ self.sizes.get(i)
                ^ times as u64
                ^ small
                ^ u64::from(first)
                ^ u64::from(self.places.get(i).0.0)
        };
        black_box(files.into_iter().map(read).fold(0, |all, one| all ^ one));
    }
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
            mounted: false,
        }
    }

    #[test]
    fn a_name_counts_once_and_long_ones_count_too() {
        let mut dirs = DirTable::default();
        let one = dirs.add_root(b"a", 0, (1, 1));
        let again = dirs.add_root(b"b/../a", 1, (1, 1));
        let other = dirs.add_root(b"b", 2, (1, 2));
        let mut file_table = FileTable::default();
        let file = file_table.push(&found(1), b"x", one, DevIndex(0));
        let neighbour = file_table.push(&found(2), b"x", other, DevIndex(0));
        let long = "\u{6f22}".repeat(255).into_bytes();
        use Naming::{Further, Known};
        for (name, dir, naming) in [
            (&b"x"[..], one, Known),
            (b"x", again, Known),
            (b"x", other, Further),
            (b"x", other, Known),
            (b"y", one, Further),
            (b"y", again, Known),
            (&long, other, Further),
            (&long, other, Known),
        ] {
            assert_eq!(
                file_table.add_name(file, name, dir, &dirs),
                naming,
                "{name:?}"
            );
        }
        let names: Vec<_> = file_table.names(file).collect();
        let expected = [
            (one, &b"x"[..]),
            (other, &long),
            (again, b"y"),
            (one, b"y"),
            (other, b"x"),
            (again, b"x"),
        ];
        assert_eq!(names, expected, "also what was reached on another way");
        assert_eq!(file_table.names(neighbour).count(), 1);
        let naming = file_table.add_name(neighbour, b"x", one, &dirs);
        assert_eq!(naming, Further, "another file's name");
    }
}
