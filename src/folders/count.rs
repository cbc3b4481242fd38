//! Numbers and shares in verdicts.

/// A number that may be larger than was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many were counted.
    pub number: usize,
    /// True if counting ended early.
    pub at_least: bool,
}

/// A share of bytes, from 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(pub u8);

impl Percent {
    /// True if a part is at least this much of all.
    pub fn is_met(self, part: u64, all: u64) -> bool {
        u128::from(part) * 100 >= u128::from(all) * u128::from(self.0)
    }
}
