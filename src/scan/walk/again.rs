//! Checks folders a second time, after the walk listed them or passed them over.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::event::ProblemKind;
use crate::file::{FolderId, FolderPlace};
use crate::heartbeat::current;
use crate::scan::enter::{Entered, enter, is_same_place};
use crate::scan::stamp::Stamp;
use crate::sys::stat;

use super::walker::Walker;
use super::{Folder, Left, ReachedBy, Round};

impl Walker {
    /// Lists a folder again if it has changed since.
    pub(super) fn look_again(&mut self, folder: Folder, stamp: Stamp) {
        let dir = folder.dir;
        if self.round == Round::Again {
            current::resting(|| stamp.wait_until_told_apart());
        }
        let now = self.open_again(dir);
        let now = now.and_then(|fd| Ok((stat::descriptor(&fd)?, fd)));
        let (stat, fd) = match now {
            Ok(both) => both,
            // It was moved or removed, and that changed the folder above.
            Err(Errno::NOENT | Errno::NOTDIR) => return,
            Err(error) => return self.unreadable_dir(dir, error),
        };
        let is_this = is_same_place(self.walk.dirs.read().id(dir), &stat, &fd);
        if is_this && stamp.still_holds(&stat) {
            return self.walked.listed.push(folder);
        }
        if self.round == Round::Last {
            self.walked.left_out.unsettled += 1;
            return self.tell(dir, None, ProblemKind::Unsettled, None);
        }
        self.walked.changed.push(dir);
        let dir = match is_this {
            true => dir,
            // Something was mounted there or unmounted, which no folder's times tell.
            false => match enter(
                &self.walk.dirs,
                FolderPlace::InPlaceOf(dir),
                &stat,
                fd.as_fd(),
            ) {
                Entered::New(dir) => dir,
                Entered::Before(_) => return,
                Entered::OneOfTooMany => return self.too_many_alike(dir, None),
            },
        };
        // What is left out was counted when the folder was listed for the first time.
        let before = self.walked.left_out;
        self.list_and_note(dir, fd, &stat, folder);
        self.walked.left_out = before;
    }

    /// Checks whether a folder that was passed over is still the same one.
    pub(super) fn pass_again(&mut self, folder: Folder, id: FolderId) {
        let Some(name) = &folder.name else { return };
        let here = self.with_folder(folder.dir, |above| match folder.reached_by {
            ReachedBy::Entry => stat::entry(above, name),
            ReachedBy::Link | ReachedBy::LinkToFolder => stat::target(above, name),
        });
        if here.is_ok_and(|here| FolderId::from(&here) == id) {
            return self.walked.listed.push(folder);
        }
        if self.round == Round::Last {
            self.walked.left_out.unsettled += 1;
            return self.tell(folder.dir, Some(name), ProblemKind::Unsettled, None);
        }
        self.walked.changed.push(folder.dir);
        self.visit(Folder {
            left: Left::New,
            reached_by: match folder.reached_by {
                ReachedBy::Entry => ReachedBy::Entry,
                // It may lead to a file by now.
                ReachedBy::Link | ReachedBy::LinkToFolder => ReachedBy::Link,
            },
            ..folder
        });
    }
}
