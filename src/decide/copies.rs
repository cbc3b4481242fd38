//! The numbers of copies that are reported.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How many copies the content of a reported set has; prints and parses as `2..`, `..3`, `2..3` or `3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Copies {
    /// At least this many: 2 for duplicates.
    pub least: u64,
    /// At most this many, if there is a limit: 1 for unique files.
    pub most: Option<u64>,
}

impl Copies {
    /// What is in one place only.
    pub const UNIQUE: Self = Self {
        least: 1,
        most: Some(1),
    };

    /// This many or more.
    pub fn at_least(least: u64) -> Self {
        Self { least, most: None }
    }

    /// This many or fewer.
    pub fn at_most(most: u64) -> Self {
        Self {
            least: 1,
            most: Some(most),
        }
    }

    /// True for a number in the range.
    pub fn include(self, copies: u64) -> bool {
        copies >= self.least && self.most.is_none_or(|most| copies <= most)
    }
}

impl Default for Copies {
    fn default() -> Self {
        Self::at_least(2)
    }
}

/// Why a text is no range of copies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCopies {
    /// Neither a number nor a range.
    #[error("{0:?} is not a number or range of copies: write 3, 3.., ..3 or 2..3")]
    NoRange(String),
    /// No content has so few.
    #[error("each content has at least one copy: write 1 or more")]
    Zero,
    /// The range ends before it begins.
    #[error("no number is from {0} to {1}: swap them")]
    Backwards(u64, u64),
}

impl FromStr for Copies {
    type Err = BadCopies;

    fn from_str(text: &str) -> Result<Self, BadCopies> {
        let no_range = || BadCopies::NoRange(text.to_owned());
        let number = |text: &str| match text {
            "" => Ok(None),
            digits if digits.starts_with('+') => Err(no_range()),
            digits => digits.parse::<u64>().map(Some).map_err(|_| no_range()),
        };
        let (least, most) = match text.split_once("..") {
            Some((least, most)) => (number(least)?, number(most)?),
            None => (number(text)?, number(text)?),
        };
        match (least, most) {
            (None, None) => Err(no_range()),
            (Some(0), _) | (_, Some(0)) => Err(BadCopies::Zero),
            (Some(least), Some(most)) if most < least => Err(BadCopies::Backwards(least, most)),
            (least, most) => Ok(Self {
                least: least.unwrap_or(1),
                most,
            }),
        }
    }
}

impl fmt::Display for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (least, None) => write!(f, "{least}.."),
            (least, Some(most)) if least == most => write!(f, "{most}"),
            (1, Some(most)) => write!(f, "..{most}"),
            (least, Some(most)) => write!(f, "{least}..{most}"),
        }
    }
}

impl From<Copies> for String {
    fn from(copies: Copies) -> Self {
        copies.to_string()
    }
}

impl TryFrom<String> for Copies {
    type Error = BadCopies;

    fn try_from(text: String) -> Result<Self, BadCopies> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_printed_as_it_is_read() {
        for (text, least, most) in [
            ("2..", 2, None),
            ("..3", 1, Some(3)),
            ("2..3", 2, Some(3)),
            ("3", 3, Some(3)),
            ("1", 1, Some(1)),
        ] {
            let copies: Copies = text.parse().expect("a range");
            assert_eq!(copies, Copies { least, most }, "{text}");
            assert_eq!(copies.to_string(), text);
        }
        // Other spellings of the same.
        for (text, same) in [("1..3", "..3"), ("3..3", "3")] {
            assert_eq!(text.parse(), same.parse::<Copies>());
        }
        for wrong in [
            "", "..", "0", "0..", "..0", "3..2", "x", "+3", "-1", "2...3", "2..=3",
        ] {
            assert!(wrong.parse::<Copies>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn both_ends_are_included() {
        let copies = |text: &str| text.parse::<Copies>().expect("a range");
        for (text, included) in [
            ("2..", [false, true, true, true]),
            ("..3", [true, true, true, false]),
            ("2..3", [false, true, true, false]),
            ("3", [false, false, true, false]),
        ] {
            assert_eq!(
                [1, 2, 3, 4].map(|n| copies(text).include(n)),
                included,
                "{text}"
            );
        }
    }
}
