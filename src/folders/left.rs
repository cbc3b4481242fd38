//! The tree without the folders that go.

use std::collections::BTreeMap;

use super::tree::{Content, Folder, Tree};

/// Places that are passed over in one search, at most: some contents have 100,000 copies.
const PASSED: usize = 256;

/// What stays of a tree.
#[derive(Clone, Debug)]
pub struct Left<'t> {
    /// The whole tree.
    pub tree: &'t Tree,
    /// The folders that go, each with the end of its numbers. None holds another one.
    gone: BTreeMap<u32, u32>,
}

impl<'t> Left<'t> {
    /// All of it.
    pub fn all(tree: &'t Tree) -> Self {
        let gone = BTreeMap::new();
        Self { tree, gone }
    }

    /// Takes a folder away that lies apart from those that went.
    pub fn remove(&mut self, folder: Folder) {
        self.gone.insert(folder.0, self.tree.end(folder));
    }

    /// Where a folder ends that went and holds this one, or is it.
    pub fn end_of_gone(&self, folder: Folder) -> Option<u32> {
        let before = self.gone.range(..=folder.0).next_back();
        before.and_then(|(_, &end)| (folder.0 < end).then_some(end))
    }

    /// True if a folder that went holds this one, is it, or lies in it.
    pub fn is_touched(&self, folder: Folder) -> bool {
        let mut within = self.gone.range(folder.0..self.tree.end(folder));
        self.end_of_gone(folder).is_some() || within.next().is_some()
    }

    /// True if a copy of a content is left below a folder.
    pub fn has_below(&self, content: Content, folder: Folder) -> bool {
        self.has_between(content, folder.0, self.tree.end(folder))
    }

    /// True if a copy of a content is left outside of a folder.
    pub fn has_outside(&self, content: Content, folder: Folder) -> bool {
        self.has_between(content, 0, folder.0)
            || self.has_between(content, self.tree.end(folder), u32::MAX)
    }

    /// The folders outside of one in which copies of a content are left, in order; in some of very many not all of them.
    pub fn outside(&self, content: Content, folder: Folder) -> impl Iterator<Item = Folder> {
        let copies = self.tree.copies(content);
        let (mut from, end) = (0, self.tree.end(folder));
        std::iter::from_fn(move || {
            let mut at = self.next(copies, from, u32::MAX)?;
            if folder.0 <= at && at < end {
                at = self.next(copies, end, u32::MAX)?;
            }
            from = at + 1;
            Some(Folder(at))
        })
    }

    fn has_between(&self, content: Content, from: u32, end: u32) -> bool {
        self.next(self.tree.copies(content), from, end).is_some()
    }

    /// The first copy between two numbers of folders that is left.
    fn next(&self, copies: &[u32], mut from: u32, end: u32) -> Option<u32> {
        for _ in 0..PASSED {
            let next = copies.partition_point(|&at| at < from);
            let at = *copies.get(next).filter(|&&at| at < end)?;
            match self.end_of_gone(Folder(at)) {
                Some(end) => from = end,
                None => return Some(at),
            }
        }
        None
    }
}
