//! Undoes a step that replaced a file with a link.

use std::ffi::CStr;

use rustix::fs::FileType;

use super::metadata;
use super::undo_copy::other_bytes;
use super::undo_step::{Manner, Refusal, Scene, is_as, said, unfollowed};
use super::undone::Undone;
use crate::sys::names;
use crate::sys::stat::Stat;

impl Scene<'_> {
    pub(super) fn undo_link(&self) -> Result<Undone, Refusal> {
        let cleaned = self.clean_links()?;
        let here = self.here()?;
        let aside = self.at(&self.aside)?;
        if self.is_victim(aside.as_ref()) {
            return self.take_back(here.as_ref());
        }
        if aside.is_some() {
            return Err(self.changed(&self.aside));
        }
        let Some(here) = here else {
            return Err("no longer exists".to_owned());
        };
        if self.is_link(&self.place.name, Some(&here)) {
            return self.make_independent(&here);
        }
        match self.is_whole(&here) && self.is_victim_or_copy(&here) {
            true if cleaned => Ok(Undone::Cleaned),
            true => Ok(Undone::AsBefore),
            false => Err("has changed since".to_owned()),
        }
    }

    /// True if a file with the length and the time of the victim is the victim, or has its bytes. Without a digest, only
    /// the number of the victim could tell, and a copy that an earlier undo made has another one.
    fn is_victim_or_copy(&self, here: &Stat) -> bool {
        let has_bytes = || {
            let file = unfollowed(&self.place.folder, &self.place.name);
            file.is_ok_and(|file| self.is_proven(&file))
        };
        self.is_victim(Some(here)) || self.digest.is_none() || has_bytes()
    }

    /// True if the bytes of a link remain when it is removed: other files have them, or they are the bytes that the
    /// file had, or that were just copied.
    fn is_spare(&self, link: &Stat, copied: Option<&Stat>) -> bool {
        let is_unchanged = || {
            let is_copied = copied.is_some_and(|copied| is_as(link, &copied.into()));
            is_copied || is_as(link, &self.intent.keeper_state)
        };
        link.kind == FileType::Symlink || link.links > 1 || is_unchanged()
    }

    /// Removes leftover links and copies beside the file, if they have no use any more.
    fn clean_links(&self) -> Result<bool, Refusal> {
        let mut cleaned = false;
        let here = self.here()?;
        let here_is_link = self.is_link(&self.place.name, here.as_ref())
            && here.is_some_and(|here| self.is_spare(&here, None));
        for name in [&self.aside, &self.ours] {
            let Some(left) = self.at(name)? else { continue };
            let is_link = self.is_link(name, Some(&left));
            // A hard link without another name would take the bytes along.
            let spare_link = is_link && (left.kind == FileType::Symlink || left.links > 1);
            let half_a_copy = name == &self.ours && here_is_link && !is_link;
            if spare_link || half_a_copy {
                self.unlink(&self.place.folder, name, "clear up")?;
                cleaned = true;
            }
        }
        Ok(cleaned)
    }

    /// Moves the victim back. It lies beside its name: the run was killed before it could remove the victim.
    fn take_back(&self, here: Option<&Stat>) -> Result<Undone, Refusal> {
        let Some(here) = here else {
            self.rename_back(&self.aside)?;
            return Ok(Undone::Restored);
        };
        if !self.is_link(&self.place.name, Some(here)) || !self.is_spare(here, None) {
            return Err(self.taken(&self.aside));
        }
        self.exchange(&self.aside, None)?;
        Ok(Undone::Restored)
    }

    /// Moves a file with a name beside the link into the link's place, and removes the link.
    ///
    /// `copied` is the source of the file, if the file is a copy.
    fn exchange(&self, beside: &CStr, copied: Option<&Stat>) -> Result<(), Refusal> {
        if self.how.manner == Manner::Look {
            return Ok(());
        }
        let (folder, name) = (&self.place.folder, &self.place.name);
        let exchanged = names::exchange(folder, beside, name);
        if exchanged.map_err(said("put it back"))?.is_none() {
            names::rename(folder, beside, name).map_err(said("put it back"))?;
            self.times_again();
            return Ok(());
        }
        let replaced = self.at(beside)?;
        let is_spare = replaced.is_some_and(|replaced| self.is_spare(&replaced, copied));
        if !self.is_link(beside, replaced.as_ref()) || !is_spare {
            names::exchange(folder, beside, name).map_err(said("put it back"))?;
            return Err("was replaced a moment ago".to_owned());
        }
        self.unlink(folder, beside, "remove the link")
    }

    /// Makes a copy with the victim's metadata and replaces the link with it.
    fn make_independent(&self, here: &Stat) -> Result<Undone, Refusal> {
        self.may_come("the link stays: replace it with a copy of the kept file yourself")?;
        let path = match self.intent.link_text {
            Some(_) => &self.intent.keeper.0,
            None => &self.intent.victim.0,
        };
        let kept = "the file that was kept";
        let unfit = |unfit| format!("{kept} {unfit}");
        // A hard link has the kept file's number, whatever that is now.
        let mut was = self.intent.keeper_state;
        if self.intent.link_text.is_none() {
            was.ino = here.ino;
        }
        let was = &was;
        // With a digest the bytes are proven whatever the times say, and only by that.
        let source = match self.digest {
            Some(_) => self.opened_by_size(path, was.size),
            None => self.opened(path, was),
        };
        let source = source.map_err(unfit)?;
        if self.how.manner == Manner::Look {
            let is_proven = is_as(&source.stat, was) || self.is_proven(&source.file);
            return match is_proven {
                true => Ok(self.foretold(&source)),
                false => Err(other_bytes(kept)),
            };
        }
        let lack = self.copy_here(&source)?;
        let unchanged = match self.digest {
            Some(_) => Ok(()),
            None => source.unchanged().map_err(unfit),
        };
        unchanged
            .and_then(|()| self.exchange(&self.ours, Some(&source.stat)))
            .inspect_err(|_| self.drop_copy())?;
        // A program may have given the link that is open here another name before it removed it.
        metadata::truncated_time_again(&source);
        Ok(Undone::restored(lack))
    }
}
