//! The folder that another one is most like, where enough of it lies there.

use std::cmp::Reverse;

use super::left::Left;
use super::seen::Content;
use super::shares::Sharing;
use super::survey::{Percent, Tallies};

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
        let seen = self.left.seen;
        let mut contents = seen.contents_below(folder);
        contents.retain(|&content| self.left.has_outside(content, folder));
        let shares = sharing.shares(self.left, folder, &contents);
        let mut places = shares.of;
        places.retain(|&(place, shared)| {
            self.least.is_met(shared, tally.bytes) && !seen.run().holds(place, folder)
        });
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
