//! The folder that another one is most like, where enough of it lies there.

use super::beside::{Beside, bytes_below};
use super::count::Percent;
use super::left::Left;
use super::tallies::Tallies;
use super::tree::{Content, Folder};

/// One folder shares contents with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Of all folders that hold enough of it, the one that is most like it: with the largest share of common bytes in
    /// the bytes of both together. Of several, the first.
    pub with: Folder,
    /// Bytes of the contents that lie in both, each content counted once.
    pub shared: u64,
    /// Bytes of the contents of both together.
    pub together: u64,
    /// The first folder of which enough lies in this one and the other way round: a generation of the same tree.
    pub generation: Option<Folder>,
    /// True if a content has more places than were looked at, so that a better folder may exist.
    pub bounded: bool,
}

impl Overlap {
    /// The share of the common bytes in those of both together, in millionths.
    pub fn likeness(&self) -> u128 {
        u128::from(self.shared) * 1_000_000 / u128::from(self.together.max(1))
    }
}

/// Looks for it.
pub struct Search<'a> {
    pub left: &'a Left<'a>,
    pub tallies: &'a Tallies,
    pub least: Percent,
}

/// The folder found up to now, with its common bytes and the bytes of both together.
struct Best {
    folder: Folder,
    shared: u64,
    together: u128,
}

impl Search<'_> {
    /// The overlap of a folder with another one that is neither below nor above it, if there is enough.
    pub fn run(&self, beside: &mut Beside, folder: Folder) -> Option<Overlap> {
        let tally = self.tallies.get(folder);
        let elsewhere = tally.bytes - tally.only_here_bytes;
        if tally.bytes == 0 || !self.least.is_met(elsewhere, tally.bytes) {
            return None;
        }
        let tree = self.left.tree;
        let mut contents = tree.contents_below(folder);
        contents.retain(|&content| self.left.has_outside(content, folder));
        let shares = beside.shares(self.left, folder, &contents);
        let mut places = shares.of;
        places.retain(|&(place, shared)| {
            self.least.is_met(shared, tally.bytes) && !tree.holds(place, folder)
        });
        let both_ways = |&(place, shared): &(Folder, u64)| {
            let enough = self.least.is_met(shared, self.tallies.get(place).bytes);
            enough.then_some(place)
        };
        let generation = places.iter().find_map(both_ways);
        places.sort_by_key(|&(place, shared)| (std::cmp::Reverse(shared), place));
        let mut best = None;
        for (place, shared) in places {
            self.descend(tally.bytes, &contents, place, shared, &mut best);
        }
        let best: Best = best?;
        let generation = generation.or_else(|| both_ways(&(best.folder, best.shared)));
        Some(Overlap {
            with: best.folder,
            shared: best.shared,
            together: u64::try_from(best.together).unwrap_or(u64::MAX),
            generation,
            bounded: shares.bounded,
        })
    }

    /// Compares a folder and those within it with the best.
    fn descend(
        &self,
        bytes: u64,
        contents: &[Content],
        place: Folder,
        shared: u64,
        best: &mut Option<Best>,
    ) {
        let all = u128::from(bytes) + u128::from(self.tallies.get(place).bytes);
        let found = Best {
            folder: place,
            shared,
            together: all - u128::from(shared),
        };
        if best.as_ref().is_none_or(|best| found.is_better(best)) {
            *best = Some(found);
        }
        for child in self.left.tree.children(place) {
            // No more of it can lie there.
            let most = shared.min(self.tallies.get(child).bytes);
            if !self.least.is_met(most, bytes) || !may_be_better(most, bytes, best.as_ref()) {
                continue;
            }
            let shared = bytes_below(self.left, contents, child);
            if self.least.is_met(shared, bytes) {
                self.descend(bytes, contents, child, shared, best);
            }
        }
    }
}

/// True unless a folder with this many common bytes is worse than the best: all of both together is at least all of one.
fn may_be_better(shared: u64, bytes: u64, best: Option<&Best>) -> bool {
    best.is_none_or(|best| {
        u128::from(shared) * best.together >= u128::from(best.shared) * u128::from(bytes)
    })
}

impl Best {
    fn is_better(&self, than: &Self) -> bool {
        let (new, old) = (
            u128::from(self.shared) * than.together,
            u128::from(than.shared) * self.together,
        );
        new > old || (new == old && self.folder < than.folder)
    }
}
