//! What a verdict is called, the same in every format, and how text is told from it again.

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

/// The words of text reports. Those that end in a space are followed by the other folder, which ends the line.
pub const IDENTICAL: &str = "identical to ";
pub const SAME: &str = "same contents as ";
pub const CONTAINED: &str = "contained in ";
pub const ALSO_IN: &str = " % also in ";
pub const IN_PARTS: &str = "found elsewhere in parts: ";
pub const NOT_SEEN: &str = "not fully seen: ";
pub const GAIN: &str = " can go";
pub const NO_GAIN: &str = "frees no space";

/// True if a line begins an entry.
pub fn is_entry(line: &[u8]) -> bool {
    let Ok(line) = str::from_utf8(line) else {
        return false;
    };
    let ends = line.ends_with(" folder:") || line.ends_with(" folders:");
    ends && (line.contains(GAIN) || line.starts_with(NO_GAIN))
}

/// The other folder, as it is written, in what is said of a folder: the outer is `None` if the line says nothing, the
/// inner if no single other folder stands for it.
pub fn other_in(line: &[u8]) -> Option<Option<&[u8]>> {
    let line = str::from_utf8(line).ok()?;
    // Size, files, verdict.
    let said = line.splitn(3, ", ").nth(2)?;
    for words in [IDENTICAL, SAME, CONTAINED] {
        if let Some(other) = said.strip_prefix(words) {
            return Some(Some(other.as_bytes()));
        }
    }
    if said.starts_with(IN_PARTS) || said.starts_with(NOT_SEEN) {
        return Some(None);
    }
    let (percent, other) = said.split_once(ALSO_IN)?;
    percent.parse::<u8>().ok()?;
    Some(Some(other.as_bytes()))
}
