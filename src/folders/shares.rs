//! How much of the contents of a folder lies in the folders beside it and beside those above it.

use std::cmp::Reverse;

use super::left::Left;
use super::seen::Content;
use super::survey::{Percent, Tallies};

/// Places in which one content is looked up, at most: some contents have 100,000 copies.
const PLACES: usize = 256;

/// Where contents lie outside of a folder.
#[derive(Debug)]
pub struct Shares {
    /// In order: the highest folders that do not hold the folder, with the bytes of the contents that lie in each.
    pub of: Vec<(u32, u64)>,
    /// True if a content has more places than were looked at.
    pub bounded: bool,
}

/// Finds them; keeps its memory from one folder to the next.
#[derive(Debug)]
pub struct Sharing {
    /// By folder; zero between two questions.
    bytes: Vec<u64>,
    met: Vec<u32>,
}

impl Sharing {
    /// For a tree of so many folders.
    pub fn new(folders: u32) -> Self {
        Self {
            bytes: vec![0; folders as usize],
            met: Vec::new(),
        }
    }

    /// Adds up which of the contents lie where outside of `folder`.
    pub fn shares(&mut self, left: &Left<'_>, folder: u32, contents: &[Content]) -> Shares {
        let mut bounded = false;
        for &content in contents {
            bounded |= self.look_up(left, folder, content);
        }
        self.met.sort_unstable();
        let take = |at: u32| (at, std::mem::take(&mut self.bytes[at as usize]));
        let of = self.met.drain(..).map(take).collect();
        Shares { of, bounded }
    }

    /// Looks up one content; true if it has more places.
    fn look_up(&mut self, left: &Left<'_>, folder: u32, content: Content) -> bool {
        let run = left.seen.run();
        let (copies, size) = (left.seen.copies(content), left.seen.size(content));
        let mut next = 0;
        for _ in 0..PLACES {
            let Some(&at) = copies.get(next) else {
                return false;
            };
            let (place, end) = if run.holds(folder, at) {
                (None, run.below(folder).end)
            } else if let Some(end) = left.end_of_gone(at) {
                (None, end)
            } else {
                let apart = run
                    .upwards(at)
                    .take_while(|&above| !run.holds(above, folder));
                match apart.last() {
                    Some(place) => (Some(place), run.below(place).end),
                    None => (None, at + 1),
                }
            };
            if let Some(place) = place {
                let bytes = &mut self.bytes[place as usize];
                if *bytes == 0 {
                    self.met.push(place);
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

/// One folder shares contents with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Of all folders that hold enough of it, the one that is most like it: with the largest share of common bytes in
    /// the bytes of both together. Of several, the first.
    pub with: u32,
    /// Bytes of the contents that lie in both, each content counted once.
    pub shared: u64,
    /// Bytes of the contents of both together.
    together: u128,
    /// True if a content has more places than were looked at, so that a better folder may exist.
    pub bounded: bool,
}

impl Overlap {
    /// True if the common bytes have a larger share in those of both together.
    pub fn is_closer(&self, than: &Self) -> bool {
        u128::from(self.shared) * than.together > u128::from(than.shared) * self.together
    }

    fn is_better(&self, than: &Self) -> bool {
        self.is_closer(than) || !than.is_closer(self) && self.with < than.with
    }

    /// True unless a folder with this many common bytes is worse: all of both together is at least all of one.
    fn may_be_beaten(&self, shared: u64, bytes: u64) -> bool {
        u128::from(shared) * self.together >= u128::from(self.shared) * u128::from(bytes)
    }
}

/// Looks for it.
pub struct Search<'a> {
    pub left: &'a Left<'a>,
    pub tallies: &'a Tallies,
    pub least: Percent,
}

impl Search<'_> {
    /// The overlap of a folder with another one that is neither below nor above it, if there is enough.
    pub fn run(&self, sharing: &mut Sharing, folder: u32) -> Option<Overlap> {
        let tally = self.tallies.get(folder);
        let elsewhere = tally.bytes - tally.only_here_bytes;
        if tally.bytes == 0 || !self.least.is_met(elsewhere, tally.bytes) {
            return None;
        }
        let mut contents = self.left.seen.contents_below(folder);
        contents.retain(|&content| self.left.has_outside(content, folder));
        let shares = sharing.shares(self.left, folder, &contents);
        let mut places = shares.of;
        places.retain(|&(_, shared)| self.least.is_met(shared, tally.bytes));
        places.sort_by_key(|&(place, shared)| (Reverse(shared), place));
        let mut best = None;
        for (place, shared) in places {
            self.descend(tally.bytes, &contents, place, shared, &mut best);
        }
        best.map(|best| Overlap {
            bounded: shares.bounded,
            ..best
        })
    }

    /// Compares a folder and those within it with the best.
    fn descend(
        &self,
        bytes: u64,
        contents: &[Content],
        place: u32,
        shared: u64,
        best: &mut Option<Overlap>,
    ) {
        let all = u128::from(bytes) + u128::from(self.tallies.get(place).bytes);
        let found = Overlap {
            with: place,
            shared,
            together: all - u128::from(shared),
            bounded: false,
        };
        if best.is_none_or(|best| found.is_better(&best)) {
            *best = Some(found);
        }
        for child in self.left.seen.run().children(place) {
            // No more of it can lie there.
            let most = shared.min(self.tallies.get(child).bytes);
            let may_be_best = best.is_none_or(|best| best.may_be_beaten(most, bytes));
            if !may_be_best || !self.least.is_met(most, bytes) {
                continue;
            }
            let shared = self.left.bytes_below(contents, child);
            if self.least.is_met(shared, bytes) {
                self.descend(bytes, contents, child, shared, best);
            }
        }
    }
}
