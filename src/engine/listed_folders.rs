//! Checks the listed folders once more after all reads, to detect changes.
//!
//! An entry that came into a folder after it was listed was not seen, and a symbolic link may have another target by
//! now. Both changes also change the folder's times. If no folder and no file changed before this second check, all
//! results hold for one moment: the end of the reads.

use rustix::io::Result;

use crate::event::{Problem, ProblemKind};
use crate::file::DirId;
use crate::heartbeat::current;
use crate::scan::{Stamp, is_same_place, path_of};
use crate::sys::stat;
use crate::tree::{Scope, Unseen};

use super::session::Session;

impl Session<'_> {
    /// Checks every listed folder, and records those that have changed since. Of file systems that the run gave up on,
    /// none is checked.
    pub fn check_folders(&mut self, scope: Scope) {
        // An open folder stays open when it is moved away: only its path says where it is.
        self.handles.close_all();
        for (dir, stamp) in std::mem::take(&mut self.listed) {
            if self.control.is_cancelled() {
                return;
            }
            if self.is_silent(dir) {
                // The answer of a comparison stays open anyway.
                if scope == Scope::AllFiles {
                    self.account.unseen(dir, b"", Unseen::Unanswered);
                }
                continue;
            }
            let cause = match self.holds_still(dir, stamp) {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => Some(error.into()),
            };
            self.left_out.unsettled += 1;
            self.account.unseen(dir, b"", Unseen::Changed);
            self.observer.problem(Problem {
                path: path_of(&self.dirs, dir, None),
                kind: ProblemKind::ChangedFolder,
                cause,
            });
        }
    }

    /// True if a folder has the same times as when it was listed, and its path still leads to it.
    fn holds_still(&mut self, dir: DirId, stamp: Stamp) -> Result<bool> {
        let _call = current::call(&path_of(&self.dirs, dir, None));
        let folder = self.handles.get_alone(dir, &self.dirs)?;
        let now = stat::fresh_descriptor(folder)?;
        let listed = self.dirs.read().id(dir);
        Ok(is_same_place(listed, &now, folder) && stamp.still_holds(&now))
    }
}
