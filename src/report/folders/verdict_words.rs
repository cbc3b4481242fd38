//! What a verdict is called, the same in every format, and how text is told from it again.

use crate::folders::{CanGo, FolderVerdict};

/// The verdict in the words of JSON and CSV.
pub fn verdict(verdict: &FolderVerdict) -> &'static str {
    match verdict {
        FolderVerdict::Identical { .. } => "identical",
        FolderVerdict::SameContents { .. } => "same-contents",
        FolderVerdict::Contained { .. } => "contained",
        FolderVerdict::InParts { .. } => "in-parts",
        FolderVerdict::Overlaps { .. } => "overlaps",
        FolderVerdict::NotFullySeen { .. } => "not-fully-seen",
    }
}

/// Which folders of an entry can go, in the words of JSON and CSV.
pub fn can_go(entry: CanGo) -> &'static str {
    match entry {
        CanGo::All => "all",
        CanGo::AllButOne => "all-but-one",
        CanGo::None => "none",
    }
}

/// The words of text reports. Those that end in a space are followed by the other folder, which ends the line.
pub const IDENTICAL: &str = "identical to ";
pub const SAME: &str = "same contents as ";
pub const CONTAINED: &str = "contained in ";
pub const ONLY_HERE: &str = " ONLY here; ";
pub const ALSO_IN: &str = " also in ";
pub const IN_PARTS: &str = "found elsewhere in parts: ";
pub const NOT_SEEN: &str = "not fully seen: ";
/// The words of the lines that begin entries.
pub const CAN_GO: &str = " can go, ";
pub const ALL_BUT_ONE: &str = "all but one of these ";
pub const ELSEWHERE: &str = " also elsewhere, ";
pub const GAPS: &str = "not fully seen, ";

/// Which folders of an entry can go, by the line that begins it.
pub fn entry_in(line: &[u8]) -> Option<CanGo> {
    let line = str::from_utf8(line).ok()?;
    if !line.ends_with(':') {
        None
    } else if line.starts_with(ALL_BUT_ONE) {
        Some(CanGo::AllButOne)
    } else if line.starts_with(GAPS) || line.contains(ELSEWHERE) {
        Some(CanGo::None)
    } else {
        line.contains(CAN_GO).then_some(CanGo::All)
    }
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
    let has_none = said.starts_with(IN_PARTS)
        || said.starts_with(NOT_SEEN)
        || said.split_once(ONLY_HERE)?.1.contains(ALSO_IN);
    has_none.then_some(None)
}
