//! Hands over what a walker has found.

use crate::lock::locked;

use super::walker::Walker;

impl Walker {
    /// Puts the results of a folder where others can take them. No call to a file system is made meanwhile.
    pub(super) fn keep(&mut self) {
        let mut kept = locked(&self.kept);
        kept.is_visiting = false;
        kept.walked.add(std::mem::take(&mut self.walked));
        let full = self.outbox.move_to(&mut kept.batch);
        drop(kept);
        self.outbox.hand_over(full);
    }

    /// Sends the files of the folders that were listed.
    pub(super) fn hand_over(&self) {
        let batch = locked(&self.kept).take_batch();
        self.outbox.hand_over(batch);
    }
}
