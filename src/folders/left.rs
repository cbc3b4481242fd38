//! The tree without the folders that go, and the homes of folders in it: those outside of one that hold a copy of
//! everything below it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::seen::{Content, Seen};
use super::survey::Tallies;
use super::verdict::Places;
use crate::tree::Tree;

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

    /// The folders outside of one in which copies of a content are left, in order; in some of very many not all of
    /// them.
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

/// Copies from which a home is looked for. Where a content has more, all others below the folder have more, too.
const COPIES: usize = 256;

/// Once one home is found, further ones are counted for this many looks at a content, and as many more as there are
/// contents below the folder, this many times. Reasoned, not swept.
const FURTHER_LOOKS: usize = 4096;
const FURTHER_TIMES: usize = 8;

/// The lowest folders that hold everything of another folder, which lies neither below nor above them.
#[derive(Debug)]
pub struct Homes {
    /// In order.
    pub folders: Vec<u32>,
    /// How many there are.
    pub count: Places,
}

impl Homes {
    /// Looks for the homes of a folder in what is left of a tree.
    pub fn of(left: &Left<'_>, folder: u32) -> Self {
        let seen = left.seen;
        let contents = seen.contents_below(folder).into_iter();
        let mut contents: Vec<(usize, Content)> = contents
            .map(|content| {
                let here = seen.copies_below(content, folder);
                (seen.copies(content).len() - here, content)
            })
            .collect();
        // A folder lacks the rarest content most likely, so most of the others need not be looked at.
        contents.sort_unstable();
        let mut found: Vec<u32> = Vec::new();
        let mut bounded = false;
        if let Some(&(1.., rarest)) = contents.first() {
            let mut further = FURTHER_LOOKS + FURTHER_TIMES * contents.len();
            for (tried, at) in left.outside(rarest, folder).enumerate() {
                if tried == COPIES || further == 0 {
                    bounded = true;
                    break;
                }
                found.extend(climb(left, folder, at, &contents));
                if !found.is_empty() {
                    further = further.saturating_sub(contents.len());
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        let folders = lowest(seen.run(), &found);
        let count = Places {
            number: folders.len(),
            at_least: bounded,
        };
        Self { folders, count }
    }

    /// The smallest one, by bytes and then in order.
    pub fn smallest(&self, tallies: &Tallies) -> Option<u32> {
        let key = |folder: &u32| (tallies.get(*folder).bytes, *folder);
        self.folders.iter().copied().min_by_key(key)
    }
}

/// The lowest folder that holds a place and all contents, if it does not hold the folder itself.
fn climb(left: &Left<'_>, of: u32, from: u32, contents: &[(usize, Content)]) -> Option<u32> {
    let run = left.seen.run();
    let mut above = run.upwards(from).take_while(|&at| !run.holds(at, of));
    let mut home = above.next()?;
    for &(_, content) in contents {
        while !left.has_below(content, home) {
            home = above.next()?;
        }
    }
    Some(home)
}

/// Those of sorted folders that hold no other.
fn lowest(run: &Tree, sorted: &[u32]) -> Vec<u32> {
    let next = sorted.iter().skip(1).map(Some).chain([None]);
    let lowest = sorted.iter().zip(next);
    let lowest =
        lowest.filter(|(folder, next)| next.is_none_or(|&next| !run.holds(**folder, next)));
    lowest.map(|(&folder, _)| folder).collect()
}
