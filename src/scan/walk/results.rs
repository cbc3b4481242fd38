//! What walkers gathered in the folders and roots that they have finished, for others to take: a thread may never
//! return from the next one.

use std::sync::{Arc, Mutex};

use crossbeam_channel::Sender;

use crate::event::LeftOut;
use crate::file::DirId;
use crate::heartbeat::Heartbeat;
use crate::lock::locked;
use crate::scan::enter::Stamp;
use crate::scan::found::{FoundBatch, LinkedFile, OtherEntry, Outbox, ScanMessage};
use crate::tree::Unseen;

use super::Folder;

/// The results of a walker without the files.
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
    /// Adds other results.
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

/// The results of the jobs that a walker has finished.
#[derive(Default)]
pub struct Kept {
    walked: Walked,
    /// Files that were not handed over yet.
    pub batch: FoundBatch,
    /// The walker has begun a folder. Its heartbeat says which.
    pub is_visiting: bool,
}

/// Puts the results of a job where others can take them. No call to a file system is made meanwhile.
pub fn keep(kept: &Mutex<Kept>, walked: &mut Walked, outbox: &mut Outbox) {
    let mut kept = locked(kept);
    kept.is_visiting = false;
    kept.walked.add(std::mem::take(walked));
    let full = outbox.move_to(&mut kept.batch);
    drop(kept);
    outbox.hand_over(full);
}

/// Sends the files that were kept.
pub fn hand_over(kept: &Mutex<Kept>, outbox: &Outbox) {
    let batch = std::mem::take(&mut locked(kept).batch);
    outbox.hand_over(batch);
}

/// What a scan knows of one of its walkers.
pub struct WalkerRecord {
    pub heartbeat: Arc<Heartbeat>,
    pub kept: Arc<Mutex<Kept>>,
}

impl WalkerRecord {
    /// Takes the results of what the walker has finished, and sends the files in its place.
    pub fn take(&self, to: &Sender<ScanMessage>) -> Walked {
        hand_over(&self.kept, &Outbox::new(to));
        std::mem::take(&mut locked(&self.kept).walked)
    }
}
