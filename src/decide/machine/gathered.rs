//! Files of catalogs: they come before all others, and all that can be known of them comes with them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::decide::by_file::FileSet;
use crate::decide::by_size::SameSize;
use crate::decide::keyed_join::ClassId;
use crate::file::{DevIndex, DirId, FileIndex, FoundFile, Naming};

use super::Machine;

/// What is particular to files that were gathered before others.
#[derive(Default)]
pub struct Gathered {
    /// No size opens so far.
    pub(super) is_gathering: bool,
    /// Files that can only be compared as a whole, and open sizes that have one.
    only_whole: FileSet,
    whole_sizes: HashSet<ClassId>,
}

impl Gathered {
    /// Takes an opened size with the files that were held.
    pub(super) fn opened(&mut self, size: ClassId, held: &[FileIndex]) {
        if held.iter().any(|&file| self.only_whole.contains(file)) {
            self.whole_sizes.insert(size);
        }
    }

    /// True if the files of an open size can only be compared as a whole.
    pub(super) fn is_whole(&self, size: ClassId) -> bool {
        self.whole_sizes.contains(&size)
    }
}

impl Machine {
    /// Says that a file can only be compared as a whole, since no other digest of it is known. Call it while
    /// [gathering](Self::gather).
    pub fn only_whole(&mut self, file: FileIndex) {
        self.gathered.only_whole.insert(file);
    }

    /// Lets no size open until [`Self::open_gathered`], which knows all that was said of its files.
    pub fn gather(&mut self) {
        self.gathered.is_gathering = true;
    }

    /// Opens the sizes that are due. Their files wait for [`Self::start_gathered`].
    pub fn open_gathered(&mut self) {
        self.gathered.is_gathering = false;
        for class in self.by_size.ids() {
            self.open_size(class);
        }
    }

    /// Requests the first read of a gathered file, which was not [set aside](Self::set_aside), if its size is open.
    pub fn start_gathered(&mut self, file: FileIndex) {
        if let Some(class) = self.open_class(file) {
            self.start(class, file);
        }
    }

    /// True if files as long as this one go on to the next stage.
    pub fn is_size_open(&self, file: FileIndex) -> bool {
        self.open_class(file).is_some()
    }

    fn open_class(&self, file: FileIndex) -> Option<ClassId> {
        let size = self.file_table.size(file);
        match self.by_size.find(size, &self.file_table)? {
            SameSize::Class(class) if self.by_size.class(class).open => Some(class),
            _ => None,
        }
    }

    /// Takes a found file of which nothing can be known, or a further name of one: it joins no class.
    pub fn set_aside(
        &mut self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        volume: DevIndex,
    ) -> Naming {
        if let Some(file) = self.known(found, name, dir, volume) {
            let dirs = Arc::clone(&self.dirs);
            return self.file_table.add_name(file, name, dir, &dirs.read());
        }
        let is_met = self.file_table.has_records(volume, found.ino, found.size);
        let file = self.file_table.push(found, name, dir, volume);
        self.file_table.identify(file, is_met);
        Naming::First
    }
}
