//! The tree without the folders that go.

use std::collections::BTreeMap;
use std::ops::Range;

use super::seen::{Content, Seen};

/// Places that are passed over in one search, at most: some contents have 100,000 copies.
const PASSED: usize = 256;

/// What stays of a tree.
#[derive(Clone, Debug)]
pub struct Left<'s> {
    /// The whole tree.
    pub seen: &'s Seen<'s>,
    /// The folders that go, each with the end of its numbers. None holds another one.
    gone: BTreeMap<u32, u32>,
}

impl<'s> Left<'s> {
    /// All of it.
    pub fn all(seen: &'s Seen<'s>) -> Self {
        let gone = BTreeMap::new();
        Self { seen, gone }
    }

    /// Takes a folder away that lies apart from those that went.
    pub fn remove(&mut self, folder: u32) {
        self.gone.insert(folder, self.seen.run().below(folder).end);
    }

    /// Where a folder ends that went and holds this one, or is it.
    pub fn end_of_gone(&self, folder: u32) -> Option<u32> {
        let before = self.gone.range(..=folder).next_back();
        before.and_then(|(_, &end)| (folder < end).then_some(end))
    }

    /// True if a folder that went holds this one, is it, or lies in it.
    pub fn is_touched(&self, folder: u32) -> bool {
        let mut within = self.gone.range(self.seen.run().below(folder));
        self.end_of_gone(folder).is_some() || within.next().is_some()
    }

    /// True if a copy of a content is left below a folder.
    pub fn has_below(&self, content: Content, folder: u32) -> bool {
        let below = self.seen.run().below(folder);
        self.first(content, below).is_some()
    }

    /// True if a copy of a content is left outside of a folder.
    pub fn has_outside(&self, content: Content, folder: u32) -> bool {
        self.outside(content, folder).next().is_some()
    }

    /// The folders outside of one in which copies of a content are left, in order; in some of very many not all of them.
    pub fn outside(&self, content: Content, folder: u32) -> impl Iterator<Item = u32> {
        let Range { start, end } = self.seen.run().below(folder);
        let mut from = 0;
        std::iter::from_fn(move || {
            let before = self.first(content, from..start);
            let at = before.or_else(|| self.first(content, from.max(end)..u32::MAX))?;
            from = at + 1;
            Some(at)
        })
    }

    /// Bytes of those of the contents that are left below a folder.
    pub fn bytes_below(&self, contents: &[Content], folder: u32) -> u64 {
        let contents = contents.iter();
        let below = contents.filter(|&&content| self.has_below(content, folder));
        below.map(|&content| self.seen.size(content)).sum()
    }

    /// The first of these folders in which a copy is left.
    fn first(&self, content: Content, folders: Range<u32>) -> Option<u32> {
        let copies = self.seen.copies(content);
        let mut from = folders.start;
        for _ in 0..PASSED {
            let next = copies.partition_point(|&at| at < from);
            let at = *copies.get(next).filter(|&&at| at < folders.end)?;
            match self.end_of_gone(at) {
                Some(end) => from = end,
                None => return Some(at),
            }
        }
        None
    }
}
