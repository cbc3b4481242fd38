//! Verdicts about folders.

use super::count::{Percent, Places};
use super::overlap::Overlap;
use super::parts::Parts;
use super::tree::Folder;

/// A verdict about a folder. "Elsewhere" is always outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Other folders have the same names, structure, contents and targets of symbolic links. `with` is the first of
    /// them.
    Identical { with: Folder, count: Places },
    /// Another folder has the same contents, each as many times, in another layout or under other names.
    SameContents { with: Folder, count: Places },
    /// Another folder holds a copy of everything. `inside` is the smallest of them.
    Contained { inside: Folder, count: Places },
    /// Everything is found elsewhere, but not in one folder that stays, with the sidecars beside their photos.
    InParts(Parts),
    /// Enough of it is also in another folder, and something is nowhere else.
    Overlaps(Overlap),
    /// Everything that was seen is also elsewhere, but something was not seen. So nothing is said about the whole.
    NotFullySeen,
}

/// A folder of which something can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The folder.
    pub folder: Folder,
    /// The verdict.
    pub verdict: Verdict,
}

/// The requested verdicts.
pub struct Question<'a> {
    /// Folders of fewer bytes are passed over, with all below them.
    pub min_bytes: u64,
    /// How much of a folder has to be in another one.
    pub min_overlap: Percent,
    /// Which folders may get a line.
    pub wanted: &'a dyn Fn(Folder) -> bool,
}
