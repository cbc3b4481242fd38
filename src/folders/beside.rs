//! How much of the contents of a folder lies in the folders beside it and beside those above it.

use super::left::Left;
use super::tree::{Content, Folder, Tree};

/// Places in which one content is looked up, at most: some contents have 100,000 copies.
const PLACES: usize = 256;

/// Bytes for each folder, kept from one question to the next for their memory.
#[derive(Debug)]
pub struct Beside {
    bytes: Vec<u64>,
    met: Vec<u32>,
}

/// The result.
#[derive(Debug)]
pub struct Shares {
    /// In order: folders with the bytes of the contents that lie in each. Those directly in a folder above are counted
    /// for that one, which holds the folder that was asked about.
    pub of: Vec<(Folder, u64)>,
    /// True if a content has more places than were looked at.
    pub bounded: bool,
}

impl Beside {
    /// Room for a tree.
    pub fn new(tree: &Tree) -> Self {
        Self {
            bytes: vec![0; tree.len()],
            met: Vec::new(),
        }
    }

    /// Adds up which of the contents lie where outside of `folder`: in the highest folders that do not hold it.
    pub fn shares(&mut self, left: &Left<'_>, folder: Folder, contents: &[Content]) -> Shares {
        let tree = left.tree;
        let above = std::iter::successors(Some(folder), |&at| {
            (at != Folder::TOP).then(|| tree.parent(at))
        });
        let above: Vec<Folder> = above.skip(1).collect();
        let mut bounded = false;
        for &content in contents {
            bounded |= self.look_up(left, folder, &above, content);
        }
        self.met.sort_unstable();
        let take = |at: u32| (Folder(at), std::mem::take(&mut self.bytes[at as usize]));
        let of = self.met.drain(..).map(take).collect();
        Shares { of, bounded }
    }

    /// Looks up one content; true if it has more places.
    fn look_up(
        &mut self,
        left: &Left<'_>,
        folder: Folder,
        above: &[Folder],
        content: Content,
    ) -> bool {
        let tree = left.tree;
        let (copies, size) = (tree.copies(content), tree.size(content));
        let mut next = 0;
        for _ in 0..PLACES {
            let Some(&at) = copies.get(next) else {
                return false;
            };
            let at = Folder(at);
            let (place, end) = if tree.holds(folder, at) {
                (None, tree.end(folder))
            } else if let Some(end) = left.end_of_gone(at) {
                (None, end)
            } else {
                let holding = above.iter().find(|&&above| tree.holds(above, at));
                let holding = *holding.unwrap_or(&Folder::TOP);
                if holding == at {
                    (Some(at), at.0 + 1)
                } else {
                    let child = tree.child_towards(holding, at);
                    (Some(child), tree.end(child))
                }
            };
            if let Some(place) = place {
                let bytes = &mut self.bytes[place.at()];
                if *bytes == 0 {
                    self.met.push(place.0);
                }
                *bytes += size;
            }
            next += past(&copies[next..], end);
        }
        next < copies.len()
    }
}

/// How many of sorted numbers lie below a limit; mostly few.
fn past(numbers: &[u32], limit: u32) -> usize {
    let near = &numbers[..numbers.len().min(8)];
    match near.iter().position(|&number| number >= limit) {
        Some(count) => count,
        None => near.len() + numbers[near.len()..].partition_point(|&number| number < limit),
    }
}

/// The bytes of those contents that lie below a folder.
pub fn bytes_below(left: &Left<'_>, contents: &[Content], folder: Folder) -> u64 {
    let below = contents
        .iter()
        .filter(|&&content| left.has_below(content, folder));
    below.map(|&content| left.tree.size(content)).sum()
}
