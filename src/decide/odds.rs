//! The chance that another file has the same head, learnt by size class during the run.
//!
//! Where a seek is expensive, this chance decides whether the rest of a file is read on the first visit. Before
//! anything was compared, the sizes alone are strong evidence: among few files of about this length, two of exactly the
//! same length are hardly an accident.

/// Exponents of two that a length may have.
const EXPONENTS: usize = 64;

/// Files of one size: two, three or four, up to sixteen, more.
const SHARINGS: usize = 4;

/// Number of comparisons that the evidence of the sizes counts for. A guess; it should be outweighed soon where the
/// files behave differently.
const PRIOR_WEIGHT: f64 = 4.0;

/// Share of files that have a duplicate, before any evidence. A guess.
const DUPLICATED: f64 = 0.3;

/// The prior for very many files of one size: programs write many files of one length that have nothing else in common.
/// A guess.
const MANY_PRIOR: f64 = 0.5;

/// The prior for files without evidence.
const EVEN: f64 = 0.5;

/// Maximum certainty: a file can always be the exception.
const MOST: f64 = 0.98;

/// Counts of files and of heads compared, by length.
#[derive(Clone, Debug)]
pub struct Odds {
    /// Files found, by the exponent of their length.
    found: [u32; EXPONENTS],
    /// Heads compared with earlier ones of the same size, and how many were equal to one.
    compared: [[Count; SHARINGS]; EXPONENTS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: f64,
    equal: f64,
}

impl Default for Odds {
    fn default() -> Self {
        Self {
            found: [0; EXPONENTS],
            compared: [[Count::default(); SHARINGS]; EXPONENTS],
        }
    }
}

impl Odds {
    /// Records a file.
    pub(super) fn found(&mut self, size: u64) {
        let count = &mut self.found[exponent(size)];
        *count = count.saturating_add(1);
    }

    /// Records the comparison of a head of a file, whose size many files share, with the heads of this many of them. It
    /// counts for as much as the share of the others that these are: an equal file may be among those which are still
    /// to come, as in a backup that is read snapshot by snapshot.
    pub(super) fn compared(&mut self, size: u64, sharing: u32, with: u32, equal: bool) {
        let count = &mut self.compared[exponent(size)][sharing_class(sharing)];
        let others = sharing.saturating_sub(1).max(with).max(1);
        count.all += f64::from(with) / f64::from(others);
        count.equal += f64::from(u8::from(equal));
    }

    /// The chance that another file has the same head, for a file of a size that many files share.
    pub fn of(&self, size: u64, sharing: u32) -> f64 {
        self.given(size, sharing, self.by_size_alone(size, sharing))
    }

    /// As [`Self::of`], without evidence from the size.
    pub fn of_any(&self, size: u64, sharing: u32) -> f64 {
        self.given(size, sharing, EVEN)
    }

    fn given(&self, size: u64, sharing: u32, prior: f64) -> f64 {
        let count = self.compared[exponent(size)][sharing_class(sharing)];
        let learnt = (count.equal + PRIOR_WEIGHT * prior) / (count.all + PRIOR_WEIGHT);
        learnt.min(MOST)
    }

    /// The odds of a duplicate against an accident, by Bayes' rule. For accidents, lengths within one power of two are
    /// assumed to be spread evenly.
    fn by_size_alone(&self, size: u64, sharing: u32) -> f64 {
        let exponent = exponent(size);
        let others = self.found[exponent].saturating_sub(sharing);
        let expected = f64::from(others) / 2_f64.powi(exponent as i32);
        let accident = (1.0 - DUPLICATED) * (1.0 - (-expected).exp());
        let odds = DUPLICATED / (DUPLICATED + accident);
        if sharing_class(sharing) == SHARINGS - 1 {
            odds.min(MANY_PRIOR)
        } else {
            odds
        }
    }
}

fn exponent(size: u64) -> usize {
    size.max(1).ilog2() as usize
}

fn sharing_class(sharing: u32) -> usize {
    match sharing {
        0..=2 => 0,
        3..=4 => 1,
        5..=16 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHOTO: u64 = 2_345_678;

    #[test]
    fn two_large_files_of_one_length_are_hardly_an_accident() {
        let mut odds = Odds::default();
        for i in 0..600 {
            odds.found(2_100_000 + 3000 * i);
        }
        assert!(odds.of(PHOTO, 2) > 0.95, "{}", odds.of(PHOTO, 2));
    }

    #[test]
    fn what_is_seen_outweighs_what_was_expected() {
        let mut odds = Odds::default();
        let before = odds.of(PHOTO, 2);
        for seen in 1..=50 {
            odds.compared(PHOTO, 2, 1, seen % 5 == 0);
        }
        let after = odds.of(PHOTO, 2);
        assert!(
            before > 0.9 && (0.2..0.3).contains(&after),
            "{before} {after}"
        );
        for _ in 0..10_000 {
            odds.compared(PHOTO, 2, 1, true);
        }
        assert!((0.9..1.0).contains(&odds.of(PHOTO, 2)), "never certain");
    }

    #[test]
    fn any_length_has_odds() {
        let odds = Odds::default();
        for size in [0, 1, 2, 4096, u64::MAX] {
            for sharing in [0, 1, 2, 17, u32::MAX] {
                let p = odds.of(size, sharing);
                assert!((0.0..=1.0).contains(&p), "{size} {sharing}: {p}");
            }
        }
    }
}
