//! Entries that are neither files nor listed folders, and the reasons why some were skipped.

use std::ffi::CStr;

use crate::event::ProblemKind;
use crate::file::DirId;
use crate::tree::{EntryKind, Unseen};

/// An entry that no other message reports.
#[derive(Debug)]
pub struct OtherEntry {
    /// The folder that it lies in.
    pub dir: DirId,
    /// Its name; empty if the folder itself is meant.
    pub name: Box<[u8]>,
    /// Its metadata.
    pub kind: EntryKind,
}

impl OtherEntry {
    /// An entry of a folder, or the folder itself.
    pub fn new(dir: DirId, name: Option<&CStr>, kind: EntryKind) -> Self {
        let name = name.map_or(&b""[..], CStr::to_bytes);
        Self {
            dir,
            name: name.into(),
            kind,
        }
    }
}

/// The reason that a problem gives for an unseen entry; `None` if the problem hid no entry.
pub fn unseen_by_problem(kind: ProblemKind) -> Option<Unseen> {
    match kind {
        ProblemKind::MissingRoot | ProblemKind::UnsuitableRoot | ProblemKind::LinkRoot => {
            Some(Unseen::NoRoot)
        }
        ProblemKind::UnreadableRoot
        | ProblemKind::UnreadableFolder
        | ProblemKind::UnreadableMetadata
        | ProblemKind::UnreadableFile => Some(Unseen::Unreadable),
        ProblemKind::Vanished => Some(Unseen::Vanished),
        ProblemKind::ReplacedRoot
        | ProblemKind::Changed
        | ProblemKind::ChangedFolder
        | ProblemKind::NotVerified => Some(Unseen::Changed),
        ProblemKind::TooDeep | ProblemKind::TooManyAlike | ProblemKind::TooManyNames => {
            Some(Unseen::TooMany)
        }
        ProblemKind::MemoryShort => Some(Unseen::MemoryShort),
        ProblemKind::Unanswered => Some(Unseen::Unanswered),
        ProblemKind::BadIgnoreFile
        | ProblemKind::UnusableIgnoreFile
        | ProblemKind::LinkLoop
        | ProblemKind::BrokenLink
        | ProblemKind::UnusableCache
        | ProblemKind::NotCached
        | ProblemKind::NotAnswering => None,
    }
}
