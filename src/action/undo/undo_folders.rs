//! Creates removed folders again, the outermost first, before their files come back. Each gets its metadata at once,
//! and at the end, the innermost first, once more: the files changed its times.
//!
//! An empty folder of this user that was created since the run, and a folder with the owner and the mode of the removed
//! one, count as folders that an undo created before it was cut short.

use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::unreachable;
use crate::action::access::Reversal;
use crate::action::failure::failed;
use crate::action::journal::past::{Object, UndoTally, Undone, UndoneFile};
use crate::action::journal::past::{Past, PastFolder};
use crate::action::journal::record::{FolderIntent, Metadata, Raw};
use crate::action::reason::{Code, Reason};
use crate::action::step::metadata;
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::{NameInFolder, parent};
use crate::action::ways::folder_identity::{FolderIdentity, Parents};
use crate::file::trust;
use crate::sys::{attributes, names, open, stat, way};

const MAKING: &str = "create the folder again";

/// A folder that is there again.
pub(in crate::action) struct MadeAgain<'a> {
    pub intent: &'a FolderIntent,
    /// `None` if a preview only says that it would be.
    pub identity: Option<FolderIdentity>,
}

/// Removed folders that were not restored, the outermost first.
fn removed(past: &Past) -> Vec<&PastFolder> {
    let folders = past.folders.values();
    let folders = folders.filter(|folder| !folder.undone && !folder.stayed);
    let mut folders: Vec<_> = folders.collect();
    let depth = |folder: &PastFolder| {
        let path = folder.intent.folder.0.iter();
        path.filter(|&&byte| byte == b'/').count()
    };
    folders.sort_by_key(|folder| depth(folder));
    folders
}

/// Creates the removed folders of a run, or finds those that would be created if it must not act. Reports those that
/// need nothing more.
pub(in crate::action) fn make<'a>(
    past: &'a Past,
    (parents, acts): (&Parents, bool),
    tally: &mut UndoTally,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&UndoneFile),
) -> Vec<MadeAgain<'a>> {
    let mut made: Vec<MadeAgain<'a>> = Vec::new();
    let mut new: HashSet<&[u8]> = HashSet::new();
    for folder in removed(past) {
        if stop.load(Ordering::Relaxed) {
            tally.interrupted = true;
            break;
        }
        let intent = &folder.intent;
        let is_in_new = new.contains(parent(&intent.folder.0));
        let again = if is_in_new {
            Ok(Ok(None))
        } else {
            again(folder, parents, past.header.started_ns, acts)
        };
        let undone = match again {
            Ok(Ok(identity)) => {
                if identity.is_none() {
                    new.insert(&intent.folder.0);
                }
                made.push(MadeAgain { intent, identity });
                continue;
            }
            Ok(Err(undone)) => undone,
            Err(why) => Undone::Refused(why),
        };
        tally.count(Object::Folder(intent), undone, tell);
    }
    made
}

/// Creates a folder, or finds the one that is there. The inner error is what is known of it, if nothing is to be done;
/// no identity means that it would be created.
///
/// # Errors
/// If it must not be created, or the system refuses.
fn again(
    folder: &PastFolder,
    parents: &Parents,
    since_ns: i64,
    acts: bool,
) -> Result<Result<Option<FolderIdentity>, Undone>, Reason> {
    let intent = &folder.intent;
    let path = &intent.folder.0;
    if intent.action.reversal() == Reversal::Impossible {
        return Ok(Err(Undone::Impossible));
    }
    let place = NameInFolder::of(path).map_err(unreachable)?;
    if let Some((opened, identity)) = there(&place)? {
        let was = &intent.metadata;
        let now = attributes::get(&opened).map_err(failed("examine the folder"))?;
        // A new folder often gets the inode number of one that was removed.
        if !folder.removed && identity.ino == intent.ino {
            return Ok(Err(Undone::AsBefore));
        }
        if (now.uid, now.gid, now.mode & 0o7777) == (was.uid, was.gid, was.mode & 0o7777) {
            return Ok(Ok(Some(identity)));
        }
        if open_new(&place, path, since_ns).is_err() {
            return Err(Code::NameTaken.into());
        }
    } else {
        may_come(&place, intent, parents)?;
    }
    if !acts {
        return Ok(Ok(None));
    }
    let identity = create(&place, intent, since_ns)?;
    parents.note(path, identity);
    Ok(Ok(Some(identity)))
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

/// Creates a folder with its metadata, or takes the one that a killed undo left there.
fn create(
    place: &NameInFolder,
    intent: &FolderIntent,
    since_ns: i64,
) -> Result<FolderIdentity, Reason> {
    let NameInFolder { folder, name } = place;
    let is_new = way::make_folder(folder, name, 0o700).map_err(failed(MAKING))?;
    let opened = open_new(place, &intent.folder.0, since_ns);
    let made = opened.and_then(|new| {
        let identity = FolderIdentity::of(&new)?;
        give(&new, &intent.metadata)?;
        Ok(identity)
    });
    made.map_err(|error| {
        if is_new {
            let _ = names::remove_folder(folder, name);
        }
        match error {
            Errno::STALE => Code::NameTaken.into(),
            error => failed(MAKING)(error),
        }
    })
}

/// Gives a folder its metadata; returns what it lacks.
fn give(folder: &OwnedFd, was: &Metadata) -> rustix::io::Result<Vec<&'static str>> {
    let has_default = |(name, _): &(Raw, _)| name.0 == attributes::DEFAULT_ACL.to_bytes();
    if !was.xattrs.iter().any(has_default) {
        // The folder above may have given it one.
        let _ = attributes::remove_extended(folder, attributes::DEFAULT_ACL);
    }
    metadata::give(folder, was)
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
    /// Restores the metadata of the folder, unless nothing is to be changed. Also returns the folder above it, which
    /// must be synced.
    pub fn finish(&self, acts: bool) -> (Undone, Option<OwnedFd>) {
        let Some(identity) = self.identity.filter(|_| acts) else {
            return (Undone::Restored, None);
        };
        match self.given(identity) {
            Ok((undone, above)) => (undone, Some(above)),
            Err(why) => (Undone::Refused(why), None),
        }
    }

    fn given(&self, identity: FolderIdentity) -> Result<(Undone, OwnedFd), Reason> {
        let place = NameInFolder::of(&self.intent.folder.0).map_err(unreachable)?;
        let Some((opened, now)) = there(&place)? else {
            return Err(Code::Gone.into());
        };
        if !now.is(identity) {
            return Err(Code::NameTaken.into());
        }
        let missing = give(&opened, &self.intent.metadata);
        let missing = missing.map_err(failed("give the folder its metadata"))?;
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
