//! The table of files by size. Most sizes have one file only, which takes four bytes here. A size gets a class, with
//! all that is known of it, when something else of this size is found.

use hashbrown::HashTable;

use crate::file::{FileIndex, FileTable};

use super::by_file::{Chain, Held, mixed};
use super::keyed_join::ClassId;

/// The files of one size.
#[derive(Clone, Copy, Debug, Default)]
pub struct SizeClass {
    size: u64,
    /// Files (inodes).
    pub files: u32,
    /// Number of names, which `hard_links` counts as replicas.
    pub names: u32,
    /// Number of reads in flight or requested.
    pub pending: u32,
    /// Root of the first file.
    root: u32,
    held: Held,
    /// The last class of content among its files that has enough of them to be reported.
    pub contents: Option<ClassId>,
    /// Files or names lie under two roots at least.
    pub spans_roots: bool,
    /// One of its files makes a set matter.
    pub any_newer: bool,
    /// Its files go on to the next stage.
    pub open: bool,
    /// Its files are either all read whole at once or all sampled: samples are only compared with samples. `None` until
    /// the first of them is about to be read.
    pub whole: Option<bool>,
    /// Number of files whose head is known.
    pub heads: u32,
    /// The class of the last of these heads.
    pub head: Option<ClassId>,
}

impl SizeClass {
    /// Bytes of each file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Records a name under a root.
    pub fn count_name(&mut self, root: u32) {
        self.names += 1;
        self.spans_roots |= self.root != root;
    }
}

/// The state of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameSize {
    /// One file has it.
    Alone(FileIndex),
    /// It has a class.
    Class(ClassId),
}

/// [`SameSize`] in four bytes: this bit tells classes from files.
const IS_CLASS: u32 = 1 << 31;

/// All sizes.
#[derive(Debug, Default)]
pub struct BySize {
    table: HashTable<u32>,
    classes: Vec<SizeClass>,
}

impl BySize {
    /// The state of a size, if any file has it.
    pub fn find(&self, size: u64, file_table: &FileTable) -> Option<SameSize> {
        let slot = self
            .table
            .find(mixed(size), |&slot| self.size_of(slot, file_table) == size);
        slot.map(|&slot| unpacked(slot))
    }

    /// Takes the first file of a size.
    ///
    /// # Panics
    /// If there are 2^31 files.
    pub fn insert(&mut self, file: FileIndex, file_table: &FileTable) {
        assert!(file.0 & IS_CLASS == 0, "fewer than 2^31 files");
        let classes = &self.classes;
        self.table
            .insert_unique(mixed(file_table.size(file)), file.0, |&slot| {
                mixed(size_of(slot, classes, file_table))
            });
    }

    /// Creates a class for the size of a file that was alone with this size.
    pub fn promote(
        &mut self,
        file: FileIndex,
        root: u32,
        file_table: &FileTable,
        chain: &mut Chain,
    ) -> ClassId {
        let number = self.classes.len() as u32;
        let size = file_table.size(file);
        let mut class = SizeClass {
            size,
            files: 1,
            names: 1,
            root,
            ..SizeClass::default()
        };
        chain.hold(&mut class.held, file);
        if let Some(slot) = self.table.find_mut(mixed(size), |slot| *slot == file.0) {
            *slot = number | IS_CLASS;
        }
        self.classes.push(class);
        ClassId(number)
    }

    /// Takes a further file of a class, and holds it back unless the class is open.
    pub fn add(&mut self, id: ClassId, file: FileIndex, chain: &mut Chain) {
        let class = self.class_mut(id);
        class.files += 1;
        if !class.open {
            chain.hold(&mut class.held, file);
        }
    }

    /// Opens a class and returns the files held in it, in the order of arrival.
    pub fn open(&mut self, id: ClassId, chain: &Chain) -> Vec<FileIndex> {
        let class = self.class_mut(id);
        class.open = true;
        chain.list(std::mem::take(&mut class.held))
    }

    /// True if two files have one size.
    pub fn has_classes(&self) -> bool {
        !self.classes.is_empty()
    }

    /// A class by its number.
    pub fn class(&self, id: ClassId) -> &SizeClass {
        &self.classes[id.0 as usize]
    }

    /// A class by its number.
    pub fn class_mut(&mut self, id: ClassId) -> &mut SizeClass {
        &mut self.classes[id.0 as usize]
    }

    /// The numbers of all classes.
    pub fn ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.classes.len() as u32).map(ClassId)
    }

    /// The files that do not go on, in the order of arrival.
    pub fn closed(&self, chain: &Chain) -> Vec<FileIndex> {
        let alone = self.table.iter().filter_map(|&slot| match unpacked(slot) {
            SameSize::Alone(file) => Some(file),
            SameSize::Class(_) => None,
        });
        let held = self.classes.iter().flat_map(|class| chain.list(class.held));
        let mut files: Vec<_> = alone.chain(held).collect();
        files.sort_unstable();
        files
    }

    fn size_of(&self, slot: u32, file_table: &FileTable) -> u64 {
        size_of(slot, &self.classes, file_table)
    }
}

fn size_of(slot: u32, classes: &[SizeClass], file_table: &FileTable) -> u64 {
    match unpacked(slot) {
        SameSize::Alone(file) => file_table.size(file),
        SameSize::Class(id) => classes[id.0 as usize].size,
    }
}

fn unpacked(slot: u32) -> SameSize {
    match slot & IS_CLASS {
        0 => SameSize::Alone(FileIndex(slot)),
        _ => SameSize::Class(ClassId(slot & !IS_CLASS)),
    }
}
