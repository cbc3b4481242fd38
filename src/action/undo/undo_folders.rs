//! Creates removed folders again, the outermost first, before their files come back. At the end they get their metadata,
//! the innermost first; until then, only the user who runs the undo may enter them.
//!
//! Each folder is in the journal before it gets its name. Several folders are recorded together, because each sync of
//! the journal takes long.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::undo_step::unreachable;
use crate::action::action_kind::Reversal;
use crate::action::failure::failed;
use crate::action::journal::Journal;
use crate::action::journal::past::{Past, PastFolder};
use crate::action::journal::record::{FolderIntent, Raw, Record};
use crate::action::journal::undo_parent::Parents;
use crate::action::journal::undone::{Lack, Object, UndoTally, Undone, UndoneFile};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::step::metadata;
use crate::action::ways::folder_entry::{NameInFolder, parent};
use crate::action::ways::folder_identity::FolderIdentity;
use crate::action::ways::temporary;
use crate::file::trust;
use crate::sys::{attributes, names, open, parent as way, process};

/// Maximum number of folders that are recorded together: two descriptors stay open for each until then.
const MOST: usize = 256;

const MAKING: &str = "create the folder again";

/// A folder that was created again.
pub(in crate::action) struct MadeAgain<'a> {
    pub intent: &'a FolderIntent,
    identity: FolderIdentity,
}

/// What undo has to do for a folder.
enum Task<'a> {
    Nothing(Undone),
    /// It exists, and gets its metadata when the files are back in it.
    Finish(MadeAgain<'a>),
    /// It is missing.
    Make(NameInFolder),
}

/// Removed folders that were not restored, the outermost first.
fn removed(past: &Past) -> Vec<&PastFolder> {
    let folders = past.folders.values();
    let folders = folders.filter(|folder| !folder.undone && !folder.stayed);
    let mut folders: Vec<_> = folders.collect();
    folders.sort_by_key(|folder| depth(folder));
    folders
}

fn depth(folder: &PastFolder) -> usize {
    let path = folder.intent.folder.0.iter();
    path.filter(|&&byte| byte == b'/').count()
}

/// Reports which removed folders would be created again, and returns their paths.
pub(in crate::action) fn foretell<'a>(
    past: &'a Past,
    parents: &Parents,
    tally: &mut UndoTally,
    tell: &mut dyn FnMut(&UndoneFile),
) -> HashSet<&'a [u8]> {
    let mut back: HashSet<&[u8]> = HashSet::new();
    for folder in removed(past) {
        let path = &folder.intent.folder.0;
        let undone = if back.contains(parent(path)) {
            Undone::Restored
        } else {
            match task(folder, parents) {
                Ok(Task::Nothing(undone)) => undone,
                Ok(Task::Finish(_) | Task::Make(_)) => Undone::Restored,
                Err(why) => Undone::Refused(why),
            }
        };
        if undone == Undone::Restored {
            back.insert(path);
        }
        tally.count(Object::Folder(&folder.intent), undone, tell);
    }
    back
}

/// Creates the removed folders of a run, and reports those that need nothing more.
pub(in crate::action) fn make<'a>(
    past: &'a Past,
    parents: &Parents,
    journal: &mut Journal,
    tally: &mut UndoTally,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&UndoneFile),
) -> Vec<MadeAgain<'a>> {
    let most = (process::unused_descriptors().saturating_sub(12) / 4).clamp(1, MOST);
    let mut made = Vec::new();
    let folders = removed(past);
    // No folder contains another one of the same depth.
    let levels = folders.chunk_by(|one, other| depth(one) == depth(other));
    for some in levels.flat_map(|level| level.chunks(most)) {
        if stop.load(Ordering::Relaxed) {
            tally.interrupted = true;
            break;
        }
        let mut hidden = Vec::new();
        for folder in some {
            let intent = &folder.intent;
            let temporary = temporary::ours(&temporary::temporary(journal.mark(), intent.step));
            let task = task(folder, parents);
            if past.undo_cut_short && !matches!(task, Ok(Task::Make(_))) {
                Hidden::clear(&intent.folder.0, &temporary);
            }
            let refused = match task {
                Ok(Task::Nothing(undone)) => undone,
                Ok(Task::Finish(again)) => {
                    made.push(again);
                    continue;
                }
                Ok(Task::Make(place)) => match Hidden::make(place, temporary) {
                    Ok((new, identity)) => {
                        hidden.push((new, MadeAgain { intent, identity }));
                        continue;
                    }
                    Err(why) => Undone::Refused(why),
                },
                Err(why) => Undone::Refused(why),
            };
            tally.count(Object::Folder(intent), refused, tell);
        }
        if hidden.is_empty() {
            continue;
        }
        let records = hidden.iter().map(|(_, again)| Record::FolderMade {
            step: again.intent.step,
            folder: again.identity,
        });
        let written = journal.write(&records.collect::<Vec<_>>());
        let refused = written.as_ref().err().map(|error| {
            let doing = "write the journal, so the folder was not created again";
            Code::JournalFull.with(Facts::refused(doing, &io::Error::other(error.to_string())))
        });
        tally.note(written);
        for (new, again) in hidden {
            // Another undo would take an unrecorded folder for another one.
            let named = match &refused {
                None => new.give_name(),
                Some(why) => Err(why.clone()),
            };
            match named {
                Ok(()) => {
                    parents.note(&again.intent.folder.0, again.identity);
                    made.push(again);
                }
                Err(why) => {
                    let folder = Object::Folder(again.intent);
                    tally.count(folder, Undone::Refused(why), tell);
                }
            }
        }
    }
    made
}

fn task<'a>(folder: &'a PastFolder, parents: &Parents) -> Result<Task<'a>, Reason> {
    let intent = &folder.intent;
    if intent.action.reversal() == Reversal::Impossible {
        return Ok(Task::Nothing(Undone::Impossible));
    }
    let place = NameInFolder::of(&intent.folder.0).map_err(unreachable)?;
    let Some((_, identity)) = there(&place)? else {
        may_come(&place, intent, parents)?;
        return Ok(Task::Make(place));
    };
    // A new folder often gets the inode number of one that was removed.
    let may_be_there = folder.made.is_none() && !folder.removed;
    if folder.made.is_some_and(|made| made.is(identity)) {
        Ok(Task::Finish(MadeAgain { intent, identity }))
    } else if may_be_there && identity.ino == intent.ino {
        Ok(Task::Nothing(Undone::AsBefore))
    } else {
        Err(Code::NameTaken.into())
    }
}

/// Checks the folder that contained the removed one.
fn may_come(place: &NameInFolder, intent: &FolderIntent, parents: &Parents) -> Result<(), Reason> {
    let (path, owner) = (parent(&intent.folder.0), intent.metadata.uid);
    let accepted = parents.accept(&place.folder, path, intent.parent, owner);
    match accepted.map_err(failed("examine its parent folder"))? {
        None => Ok(()),
        Some(why) => Err(why.about("create the folder yourself")),
    }
}

/// The folder that has the name now, if any.
fn there(place: &NameInFolder) -> Result<Option<(OwnedFd, FolderIdentity)>, Reason> {
    let opened = match open::folder(&place.folder, &place.name) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(Code::NameTaken.into()),
        opened => opened.map_err(failed("open the folder"))?,
    };
    let now = FolderIdentity::of(&opened).map_err(failed("examine the folder"))?;
    Ok(Some((opened, now)))
}

/// A new folder in a temporary one that only this user may enter, beside its place.
///
/// `mkdir` does not open the folder that it creates. In a folder of another user, this user can rename another folder
/// to the same name before seekless opens it. In a closed folder, nobody else can.
struct Hidden {
    place: NameInFolder,
    /// The name of the closed folder, and of the new folder in it.
    temporary: CString,
    closed: OwnedFd,
}

impl Hidden {
    /// Creates both, or opens those that a killed undo left behind.
    fn make(place: NameInFolder, temporary: CString) -> Result<(Self, FolderIdentity), Reason> {
        way::make_folder(&place.folder, &temporary, 0o700).map_err(failed(MAKING))?;
        let hidden = Self::open(place, temporary)?;
        way::make_folder(&hidden.closed, &hidden.temporary, 0o700).map_err(failed(MAKING))?;
        let new = open::folder(&hidden.closed, &hidden.temporary);
        let identity = new.and_then(|new| FolderIdentity::of(&new));
        Ok((hidden, identity.map_err(failed(MAKING))?))
    }

    fn open(place: NameInFolder, temporary: CString) -> Result<Self, Reason> {
        let closed = open::folder(&place.folder, &temporary).map_err(failed(MAKING))?;
        let now = attributes::get(&closed).map_err(failed(MAKING))?;
        let is_closed = now.uid == trust::me() && now.mode & 0o077 == 0;
        if !is_closed && attributes::modes_are_made_up(&closed) != Ok(true) {
            let name = format!("{} in the same folder", temporary.to_string_lossy());
            return Err(Reason::from(Code::NameTaken).of_other(name));
        }
        Ok(Self {
            place,
            temporary,
            closed,
        })
    }

    /// Removes what a killed undo left for the folder with this path.
    fn clear(path: &[u8], temporary: &CStr) {
        let place = NameInFolder::of(path).ok();
        drop(place.map(|place| Self::open(place, temporary.to_owned())));
    }

    /// Moves the folder to its place.
    fn give_name(&self) -> Result<(), Reason> {
        let NameInFolder { folder, name } = &self.place;
        match names::rename_no_replace(&self.closed, &self.temporary, folder, name) {
            Err(Errno::EXIST | Errno::NOTEMPTY) => Err(Code::NameTaken.into()),
            named => named.map_err(failed(MAKING)),
        }
    }
}

/// Removes both folders, unless something is in them.
impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = names::remove_folder(&self.closed, &self.temporary);
        let _ = names::remove_folder(&self.place.folder, &self.temporary);
    }
}

impl MadeAgain<'_> {
    /// Restores the metadata of the folder. Also returns the folder above it, which must be synced.
    pub fn finish(&self) -> (Undone, Option<OwnedFd>) {
        match self.given() {
            Ok((undone, above)) => (undone, Some(above)),
            Err(why) => (Undone::Refused(why), None),
        }
    }

    fn given(&self) -> Result<(Undone, OwnedFd), Reason> {
        let place = NameInFolder::of(&self.intent.folder.0).map_err(unreachable)?;
        let Some((opened, now)) = there(&place)? else {
            return Err(Code::Gone.into());
        };
        if !now.is(self.identity) {
            return Err(Code::NameTaken.into());
        }
        let was = &self.intent.metadata;
        let has_default = |(name, _): &(Raw, _)| name.0 == attributes::DEFAULT_ACL.to_bytes();
        if !was.xattrs.iter().any(has_default) {
            // The folder above may have given it one.
            let _ = attributes::remove_extended(&opened, attributes::DEFAULT_ACL);
        }
        let missing =
            metadata::give(&opened, was).map_err(failed("give the folder its metadata"))?;
        let proven = true;
        Ok((Undone::restored(Lack { missing, proven }), place.folder))
    }
}
