//! Creates removed folders again, the outermost first, before their files come back. At the end they get their
//! metadata, the innermost first; until then, only the user who runs the undo may enter them.
//!
//! Each folder is in the journal before anything is put into it. Several folders are recorded together, because each
//! sync of the journal takes long. An empty folder of this user that was created since the run is one that a killed
//! undo left.

use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::unreachable;
use crate::action::access::Reversal;
use crate::action::failure::failed;
use crate::action::journal::Journal;
use crate::action::journal::past::{Fate, Past, PastFolder};
use crate::action::journal::past::{Object, UndoTally, Undone, UndoneFile};
use crate::action::journal::record::{FolderIntent, Raw, Record};
use crate::action::reason::{Code, Facts, Reason};
use crate::action::step::metadata;
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::{NameInFolder, parent};
use crate::action::ways::folder_identity::{FolderIdentity, Parents};
use crate::file::trust;
use crate::sys::{attributes, names, open, process, stat, way};

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
    /// It is missing, or not recorded yet.
    Make(NameInFolder),
}

/// Removed folders that were not restored, the outermost first.
fn removed(past: &Past) -> Vec<&PastFolder> {
    let folders = past.folders.values();
    let folders = folders.filter(|folder| !folder.undone && folder.fate != Fate::NotDone);
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
            match task(folder, parents, past.header.started_ns) {
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
    let since_ns = past.header.started_ns;
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
        let mut new = Vec::new();
        for folder in some {
            let intent = &folder.intent;
            let undone = match task(folder, parents, since_ns) {
                Ok(Task::Nothing(undone)) => undone,
                Ok(Task::Finish(again)) => {
                    made.push(again);
                    continue;
                }
                Ok(Task::Make(place)) => match create(&place, &intent.folder.0, since_ns) {
                    Ok(identity) => {
                        new.push(MadeAgain { intent, identity });
                        continue;
                    }
                    Err(why) => Undone::Refused(why),
                },
                Err(why) => Undone::Refused(why),
            };
            tally.count(Object::Folder(intent), undone, tell);
        }
        if new.is_empty() {
            continue;
        }
        let records = new.iter().map(|again| Record::FolderMade {
            step: again.intent.step,
            folder: again.identity,
        });
        let written = journal.write(&records.collect::<Vec<_>>());
        let refused = written.as_ref().err().map(|error| {
            let doing = "write the journal, so the folder was not created again";
            Code::JournalFull.with(Facts::caused(doing, error))
        });
        tally.note(written);
        for again in new {
            let path = &again.intent.folder.0;
            let Some(why) = &refused else {
                parents.note(path, again.identity);
                made.push(again);
                continue;
            };
            if let Ok(place) = NameInFolder::of(path) {
                let _ = names::remove_folder(&place.folder, &place.name);
            }
            let folder = Object::Folder(again.intent);
            tally.count(folder, Undone::Refused(why.clone()), tell);
        }
    }
    made
}

/// Opens a folder for reading that this user created since this moment, and that is empty and closed to others. Where
/// the file system keeps no time of creation, it counts as new unless that is to be `certain`.
///
/// # Errors
/// `ESTALE` if it is another folder.
fn open_certain(
    parent: &OwnedFd,
    name: &CStr,
    since_ns: i64,
    certain: bool,
) -> rustix::io::Result<OwnedFd> {
    let folder = open::folder(parent, name)?;
    let now = attributes::get(&folder)?;
    let made_up = || attributes::modes_are_made_up(&folder) == Ok(true);
    // The group's bits include the mask of an ACL.
    let is_closed = || now.mode & 0o077 == 0 || made_up();
    // On a file system without owners, one user owns every file.
    let is_ours = now.uid == trust::me() || now.uid == attributes::get(parent)?.uid;
    let born_ns = stat::birth_ns(&folder, c".", false);
    let is_young = born_ns.map_or(!certain, |born_ns| born_ns >= since_ns) || made_up();
    let is_own = is_ours && is_young && (!trust::is_root() || is_closed());
    if is_own && names::is_empty_folder(&folder)? {
        Ok(folder)
    } else {
        Err(Errno::STALE)
    }
}

/// Opens a folder that was created since the run. Where another user could have put it there, its time of creation has
/// to tell.
fn open_new(place: &NameInFolder, path: &[u8], since_ns: i64) -> rustix::io::Result<OwnedFd> {
    let is_shared = || !Ways::default().is_closed(parent(path), trust::me());
    let certain = trust::is_root() && is_shared();
    open_certain(&place.folder, &place.name, since_ns, certain)
}

/// Creates a folder, or takes the one that a killed undo left there.
fn create(place: &NameInFolder, path: &[u8], since_ns: i64) -> Result<FolderIdentity, Reason> {
    let NameInFolder { folder, name } = place;
    let is_new = way::make_folder(folder, name, 0o700).map_err(failed(MAKING))?;
    let opened = open_new(place, path, since_ns);
    opened
        .and_then(|new| FolderIdentity::of(&new))
        .map_err(|error| {
            if is_new {
                let _ = names::remove_folder(folder, name);
            }
            match error {
                Errno::STALE => Code::NameTaken.into(),
                error => failed(MAKING)(error),
            }
        })
}

fn task<'a>(folder: &'a PastFolder, parents: &Parents, since_ns: i64) -> Result<Task<'a>, Reason> {
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
    let may_be_there = folder.made.is_none() && folder.fate == Fate::Unsaid;
    if folder.made.is_some_and(|made| made.is(identity)) {
        Ok(Task::Finish(MadeAgain { intent, identity }))
    } else if may_be_there && identity.ino == intent.ino {
        Ok(Task::Nothing(Undone::AsBefore))
    } else if open_new(&place, &intent.folder.0, since_ns).is_ok() {
        Ok(Task::Make(place))
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
        Ok((Undone::restored(missing), place.folder))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn another_folder_with_the_name_of_a_new_one_is_refused() {
        let top = tempfile::tempdir().expect("a folder");
        let path = CString::new(top.path().as_os_str().as_bytes()).expect("no NUL");
        let base = open::folder(open::CWD, &path).expect("it is there");
        let closed = |name: &str| {
            let path = top.path().join(name);
            fs::create_dir(&path).expect("made");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("closed");
            path
        };
        let opened = |name, since_ns| open_certain(&base, name, since_ns, false);
        closed("new");
        assert!(opened(c"new", 0).is_ok());
        // Only root acts in folders where others can do this.
        let open = closed("open");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("opened");
        assert_eq!(opened(c"open", 0).is_err(), trust::is_root());
        let file = closed("filled").join("file");
        fs::write(&file, "theirs").expect("written");
        assert_eq!(opened(c"filled", 0).err(), Some(Errno::STALE));
        let is_kept = stat::birth_ns(&base, c".", false).is_some();
        assert_eq!(opened(c"new", i64::MAX).is_err(), is_kept);
        symlink("new", top.path().join("link")).expect("linked");
        assert!(opened(c"link", 0).is_err());
    }
}
