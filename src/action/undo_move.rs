//! Undoes a step that moved a file: moves it back, from the same file system or another one.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::action_kind::ActionKind;
use super::folder_entry::{NameInFolder, leads_to, parent};
use super::past::Fate;
use super::relocate;
use super::step::Unfit;
use super::trash_folder;
use super::undo_step::{Manner, Refusal, Scene, is_as, is_twice, said, unfollowed};
use super::undone::{Lack, Undone};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::stat::{self, Stat};
use crate::sys::{attributes, names, statfs, sync};

impl Scene<'_> {
    pub(super) fn undo_move(&self) -> Result<Undone, Refusal> {
        let Some(destination) = &self.intent.destination else {
            return Err("the journal does not say where it went".to_owned());
        };
        let shown = String::from_utf8_lossy(&destination.0).into_owned();
        let stays = format!("it stays at {shown}: move it back yourself");
        let there = match NameInFolder::of(&destination.0) {
            Ok(there) => Some(there),
            Err(Unfit::Gone) => None,
            Err(unfit) => return Err(format!("{shown} {unfit}")),
        };
        let here = self.here()?;
        let cleaned = self.clean_copies(here.as_ref(), there.as_ref())?;
        if let Some(aside) = self.at(&self.aside)? {
            // Killed while the original was being removed, the copy being complete.
            if !self.is_victim(Some(&aside)) {
                return Err(self.changed(&self.aside));
            }
            match (here, self.at(&self.aside)?) {
                (Some(here), Some(aside)) if is_twice(&here, &aside) => {
                    self.drop_aside()?;
                    return self.again(Undone::Cleaned);
                }
                (Some(_), _) => return Err(self.taken(&self.aside)),
                (None, _) => {}
            }
            self.rename_back(&self.aside)?;
            return self.again(Undone::Restored);
        }
        let moved = there.as_ref().and_then(|there| there.stat().ok());
        match (here, moved, &there) {
            // Killed between making a copy and removing what it is a copy of, in either direction.
            (Some(here), Some(moved), Some(there))
                if self.is_whole(&here)
                    && here.dev != moved.dev
                    && self.is_moved(&moved, there) =>
            {
                let is_original = self.has_owner_at(&self.place.folder, &self.place.name);
                if !is_original || !self.has_the_bytes(&here, &there.folder, &there.name) {
                    return Err(format!(
                        "another file now has its name; it stays at {shown}"
                    ));
                }
                self.may_come(&stays)?;
                self.change("put it back safely", || sync::folder(&self.place.folder))?;
                self.unlink(&there.folder, &there.name, "remove the copy")?;
                Ok(Undone::Restored)
            }
            (Some(here), _, _) if self.is_victim(Some(&here)) => {
                let dropped = self.drop_trash_info();
                Ok(match cleaned || dropped {
                    true => Undone::Cleaned,
                    false => Undone::AsBefore,
                })
            }
            // Copied back by an undo that was killed, or that could not say so any more.
            (Some(here), None, _) if self.is_whole(&here) => Ok(Undone::AsBefore),
            (Some(_), Some(_), _) => Err(format!(
                "another file now has its name; it stays at {shown}"
            )),
            (None, Some(moved), Some(there)) => {
                if self.intent.action == ActionKind::Trash {
                    let here = stat::descriptor(&self.place.folder);
                    let dev = here.map_err(said("examine its folder"))?.dev;
                    trash_folder::still_own(&there.folder, parent(&destination.0), dev)?;
                }
                if !self.is_moved(&moved, there) {
                    return Err(format!("{shown} has changed since"));
                }
                self.may_come(&stays)?;
                let lack = self.move_back(there, &destination.0, &moved)?;
                self.drop_trash_info();
                Ok(Undone::restored(lack))
            }
            _ => Err(format!("{shown} no longer exists")),
        }
    }

    /// The remaining work, when the original has its name again.
    fn again(&self, so_far: Undone) -> Result<Undone, Refusal> {
        match self.how.manner {
            Manner::Act => self.undo_move().map(|_| so_far),
            Manner::Look => Ok(so_far),
        }
    }

    fn move_back(&self, there: &NameInFolder, path: &[u8], moved: &Stat) -> Result<Lack, Refusal> {
        if self.how.manner == Manner::Look {
            return Ok(Lack::NOTHING);
        }
        let (folder, name) = (&self.place.folder, &self.place.name);
        current::ask_about(&self.intent.victim.0);
        match names::rename_no_replace(&there.folder, &there.name, folder, name) {
            // Only now is it out of reach of whoever can change names there.
            Ok(()) if self.is_here(moved) => {
                self.times_again();
                return Ok(Lack::NOTHING);
            }
            Ok(()) => {
                names::rename_no_replace(folder, name, &there.folder, &there.name)
                    .map_err(said("restore its name"))?;
                let shown = String::from_utf8_lossy(path);
                return Err(format!(
                    "another file just took its name; it stays at {shown}"
                ));
            }
            Err(Errno::XDEV) => {}
            Err(error) => return Err(said("move it back")(error)),
        }
        current::ask_about(path);
        let source = self
            .opened(path, &moved.into())
            .map_err(|unfit| format!("the copy {unfit}"))?;
        let lack = self.copy_here(&source)?;
        current::ask_about(path);
        let unchanged = source
            .still_there()
            .map_err(|unfit| format!("the copy {unfit}"));
        unchanged
            .and_then(|()| self.rename_back(&self.ours))
            .inspect_err(|_| self.drop_copy())?;
        // The copy goes only when the original is certain to be back.
        sync::folder(folder).map_err(said("put it back safely"))?;
        if leads_to(&there.folder, &there.name, source.identity()) {
            current::ask_about(path);
            self.unlink(&there.folder, &there.name, "remove the copy")?;
        }
        Ok(lack)
    }

    /// True if the victim's name leads to the moved file. A program may have given it another number (rclone).
    fn is_here(&self, moved: &Stat) -> bool {
        let NameInFolder { folder, name } = &self.place;
        let is_like = |now: Stat| {
            now.kind == FileType::RegularFile
                && (now.size, now.mtime_ns) == (moved.size, moved.mtime_ns)
        };
        let is_same = leads_to(folder, name, (moved.dev, moved.ino))
            || statfs::may_renumber(folder) && stat::fresh_entry(folder, name).is_ok_and(is_like);
        is_same && self.has_owner_at(folder, name)
    }

    /// True if the name leads to a file of the victim's owner, of this user or of root. Other users can create a file
    /// with the same length, times and inode number, and change its bytes later. Mounts without owners show any owner.
    fn has_owner_at(&self, folder: &OwnedFd, name: &CStr) -> bool {
        let is_known = |uid| uid == self.intent.metadata.uid || trust::is_ours_or_roots(uid);
        attributes::entry(folder, name).is_ok_and(|(_, now)| is_known(now.uid))
            || statfs::may_make_up_modes(folder)
    }

    /// Removes incomplete copies on both sides, if their originals still exist.
    fn clean_copies(
        &self,
        here: Option<&Stat>,
        there: Option<&NameInFolder>,
    ) -> Result<bool, Refusal> {
        let mut cleaned = false;
        if let Some(there) = there {
            let aside = self.at(&self.aside)?;
            let is_there = self.is_victim(here) || self.is_victim(aside.as_ref());
            let part = relocate::part(&self.aside);
            cleaned |= self.clean_copy(&there.folder, &part, is_there, here)?;
        }
        let is_there = there.is_some_and(|there| {
            let moved = there.stat().ok();
            moved.is_some_and(|moved| self.is_moved(&moved, there))
        });
        cleaned |= self.clean_copy(&self.place.folder, &self.ours, is_there, here)?;
        Ok(cleaned)
    }

    /// Removes a copy if its original exists, or if all its bytes are in the file itself: the copy may be the last one
    /// by now.
    fn clean_copy(
        &self,
        folder: &OwnedFd,
        name: &CStr,
        source_is_there: bool,
        here: Option<&Stat>,
    ) -> Result<bool, Refusal> {
        match stat::fresh_entry(folder, name) {
            Err(Errno::NOENT) => return Ok(false),
            looked => looked.map_err(said("look for leftovers"))?,
        };
        if !source_is_there && !here.is_some_and(|here| self.has_the_bytes(here, folder, name)) {
            let name = name.to_string_lossy();
            return Err(format!(
                "its source has changed since; the copy stays as {name}"
            ));
        }
        self.unlink(folder, name, "clear up")?;
        Ok(true)
    }

    /// True if this is the file that the step moved, by its times or by its bytes. No file had that name before.
    fn is_moved(&self, moved: &Stat, there: &NameInFolder) -> bool {
        let by_times = match self.fate {
            Fate::Done(Some(now)) => is_as(moved, &now),
            _ => self.is_whole(moved),
        };
        // A copy on another file system may belong to another user. What is copied back gets only proven rights.
        let folder = stat::descriptor(&self.place.folder);
        let is_copy = folder.is_ok_and(|folder| folder.dev != moved.dev);
        let is_same = by_times && (is_copy || self.has_owner_at(&there.folder, &there.name));
        is_same || self.is_moved_by_bytes(moved, there)
    }

    fn is_moved_by_bytes(&self, moved: &Stat, there: &NameInFolder) -> bool {
        moved.kind == FileType::RegularFile
            && moved.size == self.intent.victim_state.size
            && self.digest.is_some()
            && unfollowed(&there.folder, &there.name)
                .is_ok_and(|file| self.is_as_before(&file) && self.is_proven(&file))
    }

    /// True if the file is as before. Another file with these bytes may belong to another user, who would then own the
    /// victim's name.
    fn is_as_before(&self, file: &OwnedFd) -> bool {
        let was = &self.intent.metadata;
        attributes::get(file).is_ok_and(|now| {
            (now.uid, now.gid, now.mode & 0o7777) == (was.uid, was.gid, was.mode & 0o7777)
        })
    }

    /// Removes the trash's note about the file; true if there was one.
    fn drop_trash_info(&self) -> bool {
        let info = self.intent.trash_info.as_ref();
        let place = info.and_then(|info| NameInFolder::of(&info.0).ok());
        let Some(place) = place.filter(|place| place.stat().is_ok()) else {
            return false;
        };
        // A note without its file is passed over by every desktop.
        let dropped = self.unlink(&place.folder, &place.name, "remove the .trashinfo file");
        dropped.is_ok()
    }
}
