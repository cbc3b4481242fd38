//! The tables of a run, and what they say of the files of a set.

use std::collections::HashSet;

use crate::decide::{Machine, Want};
use crate::device::VolumeId;
use crate::file::{DirTable, FileIndex, FileTable, is_managed_file};
use crate::read::Scheduler;

use super::volumes::Volumes;

/// The tables of a run.
pub struct Tables<'r> {
    pub machine: &'r Machine,
    pub dirs: &'r DirTable,
    pub volumes: &'r Volumes,
    pub scheduler: &'r Scheduler<Want>,
}

impl<'r> Tables<'r> {
    pub(super) fn file_table(&self) -> &'r FileTable {
        self.machine.file_table()
    }

    pub(super) fn volume(&self, file: FileIndex) -> VolumeId {
        self.volumes.of(self.file_table().volume(file))
    }

    /// True if only a catalog knows a file.
    pub(super) fn is_unplugged(&self, file: FileIndex) -> bool {
        self.volumes.is_unplugged(self.file_table().volume(file))
    }

    /// The roots of a file's names.
    pub(super) fn roots_of(&self, file: FileIndex) -> impl Iterator<Item = u32> {
        let names = self.file_table().names(file);
        names.map(|(dir, _)| self.dirs.root(dir))
    }

    /// True if one name of a file is hidden or lies in a folder that a program manages: actions leave the file alone.
    pub(super) fn is_managed(&self, file: FileIndex) -> bool {
        let is_so = |(dir, name)| self.dirs.is_managed(dir) || is_managed_file(name);
        let file_table = self.file_table();
        if file_table.has_further_names(file) {
            file_table.names(file).any(is_so)
        } else {
            is_so((file_table.dir(file), file_table.first_name(file)))
        }
    }

    /// The number of replicas among files of one content.
    pub(super) fn replicas(&self, files: &[FileIndex]) -> u64 {
        let counting = self.machine.counting();
        let (mut name_count, mut root_count) = (0, 0);
        if counting.isolate {
            let roots = files.iter().flat_map(|&file| self.roots_of(file));
            root_count = roots.collect::<HashSet<u32>>().len() as u64;
        } else if counting.hard_links {
            let names = files
                .iter()
                .map(|&file| self.file_table().names(file).count() as u64);
            name_count = names.sum();
        }
        counting.replicas(files.len() as u64, name_count, root_count)
    }

    pub(super) fn is_reported(&self, files: &[FileIndex]) -> bool {
        let inodes = files.len() as u64;
        inodes > 0
            && self
                .machine
                .counting()
                .reported(inodes, self.replicas(files))
            && self.machine.is_any_newer(files)
    }

    /// The roots whose files stay when the other files of a set are removed: with `--isolate` those of the first file,
    /// since copies there are no duplicates of it.
    pub(super) fn staying_roots(&self, files: &[FileIndex]) -> HashSet<u32> {
        let first = files.first().filter(|_| self.machine.counting().isolate);
        first
            .into_iter()
            .flat_map(|&first| self.roots_of(first))
            .collect()
    }
}
