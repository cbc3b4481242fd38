//! The results of the machine so far.

use crate::decide::by_size::SameSize;
use crate::decide::chain::Chain;
use crate::decide::class::ClassId;
use crate::decide::keyed_join::{Key, KeyedJoin};
use crate::file::FileIndex;
use crate::hash::ContentDigest;

use super::Machine;

impl Machine {
    /// Sizes whose sets have become final since the last call.
    pub fn finished(&mut self) -> Vec<ClassId> {
        std::mem::take(&mut self.finished)
    }

    /// Sizes with reads still requested, which an interrupted run leaves unfinished.
    pub fn unfinished(&self) -> Vec<ClassId> {
        let pending = |id: &ClassId| self.by_size.class(*id).pending > 0;
        self.by_size.ids().filter(pending).collect()
    }

    /// The files of equal content of one size, by content, in the order in which the contents came. Contents of too few
    /// files to be reported are left out.
    pub fn contents(&self, size: ClassId) -> impl Iterator<Item = (ClassId, Vec<FileIndex>)> {
        let last = self.by_size.class(size).contents;
        // Of one size there may be very many, so only their numbers are gathered.
        let mut classes: Vec<ClassId> =
            std::iter::successors(last, |&class| self.by_content.link(class)).collect();
        classes.sort_unstable_by_key(|class| class.0);
        classes
            .into_iter()
            .map(|class| (class, self.by_content.held(class, &self.chain)))
    }

    /// Number of contents of several files so far.
    pub fn repeated_contents(&self) -> usize {
        self.by_content.of_several()
    }

    /// The files of each content, of all sizes, including contents with one file only.
    pub fn all_contents(&self) -> impl Iterator<Item = Vec<FileIndex>> {
        let classes = self.by_content.ids();
        classes.map(|class| self.by_content.held(class, &self.chain))
    }

    /// True if files of this one's size still have reads requested.
    pub fn is_unfinished(&self, file: FileIndex) -> bool {
        let size = self
            .by_size
            .find(self.file_table.size(file), &self.file_table);
        matches!(size, Some(SameSize::Class(id)) if self.by_size.class(id).pending > 0)
    }

    /// The digest of a content, if it was computed.
    pub fn digest(&self, content: ClassId) -> Option<ContentDigest> {
        self.by_content.key(content).digest()
    }

    /// Files that turned out to be unique before they were read to the end.
    pub fn alone(&self) -> impl Iterator<Item = FileIndex> {
        let by_size = self.by_size.closed(&self.chain).into_iter();
        let by_head = closed(&self.by_head, &self.chain);
        let by_tail = closed(&self.by_tail, &self.chain);
        by_size.chain(by_head).chain(by_tail)
    }
}

fn closed<K: Key>(join: &KeyedJoin<K>, chain: &Chain) -> impl Iterator<Item = FileIndex> {
    let classes = join.ids().filter(|&id| !join.is_open(id));
    classes.flat_map(|id| join.held(id, chain))
}
