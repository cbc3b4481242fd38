//! The result of a walk, and of a check of roots.

use crate::event::LeftOut;
use crate::file::DirId;
use crate::scan::linked::LinkedFile;
use crate::scan::other_entry::OtherEntry;
use crate::scan::stamp::Stamp;
use crate::tree::Unseen;

use super::Folder;

/// The result of a walk, and of a check of roots.
#[derive(Default)]
pub struct Walked {
    /// Folders listed.
    pub folders: u64,
    /// Counts of skipped files.
    pub left_out: LeftOut,
    /// Folders that were listed, with their times before that, if these are requested.
    pub listed: Vec<(DirId, Stamp)>,
    /// Entries that no other message reports, if they are requested.
    pub others: Vec<OtherEntry>,
    /// Folders among the roots that were checked: they are to be walked.
    pub roots: Vec<Folder>,
    /// Device numbers of good roots, one root for each.
    pub devices: Vec<(u64, usize)>,
    /// Files named through links. They come last: a file's own names have priority.
    pub linked: Vec<LinkedFile>,
    /// Roots that are skipped, and why.
    pub unseen: Vec<(u32, Unseen)>,
}

impl Walked {
    /// Adds the results of another walker.
    pub fn add(&mut self, mut other: Self) {
        self.folders += other.folders;
        self.left_out.add(&other.left_out);
        self.listed.append(&mut other.listed);
        self.others.append(&mut other.others);
        self.roots.append(&mut other.roots);
        self.devices.append(&mut other.devices);
        self.linked.append(&mut other.linked);
        self.unseen.append(&mut other.unseen);
    }
}
