//! Numbers and shares in verdicts.

use serde::Serialize;

/// The number of places that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Places {
    /// Their number.
    #[serde(rename = "places")]
    pub number: usize,
    /// True if there may be more: some content has more copies than were examined.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
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
