//! Undoes one step. The files show what happened; the journal says which files to look for.
//!
//! Device numbers are not compared with those of the journal: they change when a disk is plugged in again. Inode
//! number, length and time of modification at a known path are enough to identify a file.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::action_kind::ActionKind;
use super::check::{Bound, Opened, OwnChanges};
use super::folder_entry::{NameInFolder, parent};
use super::past::{Fate, PastStep};
use super::reads::Reads;
use super::record::{Intent, RecordedState};
use super::step::{Expected, StepFile, Unfit};
use super::undo_parent::Parents;
use super::undone::Undone;
use super::{metadata, swap};
use crate::hash::ContentDigest;
use crate::heartbeat::current;
use crate::sys::names;
use crate::sys::open;
use crate::sys::stat::{self, Stat};
use crate::sys::statfs::{self, ServedBy};

/// The reason why a step cannot be undone.
pub(super) type Refusal = String;

/// Whether an undo is carried out or only previewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It is carried out.
    Act,
    /// Nothing is changed.
    Look,
}

/// The conditions under which steps are undone.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) manner: Manner,
    /// The rules for reads.
    pub(super) reads: &'a Reads,
    pub(super) parents: &'a Parents,
}

impl<'a> How<'a> {
    pub(super) fn new(manner: Manner, reads: &'a Reads, parents: &'a Parents) -> Self {
        Self {
            manner,
            reads,
            parents,
        }
    }
}

/// Undoes a step; also returns the folder whose names it may have changed.
///
/// `companion` is another name that the file had, and that is restored.
pub(super) fn undo(
    step: &PastStep,
    companion: Option<&[u8]>,
    how: How<'_>,
) -> (Undone, Option<OwnedFd>) {
    let scene = match Scene::look(step, companion, how) {
        Ok(scene) => scene,
        Err(_) if is_gone_with_its_folder(step) => return (Undone::Impossible, None),
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

/// True if a file was removed permanently, and its folder is gone as well.
fn is_gone_with_its_folder(step: &PastStep) -> bool {
    let is_removed = step.intent.action == ActionKind::Remove && matches!(step.fate, Fate::Done(_));
    is_removed && matches!(NameInFolder::of(&step.intent.victim.0), Err(Unfit::Gone))
}

/// The expected result for a moved file whose folder will be created again: no file has its name there.
pub(super) fn foretell_in_new_folder(step: &PastStep, how: How<'_>) -> Undone {
    let destination = step.intent.destination.as_ref();
    let Some(there) = destination.and_then(|path| NameInFolder::of(&path.0).ok()) else {
        return Undone::Refused("the moved file no longer exists".to_owned());
    };
    // In the folder that it was moved to, nothing has this step's temporary name either.
    let aside = CString::new(step.intent.temporary.as_str()).unwrap_or_default();
    let scene = Scene {
        place: NameInFolder {
            folder: there.folder,
            name: aside.clone(),
        },
        intent: &step.intent,
        fate: step.fate,
        is_on_overlay: false,
        ours: swap::sibling(&aside, "undo"),
        aside,
        companion: None,
        digest: step.digest,
        how,
        folder_is_new: true,
    };
    scene.undo_move().unwrap_or_else(Undone::Refused)
}

/// True if neither the file nor the leftover of a killed run exists.
pub fn is_gone(step: &PastStep) -> bool {
    let is_there = |scene: &Scene<'_>, name: &CStr| {
        let there = scene.at(name).ok().flatten();
        there.is_some_and(|there| scene.is_whole(&there))
    };
    let (reads, parents) = (Reads::default(), Parents::default());
    !Scene::look(step, None, How::new(Manner::Look, &reads, &parents))
        .is_ok_and(|scene| is_there(&scene, &scene.place.name) || is_there(&scene, &scene.aside))
}

/// Restores a removed file as a copy of the kept one.
pub(super) fn undo_removal(step: &PastStep, how: How<'_>) -> (Undone, Option<OwnedFd>) {
    let scene = match Scene::look(step, None, how) {
        Ok(scene) => scene,
        Err(why) => return (Undone::Refused(why), None),
    };
    let undone = scene.copy_back().unwrap_or_else(Undone::Refused);
    (undone, Some(scene.place.folder))
}

/// The present state of the place of a step.
pub(super) struct Scene<'a> {
    pub(super) intent: &'a Intent,
    pub(super) fate: Fate,
    pub(super) place: NameInFolder,
    /// Files may have got other numbers when the run acted on them.
    is_on_overlay: bool,
    /// The temporary name of the run.
    pub(super) aside: CString,
    /// The temporary name of the undo.
    pub(super) ours: CString,
    /// Another name of the file that is restored, if there is one.
    pub(super) companion: Option<&'a [u8]>,
    /// The compared content, if the journal has it.
    pub(super) digest: Option<ContentDigest>,
    pub(super) how: How<'a>,
    /// The folder will be created again.
    folder_is_new: bool,
}

impl<'a> Scene<'a> {
    fn look(
        step: &'a PastStep,
        companion: Option<&'a [u8]>,
        how: How<'a>,
    ) -> Result<Self, Refusal> {
        let place = NameInFolder::of(&step.intent.victim.0).map_err(|unfit| match unfit {
            Unfit::Gone => {
                "its folder is gone: create the folder, or mount its disk, and undo again"
                    .to_owned()
            }
            Unfit::ThroughLink => {
                "a symbolic link has the place of one of its folders: move the link away, create \
                 the folder, and undo again"
                    .to_owned()
            }
            unfit => unfit.to_string(),
        })?;
        let aside = step.intent.temporary.as_str();
        if !aside.starts_with(".seekless-") || aside.contains('/') {
            return Err("the journal does not name a temporary file of seekless".to_owned());
        }
        let aside = CString::new(aside).map_err(|error| error.to_string())?;
        // A further name of the kept file becomes one again.
        let (keeper, victim) = (&step.intent.keeper_state, &step.intent.victim_state);
        let is_one_file = (keeper.dev, keeper.ino) == (victim.dev, victim.ino);
        Ok(Self {
            intent: &step.intent,
            fate: step.fate,
            is_on_overlay: statfs::served_by(&place.folder) == ServedBy::Overlay,
            place,
            ours: swap::sibling(&aside, "undo"),
            aside,
            companion: companion.or_else(|| is_one_file.then_some(&step.intent.keeper.0[..])),
            digest: step.digest,
            how,
            folder_is_new: false,
        })
    }

    /// Checks the original folder of the file before the file is put into it; `otherwise` says what becomes of the file
    /// if it must not be.
    pub(super) fn may_come(&self, otherwise: &str) -> Result<(), Refusal> {
        let intent = self.intent;
        let (path, owner) = (parent(&intent.victim.0), intent.metadata.uid);
        let parents = self.how.parents;
        let accepted = match self.folder_is_new {
            true => Ok(None),
            false => parents.accept(&self.place.folder, path, intent.parent, owner),
        };
        match accepted.map_err(said("examine its folder"))? {
            None => Ok(()),
            Some(why) => Err(format!("{why}; {otherwise}")),
        }
    }

    /// Carries out a change, except in a preview.
    pub(super) fn change(
        &self,
        doing: &'static str,
        change: impl FnOnce() -> rustix::io::Result<()>,
    ) -> Result<(), Refusal> {
        match self.how.manner {
            Manner::Act => change().map_err(said(doing)),
            Manner::Look => Ok(()),
        }
    }

    /// Removes a name.
    pub(super) fn unlink(
        &self,
        folder: &OwnedFd,
        name: &CStr,
        doing: &'static str,
    ) -> Result<(), Refusal> {
        self.change(doing, || names::remove(folder, name))
    }

    pub(super) fn at(&self, name: &CStr) -> Result<Option<Stat>, Refusal> {
        match stat::fresh_entry(&self.place.folder, name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(said("examine it")(error)),
        }
    }

    pub(super) fn here(&self) -> Result<Option<Stat>, Refusal> {
        self.at(&self.place.name)
    }

    /// True if this is the victim itself, as it was. An overlay may have given it another number.
    pub(super) fn is_victim(&self, stat: Option<&Stat>) -> bool {
        let was = &self.intent.victim_state;
        stat.is_some_and(|stat| is_as(stat, was) || self.is_on_overlay && self.is_whole(stat))
    }

    /// True if this name has the link that the step created in the victim's place.
    pub(super) fn is_link(&self, name: &CStr, stat: Option<&Stat>) -> bool {
        let Some(stat) = stat else { return false };
        match (&self.intent.link_text, stat.kind) {
            (Some(text), FileType::Symlink) => {
                swap::link_text(&self.place.folder, name).as_ref() == Some(&text.0)
            }
            (None, FileType::RegularFile) => {
                let (keeper, victim) = (&self.intent.keeper_state, &self.intent.victim_state);
                let is_numbered = stat.ino == keeper.ino && stat.ino != victim.ino;
                is_numbered || self.is_renumbered_keeper(stat)
            }
            _ => false,
        }
    }

    /// True if this is the kept file with another number. An overlay may have given it that when it was linked to.
    /// Elsewhere, both names may have been copied since, or the kept file was restored by the undo of a later run.
    fn is_renumbered_keeper(&self, stat: &Stat) -> bool {
        let (keeper, victim) = (&self.intent.keeper_state, &self.intent.victim_state);
        let as_done = matches!(self.fate, Fate::Done(Some(now)) if now.ino == stat.ino);
        let is_at_its_name = || {
            let keeper = NameInFolder::of(&self.intent.keeper.0).ok()?.stat().ok()?;
            Some((keeper.dev, keeper.ino) == (stat.dev, stat.ino))
        };
        match self.is_on_overlay {
            true => stat.ino != victim.ino && (as_done || is_at_its_name().unwrap_or(false)),
            false => {
                let were_two = (keeper.dev, keeper.ino) != (victim.dev, victim.ino);
                were_two && stat.links > 1 && is_at_its_name().unwrap_or(false)
            }
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

    /// True for the victim, or for the copy of it that was made because the keeper vanished: its times are set last.
    pub(super) fn is_whole(&self, stat: &Stat) -> bool {
        let was = &self.intent.victim_state;
        stat.kind == FileType::RegularFile && (stat.size, stat.mtime_ns) == (was.size, was.mtime_ns)
    }

    pub(super) fn rename_back(&self, from: &CStr) -> Result<(), Refusal> {
        let folder = &self.place.folder;
        current::ask_about(&self.intent.victim.0);
        self.change("put it back", || {
            names::rename_no_replace(folder, from, folder, &self.place.name)
        })?;
        self.times_again();
        Ok(())
    }

    /// Restores the times of the file if a program has changed them at the rename (fusefat).
    pub(super) fn times_again(&self) {
        let NameInFolder { folder, name } = &self.place;
        let was = self.intent.victim_state.mtime_ns;
        let is_retimed = self.how.manner == Manner::Act
            && statfs::served_by(folder) == ServedBy::Others
            && stat::fresh_entry(folder, name).is_ok_and(|now| now.mtime_ns != was);
        if is_retimed {
            let file = unfollowed(folder, name);
            let given = file.and_then(|file| metadata::give_times(&file, &self.intent.metadata));
            tracing::debug!("the times after a rename are set again: {given:?}");
        }
    }

    /// Removes the temporary name. A rename made a second name, and the first one was not removed any more.
    pub(super) fn drop_aside(&self) -> Result<Undone, Refusal> {
        self.unlink(&self.place.folder, &self.aside, "clear up")?;
        Ok(Undone::Cleaned)
    }

    pub(super) fn taken(&self, aside: &CStr) -> Refusal {
        let aside = aside.to_string_lossy();
        format!("another file now has its name; it stays in the same folder as {aside}")
    }

    pub(super) fn changed(&self, aside: &CStr) -> Refusal {
        let aside = aside.to_string_lossy();
        format!("{aside} in the same folder has changed since; check it yourself")
    }

    pub(super) fn opened(&self, path: &[u8], was: &RecordedState) -> Result<Opened, Unfit> {
        let expected = Expected {
            size: was.size,
            ino: Some(was.ino),
            mtime_ns: Some(was.mtime_ns),
            ..Expected::default()
        };
        self.opened_as(path, expected)
    }

    /// The same, for a file that its bytes will identify.
    pub(super) fn opened_by_size(&self, path: &[u8], size: u64) -> Result<Opened, Unfit> {
        let expected = Expected {
            size,
            ..Expected::default()
        };
        self.opened_as(path, expected)
    }

    fn opened_as(&self, path: &[u8], expected: Expected) -> Result<Opened, Unfit> {
        let path = path.to_vec();
        let target = StepFile { path, expected };
        let ours = OwnChanges::new();
        Opened::open(&target, Bound::BytesAreCompared, &ours, self.how.reads)
    }
}

pub(super) fn is_as(stat: &Stat, was: &RecordedState) -> bool {
    stat.kind == FileType::RegularFile
        && (stat.ino, stat.size, stat.mtime_ns) == (was.ino, was.size, was.mtime_ns)
}

/// True if this is one file with two names.
pub(super) fn is_twice(one: &Stat, other: &Stat) -> bool {
    (one.dev, one.ino) == (other.dev, other.ino) && one.links > 1
}

/// Opens a name in a folder for reading.
pub(super) fn unfollowed(folder: &OwnedFd, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let manner = open::Manner {
        keep_access_time: true,
        follow: false,
    };
    open::file(folder, name, manner)
}

pub(super) fn said(doing: &'static str) -> impl FnOnce(Errno) -> Refusal {
    move |error| super::step_error::failure(doing.to_owned(), error).to_string()
}
