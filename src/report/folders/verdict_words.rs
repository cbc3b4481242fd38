//! What a verdict is called, the same in every format.

use crate::folders::{Count, Said};

/// The verdict in the words of JSON and CSV.
pub fn verdict(said: &Said) -> &'static str {
    match said {
        Said::Identical { .. } => "identical",
        Said::SameContents { .. } => "same-contents",
        Said::Contained { .. } => "contained",
        Said::InParts { .. } => "in-parts",
        Said::Overlaps { .. } => "overlaps",
        Said::NotFullySeen { .. } => "not-fully-seen",
    }
}

/// The other folder, if there is one.
pub fn other(said: &Said) -> Option<&[u8]> {
    match said {
        Said::Identical { with, .. }
        | Said::SameContents { with, .. }
        | Said::Overlaps { with, .. } => Some(with),
        Said::Contained { inside, .. } => Some(inside),
        Said::InParts { .. } | Said::NotFullySeen { .. } => None,
    }
}

/// In how many places it was found.
pub fn places(said: &Said) -> Option<Count> {
    match said {
        Said::Identical { places, .. }
        | Said::SameContents { places, .. }
        | Said::Contained { places, .. }
        | Said::InParts { places, .. } => Some(*places),
        Said::Overlaps { .. } | Said::NotFullySeen { .. } => None,
    }
}

/// Whole percent of a part, never more than there is.
pub fn percent(part: u64, of: u64) -> u64 {
    match of {
        0 => 0,
        of => (u128::from(part) * 100 / u128::from(of)) as u64,
    }
}
