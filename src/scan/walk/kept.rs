//! What walkers gathered in the folders that they have finished, for others to take: a walker may never return from the
//! next folder.

use std::sync::{Arc, Mutex};

use crossbeam_channel::Sender;

use crate::file::DirId;
use crate::heartbeat::Heartbeat;
use crate::lock::locked;
use crate::scan::found::{FoundBatch, ScanMessage};
use crate::scan::other_entry::OtherEntry;
use crate::tree::{EntryKind, Unseen};

use super::{Folder, Left, Walk, Walked};

/// The results of the folders that a walker has finished.
#[derive(Default)]
pub struct Kept {
    /// The results without the files.
    pub walked: Walked,
    /// Files that were not handed over yet.
    pub batch: FoundBatch,
    /// The walker has begun a folder. Its heartbeat says which.
    pub is_visiting: bool,
}

impl Kept {
    /// Takes the files that were not handed over yet.
    pub fn take_batch(&mut self) -> FoundBatch {
        std::mem::take(&mut self.batch)
    }
}

/// What the walk knows of a walker.
pub struct Known {
    pub heartbeat: Arc<Heartbeat>,
    pub kept: Arc<Mutex<Kept>>,
}

impl Known {
    pub fn is_silent(&self) -> bool {
        self.heartbeat.is_silent()
    }

    /// Takes the results of the folders that the walker has finished, and sends the files in its place.
    pub fn take(&self, to: &Sender<ScanMessage>) -> Walked {
        let mut kept = locked(&self.kept);
        let (walked, batch) = (std::mem::take(&mut kept.walked), kept.take_batch());
        drop(kept);
        if !batch.files.is_empty() {
            // Send fails only after the run ended.
            let _ = to.send(ScanMessage::Found(batch));
        }
        walked
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
        if folder.left != Left::New {
            // It was listed, or is known by another path.
            return total.listed.push(folder);
        }
        total.left_out.unanswered += 1;
        if self.tell_others {
            let device = self.dirs.read().identity(folder.dir).0;
            let unseen = match self.watchlist.is_silent(device) {
                true => Unseen::Unanswered,
                false => Unseen::OtherUnanswered,
            };
            let (name, kind) = (folder.name.as_deref(), EntryKind::Unseen(unseen));
            total.others.push(OtherEntry::new(folder.dir, name, kind));
        }
    }
}
