//! What threads gathered in the folders and roots that they have finished, for others to take: a thread may never return
//! from the next one.

use std::sync::{Arc, Mutex};

use crossbeam_channel::Sender;

use crate::file::DirId;
use crate::heartbeat::Heartbeat;
use crate::lock::locked;
use crate::scan::found::{FoundBatch, Outbox, ScanMessage};
use crate::scan::other_entry::OtherEntry;
use crate::tree::{EntryKind, Unseen};

use super::{Folder, Walk, Walked};

/// The results of the folders that a walker has finished, or of the roots that were checked.
#[derive(Default)]
pub struct Kept {
    /// The results without the files.
    pub walked: Walked,
    /// Files that were not handed over yet.
    pub batch: FoundBatch,
    /// The walker has begun a folder. Its heartbeat says which.
    pub is_visiting: bool,
}

/// Puts the results of a folder, or of a root, where others can take them. No call to a file system is made meanwhile.
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

/// What a scan knows of one of its threads.
pub struct Known {
    pub heartbeat: Arc<Heartbeat>,
    pub kept: Arc<Mutex<Kept>>,
}

impl Known {
    pub fn is_silent(&self) -> bool {
        self.heartbeat.is_silent()
    }

    /// Takes the results of what the thread has finished, and sends the files in its place.
    pub fn take(&self, to: &Sender<ScanMessage>) -> Walked {
        hand_over(&self.kept, &Outbox::new(to));
        std::mem::take(&mut locked(&self.kept).walked)
    }
}

impl Walk {
    /// Records the folder that a walker began and did not finish.
    pub(super) fn leave_begun(&self, heartbeat: &Heartbeat, total: &mut Walked) {
        if self.tell_others {
            total.others.push(OtherEntry {
                dir: DirId(heartbeat.at()),
                name: heartbeat.name().as_slice().into(),
                kind: EntryKind::Unseen(Unseen::Unanswered),
            });
        }
    }

    /// Records folders that waited for a walker when the run gave up.
    pub(super) fn leave(&self, folders: Vec<Folder>, total: &mut Walked) {
        folders
            .into_iter()
            .for_each(|folder| self.leave_one(folder, total));
    }

    fn leave_one(&self, folder: Folder, total: &mut Walked) {
        total.left_out.unanswered += 1;
        if self.tell_others {
            let device = self.dirs.read().identity(folder.dir).0;
            let unseen = if self.watchlist.is_silent(device) {
                Unseen::Unanswered
            } else {
                Unseen::OtherUnanswered
            };
            let (name, kind) = (folder.name.as_deref(), EntryKind::Unseen(unseen));
            total.others.push(OtherEntry::new(folder.dir, name, kind));
        }
    }
}
