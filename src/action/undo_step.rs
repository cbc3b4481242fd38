//! Undoes one step. What happened is read from the files; the journal says what to look for.
//!
//! Device numbers are not compared with the journal's: they change when a disk is plugged in again.
//! Inode number, length and time of modification at a known path are enough to know a file by.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::check::{Bound, Opened, Ours};
use super::folder_entry::{Place, leads_to};
use super::journal::{Fate, PastStep};
use super::record::{Intent, State};
use super::step::{ActionKind, Expected, Target, Unfit};
use super::undo::Undone;
use super::{compare, copy, metadata, relocate, swap};
use crate::sys::open::{self, Manner};
use crate::sys::stat::Stat;
use crate::sys::{rename, stat, sync, unlink, write};

/// Why a step cannot be undone.
type Refusal = String;

/// Undoes a step of this run; also hands over the folder whose names it may have changed.
pub fn undo(run: &str, step: &PastStep) -> (Undone, Option<OwnedFd>) {
    let scene = match Scene::look(run, step) {
        Ok(scene) => scene,
        Err(why) => return (Undone::Refused(why), None),
    };
    let undone = match step.intent.action {
        ActionKind::Remove => scene.undo_remove(),
        ActionKind::Hardlink | ActionKind::Symlink => scene.undo_link(),
        // It is a file of its own already; what blocks it shares nobody can tell.
        ActionKind::Reflink => Ok(Undone::AsBefore),
        ActionKind::Move | ActionKind::Trash => scene.undo_move(),
    };
    let undone = undone.unwrap_or_else(Undone::Refused);
    (undone, Some(scene.place.folder))
}

/// Where a step happened, as it is now.
struct Scene<'a> {
    intent: &'a Intent,
    fate: Fate,
    place: Place,
    /// What the run used on the way.
    aside: CString,
    /// What an undo uses on the way.
    ours: CString,
}

impl<'a> Scene<'a> {
    fn look(run: &str, step: &'a PastStep) -> Result<Self, Refusal> {
        let place = Place::of(&step.intent.victim.0).map_err(|unfit| match unfit {
            Unfit::Gone => "its folder is gone".to_owned(),
            unfit => unfit.to_string(),
        })?;
        let aside = step.intent.temporary.as_str();
        if !aside.starts_with(".seekless-") || aside.contains('/') {
            return Err("the journal names no temporary file of ours".to_owned());
        }
        Ok(Self {
            intent: &step.intent,
            fate: step.fate,
            place,
            aside: CString::new(aside).map_err(|error| error.to_string())?,
            ours: swap::temporary(run, step.intent.step, "undo"),
        })
    }

    fn at(&self, name: &CStr) -> Result<Option<Stat>, Refusal> {
        match stat::entry(&self.place.folder, name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(said("look at it")(error)),
        }
    }

    fn here(&self) -> Result<Option<Stat>, Refusal> {
        self.at(&self.place.name)
    }

    /// True if this is the victim itself, as it was.
    fn is_victim(&self, stat: Option<&Stat>) -> bool {
        stat.is_some_and(|stat| is_as(stat, &self.intent.victim_state))
    }

    /// True if a name has what the step put in the victim's place.
    fn is_link(&self, name: &CStr, stat: Option<&Stat>) -> bool {
        let Some(stat) = stat else { return false };
        match (&self.intent.link_text, stat.kind) {
            (Some(text), FileType::Symlink) => {
                swap::link_text(&self.place.folder, name).as_ref() == Some(&text.0)
            }
            (None, FileType::RegularFile) => {
                stat.ino == self.intent.keeper_state.ino && stat.ino != self.intent.victim_state.ino
            }
            _ => false,
        }
    }

    fn undo_remove(&self) -> Result<Undone, Refusal> {
        match (self.here()?, self.at(&self.aside)?) {
            (here, None) if self.is_victim(here.as_ref()) => Ok(Undone::AsBefore),
            (_, None) => Ok(Undone::Impossible),
            (None, Some(aside)) if self.is_whole(&aside) => {
                self.rename_back(&self.aside)?;
                Ok(Undone::Restored)
            }
            (Some(here), Some(aside)) if is_twice(&here, &aside) => self.drop_aside(),
            (Some(_), Some(_)) => Err(self.taken(&self.aside)),
            (None, Some(_)) => Err(self.changed(&self.aside)),
        }
    }

    /// The victim, or the copy of it that was made because the keeper vanished: its times come last.
    fn is_whole(&self, stat: &Stat) -> bool {
        let was = &self.intent.victim_state;
        stat.kind == FileType::RegularFile && (stat.size, stat.mtime_ns) == (was.size, was.mtime_ns)
    }

    fn undo_link(&self) -> Result<Undone, Refusal> {
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
            return Err("is gone since".to_owned());
        };
        if self.is_link(&self.place.name, Some(&here)) {
            return self.make_independent();
        }
        match self.is_whole(&here) {
            true if cleaned => Ok(Undone::Cleaned),
            true => Ok(Undone::AsBefore),
            false => Err("has changed since".to_owned()),
        }
    }

    /// True if a link's bytes remain when it goes: others have them, or they are what the file had.
    fn is_spare(&self, link: &Stat) -> bool {
        let is_unchanged = || is_as(link, &self.intent.keeper_state);
        link.kind == FileType::Symlink || link.links > 1 || is_unchanged()
    }

    /// Removes links and copies that were left beside the file, if they are of no use any more.
    fn clean_links(&self) -> Result<bool, Refusal> {
        let mut cleaned = false;
        let here = self.here()?;
        let here_is_link = self.is_link(&self.place.name, here.as_ref())
            && here.is_some_and(|here| self.is_spare(&here));
        for name in [&self.aside, &self.ours] {
            let Some(left) = self.at(name)? else { continue };
            let is_link = self.is_link(name, Some(&left));
            // A hard link without another name would take the bytes along.
            let spare_link = is_link && (left.kind == FileType::Symlink || left.links > 1);
            let half_a_copy = name == &self.ours && here_is_link && !is_link;
            if spare_link || half_a_copy {
                unlink::file(&self.place.folder, name).map_err(said("clear up"))?;
                cleaned = true;
            }
        }
        Ok(cleaned)
    }

    /// The victim lies beside its name: the run was killed before it could remove it.
    fn take_back(&self, here: Option<&Stat>) -> Result<Undone, Refusal> {
        let Some(here) = here else {
            self.rename_back(&self.aside)?;
            return Ok(Undone::Restored);
        };
        if !self.is_link(&self.place.name, Some(here)) || !self.is_spare(here) {
            return Err(self.taken(&self.aside));
        }
        self.exchange(&self.aside)?;
        Ok(Undone::Restored)
    }

    /// Puts what has a name beside the file into its place, and removes the link that was there.
    fn exchange(&self, beside: &CStr) -> Result<(), Refusal> {
        let (folder, name) = (&self.place.folder, &self.place.name);
        let exchanged = rename::exchange(folder, beside, name);
        if exchanged.map_err(said("put it back"))?.is_none() {
            return rename::replace(folder, beside, name).map_err(said("put it back"));
        }
        let replaced = self.at(beside)?;
        let is_spare = replaced.is_some_and(|replaced| self.is_spare(&replaced));
        if !self.is_link(beside, replaced.as_ref()) || !is_spare {
            rename::exchange(folder, beside, name).map_err(said("put it back"))?;
            return Err("was replaced a moment ago".to_owned());
        }
        unlink::file(folder, beside).map_err(said("remove the link"))
    }

    /// Makes a copy with the victim's metadata and puts it in the link's place.
    fn make_independent(&self) -> Result<Undone, Refusal> {
        let path = match self.intent.link_text {
            Some(_) => &self.intent.keeper.0,
            None => &self.intent.victim.0,
        };
        let source = opened(path, &self.intent.keeper_state)
            .map_err(|unfit| format!("the file that was kept {unfit}"))?;
        self.copy_here(&source)?;
        source
            .unchanged()
            .map_err(|unfit| format!("the file that was kept {unfit}"))
            .and_then(|()| self.exchange(&self.ours))
            .inspect_err(|_| self.drop_copy())?;
        Ok(Undone::Restored)
    }

    /// Makes a copy beside the file's name, with all that the journal knows of it, safe on the disk.
    fn copy_here(&self, source: &Opened) -> Result<(), Refusal> {
        let file = write::create(&self.place.folder, &self.ours).map_err(said("make a copy"))?;
        let filled = copy::contents(&source.file, &source.stat, &file).and_then(|()| {
            // Owner or attributes that only an administrator may set are not worth losing the copy for.
            let _missing = metadata::give(&file, &self.intent.metadata);
            sync::file(&file)
        });
        filled
            .map_err(said("make a copy"))
            .inspect_err(|_| self.drop_copy())
    }

    fn drop_copy(&self) {
        // What remains is cleared up when undo is called again.
        let here_is_ours = self
            .at(&self.ours)
            .is_ok_and(|left| left.is_some_and(|left| left.kind == FileType::RegularFile));
        let is_link = self
            .at(&self.ours)
            .is_ok_and(|left| self.is_link(&self.ours, left.as_ref()));
        if here_is_ours && !is_link {
            let _ = unlink::file(&self.place.folder, &self.ours);
        }
    }

    fn undo_move(&self) -> Result<Undone, Refusal> {
        let Some(destination) = &self.intent.destination else {
            return Err("the journal does not say where it went".to_owned());
        };
        let shown = String::from_utf8_lossy(&destination.0).into_owned();
        let there = match Place::of(&destination.0) {
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
                    return self.undo_move().map(|_| Undone::Cleaned);
                }
                (Some(_), _) => return Err(self.taken(&self.aside)),
                (None, _) => {}
            }
            self.rename_back(&self.aside)?;
            return self.undo_move().map(|_| Undone::Restored);
        }
        let moved = there.as_ref().and_then(|there| there.stat().ok());
        match (here, moved, &there) {
            // Killed between making a copy and removing what it is a copy of, in either direction.
            (Some(here), Some(moved), Some(there))
                if self.is_whole(&here) && here.dev != moved.dev && self.is_moved(&moved) =>
            {
                if !self.has_the_bytes(&here, &there.folder, &there.name) {
                    return Err(format!(
                        "another file has its name now; it stays at {shown}"
                    ));
                }
                sync::folder(&self.place.folder).map_err(said("put it back safely"))?;
                unlink::file(&there.folder, &there.name).map_err(said("remove the copy"))?;
                Ok(Undone::Restored)
            }
            (Some(here), _, _) if self.is_victim(Some(&here)) => {
                self.drop_trash_info();
                Ok(match cleaned {
                    true => Undone::Cleaned,
                    false => Undone::AsBefore,
                })
            }
            // Copied back by an undo that was killed, or that could not say so any more.
            (Some(here), None, _) if self.is_whole(&here) => Ok(Undone::AsBefore),
            (Some(_), Some(_), _) => Err(format!(
                "another file has its name now; it stays at {shown}"
            )),
            (None, Some(moved), Some(there)) => {
                if !self.is_moved(&moved) {
                    return Err(format!("{shown} has changed since"));
                }
                self.move_back(there, &destination.0, &moved)?;
                self.drop_trash_info();
                Ok(Undone::Restored)
            }
            _ => Err(format!("{shown} is gone")),
        }
    }

    fn move_back(&self, there: &Place, path: &[u8], moved: &Stat) -> Result<(), Refusal> {
        let (folder, name) = (&self.place.folder, &self.place.name);
        match rename::no_replace(&there.folder, &there.name, folder, name) {
            Ok(()) => return Ok(()),
            Err(Errno::XDEV) => {}
            Err(error) => return Err(said("move it back")(error)),
        }
        let source = opened(path, &moved.into()).map_err(|unfit| format!("the copy {unfit}"))?;
        self.copy_here(&source)?;
        let unchanged = source
            .still_there()
            .map_err(|unfit| format!("the copy {unfit}"));
        unchanged
            .and_then(|()| self.rename_back(&self.ours))
            .inspect_err(|_| self.drop_copy())?;
        // The copy goes only when the original is certain to be back.
        sync::folder(folder).map_err(said("put it back safely"))?;
        if leads_to(&there.folder, &there.name, source.identity()) {
            unlink::file(&there.folder, &there.name).map_err(said("remove the copy"))?;
        }
        Ok(())
    }

    /// Removes half-made copies on both sides, where what they are copies of is still there.
    fn clean_copies(&self, here: Option<&Stat>, there: Option<&Place>) -> Result<bool, Refusal> {
        let mut cleaned = false;
        if let Some(there) = there {
            let aside = self.at(&self.aside)?;
            let is_there = self.is_victim(here) || self.is_victim(aside.as_ref());
            let part = relocate::part(&self.aside);
            cleaned |= self.clean_copy(&there.folder, &part, is_there, here)?;
        }
        let moved = there.and_then(|there| there.stat().ok());
        let is_there = moved.is_some_and(|moved| self.is_moved(&moved));
        cleaned |= self.clean_copy(&self.place.folder, &self.ours, is_there, here)?;
        Ok(cleaned)
    }

    /// Removes a copy if what it was made of is there, or if all its bytes are in the file itself: it may be
    /// the last one by now.
    fn clean_copy(
        &self,
        folder: &OwnedFd,
        name: &CStr,
        source_is_there: bool,
        here: Option<&Stat>,
    ) -> Result<bool, Refusal> {
        match stat::entry(folder, name) {
            Err(Errno::NOENT) => return Ok(false),
            looked => looked.map_err(said("look for what was left"))?,
        };
        if !source_is_there && !here.is_some_and(|here| self.has_the_bytes(here, folder, name)) {
            let name = name.to_string_lossy();
            return Err(format!(
                "what it was copied from has changed since; the copy stays as {name}"
            ));
        }
        unlink::file(folder, name).map_err(said("clear up"))?;
        Ok(true)
    }

    /// True if the file itself begins with all the bytes of a copy. A failed look is no.
    fn has_the_bytes(&self, here: &Stat, folder: &OwnedFd, copy: &CStr) -> bool {
        let compared = || {
            let file = self.intent.victim.0.as_slice();
            let file = opened(file, &here.into()).ok()?;
            let manner = Manner {
                keep_access_time: true,
                follow: false,
            };
            let other = open::file(folder, copy, manner).ok()?;
            let begins = compare::begins_with(&file.file, &other).ok()?;
            file.still_there().ok().map(|()| begins)
        };
        compared().unwrap_or(false)
    }

    /// True if this is what the step moved, as it was then. Nothing had that name before.
    fn is_moved(&self, moved: &Stat) -> bool {
        match self.fate {
            Fate::Done(Some(now)) => is_as(moved, &now),
            _ => self.is_whole(moved),
        }
    }

    fn drop_trash_info(&self) {
        let Some(info) = &self.intent.trash_info else {
            return;
        };
        if let Ok(place) = Place::of(&info.0) {
            // A note without its file is passed over by every desktop.
            let _ = unlink::file(&place.folder, &place.name);
        }
    }

    fn rename_back(&self, from: &CStr) -> Result<(), Refusal> {
        let folder = &self.place.folder;
        let renamed = rename::no_replace(folder, from, folder, &self.place.name);
        renamed.map_err(said("put it back"))
    }

    /// A name was moved by making a second one, and the first was not taken away any more.
    fn drop_aside(&self) -> Result<Undone, Refusal> {
        unlink::file(&self.place.folder, &self.aside).map_err(said("clear up"))?;
        Ok(Undone::Cleaned)
    }

    fn taken(&self, aside: &CStr) -> Refusal {
        let aside = aside.to_string_lossy();
        format!("another file has its name now; it stays beside it as {aside}")
    }

    fn changed(&self, aside: &CStr) -> Refusal {
        let aside = aside.to_string_lossy();
        format!("{aside} beside it was changed since; look at it yourself")
    }
}

fn is_as(stat: &Stat, was: &State) -> bool {
    stat.kind == FileType::RegularFile
        && (stat.ino, stat.size, stat.mtime_ns) == (was.ino, was.size, was.mtime_ns)
}

/// True if this is one file with two names.
fn is_twice(one: &Stat, other: &Stat) -> bool {
    (one.dev, one.ino) == (other.dev, other.ino) && one.links > 1
}

fn opened(path: &[u8], was: &State) -> Result<Opened, Unfit> {
    let target = Target {
        path: path.to_vec(),
        expected: Expected {
            size: was.size,
            ino: Some(was.ino),
            mtime_ns: Some(was.mtime_ns),
            ..Expected::default()
        },
    };
    Opened::open(&target, Bound::BytesAreCompared, &Ours::new())
}

fn said(doing: &'static str) -> impl FnOnce(Errno) -> Refusal {
    move |error| super::trouble::failure(doing.to_owned(), error).to_string()
}
