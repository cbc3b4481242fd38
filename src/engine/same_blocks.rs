//! Finds the files of one content that lie in the same blocks, and so are one physical copy.
//!
//! The search asks for blocks only where the answer may spare a read, which depends on the page cache. A note about the
//! sides of a comparison must not depend on it.

use std::collections::{HashMap, HashSet};

use crate::device::VolumeId;
use crate::file::FileIndex;
use crate::hash::{Places, PlacesDigest};
use crate::sys::extents;

use super::session::Session;

impl Session<'_> {
    /// Pairs of a file and another file in whose blocks it lies. Only contents are checked that a file system which can
    /// share blocks has below several roots.
    pub fn in_same_blocks(&mut self) -> Vec<(FileIndex, FileIndex)> {
        let contents = (0_u32..).zip(self.machine.all_contents());
        let candidates = contents.flat_map(|(content, files)| {
            let files = self.may_share_across_roots(files).into_iter();
            files.map(move |file| (content, file))
        });
        let candidates: Vec<(u32, FileIndex)> = candidates.collect();
        let mut first_in: HashMap<(u32, PlacesDigest), FileIndex> = HashMap::new();
        let mut same = Vec::new();
        for (content, file) in candidates {
            if self.is_left_open() {
                break;
            }
            let Some(places) = self.places(file) else {
                continue;
            };
            let first = *first_in.entry((content, places)).or_insert(file);
            if first != file {
                same.push((file, first));
            }
        }
        same
    }

    /// The files of a content that may share blocks with a file below another root: no two file systems share any.
    fn may_share_across_roots(&self, mut files: Vec<FileIndex>) -> Vec<FileIndex> {
        if files.len() < 2 {
            return Vec::new();
        }
        let file_table = self.machine.file_table();
        let dirs = self.dirs.read();
        let mut roots: HashMap<VolumeId, HashSet<u32>> = HashMap::new();
        for &file in &files {
            if let Some(space) = self.space_of(file) {
                let names = file_table.names(file);
                let of_file = names.map(|(dir, _)| dirs.root(dir));
                roots.entry(space).or_default().extend(of_file);
            }
        }
        files.retain(|&file| {
            let roots = self.space_of(file).and_then(|space| roots.get(&space));
            roots.is_some_and(|roots| roots.len() > 1)
        });
        files
    }

    /// The address space of a file's block numbers, if the file may share blocks.
    fn space_of(&self, file: FileIndex) -> Option<VolumeId> {
        let dev = self.machine.file_table().volume(file);
        self.volumes.space(self.volumes.of(dev))
    }

    /// A digest of the places of a file's blocks, if others refer to all of them.
    fn places(&mut self, file: FileIndex) -> Option<PlacesDigest> {
        let space = self.space_of(file)?;
        // What cannot be opened is named when all names are looked up once more.
        let (opened, _) = self.reopened(file).ok()?;
        let size = self.machine.file_table().size(file);
        let mut places = Places::default();
        let is_shared = extents::shared_blocks(&opened, size, |run| {
            run.into_iter().for_each(|number| places.add(number));
        });
        is_shared.then(|| places.finish(space.0))
    }
}
