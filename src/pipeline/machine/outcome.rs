//! What has come out.

use crate::file::FileIndex;
use crate::hash::ContentDigest;
use crate::pipeline::chain::Chain;
use crate::pipeline::keyed_join::{ClassId, Key, KeyedJoin};
use crate::pipeline::keys::Content;

use super::Machine;

impl Machine {
    /// Sizes whose sets have become final since the last call.
    pub fn finished(&mut self) -> Vec<ClassId> {
        std::mem::take(&mut self.finished)
    }

    /// Sizes with reads still wanted, which an interrupted run leaves unfinished.
    pub fn unfinished(&self) -> Vec<ClassId> {
        let pending = |id: &ClassId| self.by_size.class(*id).pending > 0;
        self.by_size.ids().filter(pending).collect()
    }

    /// The files of equal content of one size, each class with its digest if that was computed.
    pub fn contents(&self, size: ClassId) -> Vec<(Option<ContentDigest>, Vec<FileIndex>)> {
        let mut classes = Vec::new();
        let mut at = self.by_size.class(size).contents;
        while let Some(class) = at {
            let digest = match self.by_content.class(class).key.content {
                Content::Digest(digest) => Some(digest),
                Content::Of(_) => None,
            };
            classes.push((digest, self.by_content.held(class, &self.chain)));
            at = self.by_content.link(class);
        }
        classes.reverse();
        classes
    }

    /// Files that turned out to be alone before all of them was read.
    pub fn alone(&self) -> impl Iterator<Item = FileIndex> {
        let by_size = self.by_size.closed(&self.chain).into_iter();
        let by_head = closed(&self.by_head, &self.chain);
        let by_tail = closed(&self.by_tail, &self.chain);
        let in_crowds = self.alone_in_crowds.iter().copied();
        by_size.chain(by_head).chain(by_tail).chain(in_crowds)
    }
}

fn closed<K: Key>(join: &KeyedJoin<K>, chain: &Chain) -> impl Iterator<Item = FileIndex> {
    let classes = join.ids().filter(|&id| !join.class(id).open);
    classes.flat_map(|id| join.held(id, chain))
}
