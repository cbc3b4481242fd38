//! Folders that a move creates on the path to its destination. The journal names each of them before it is created, so
//! that an undo can remove those that are empty again.

use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::action::failure::failed;
use crate::action::journal::past::{Past, PastNewFolder};
use crate::action::journal::undone::Undone;
use crate::action::places::Manner;
use crate::action::reason::{Code, Reason};
use crate::action::ways::folder_entry::NameInFolder;
use crate::action::ways::folder_identity::FolderIdentity;
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::{attributes, dirent, names, open};

/// The folders of a past run that may have to be removed: each one comes before the folder that it lies in.
pub(in crate::action) fn of(past: &Past) -> impl Iterator<Item = (&[u8], &PastNewFolder)> {
    let is_over = past.all_undone;
    let folders = past.new_folders.iter().rev().filter(move |_| !is_over);
    let folders = folders.map(|(path, folder)| (&path[..], folder));
    folders.filter(|(_, folder)| folder.made.is_some() || past.was_killed)
}

/// Folders that a killed run may just have created, and did not fill: they are empty, and belong to this user.
pub(in crate::action) fn unfilled(past: &Past) -> impl Iterator<Item = (&[u8], &PastNewFolder)> {
    of(past).filter(|(_, folder)| folder.made.is_none())
}

/// True if an unfilled folder of a killed run still exists.
pub(in crate::action) fn is_left(path: &[u8], folder: &PastNewFolder) -> bool {
    matches!(own(path, folder), Ok(Some((_, opened))) if dirent::is_empty(&opened) == Ok(true))
}

/// Removes a folder if the run created it and it is empty. [`Undone::AsBefore`]: it is gone, or another folder, or not
/// empty.
///
/// In a dry run, files that are to be moved back may still be in it.
pub(in crate::action) fn clear(path: &[u8], folder: &PastNewFolder, manner: Manner) -> Undone {
    current::ask_about(path);
    let removed = own(path, folder).and_then(|found| match (found, manner) {
        (None, _) => Ok(false),
        (Some(_), Manner::Look | Manner::Glance) => Ok(true),
        (Some((place, _)), Manner::Act) => match names::remove_folder(&place.folder, &place.name) {
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR) => Ok(false),
            removed => removed
                .map(|()| true)
                .map_err(failed("remove this folder, which the run created")),
        },
    });
    match removed {
        Ok(true) => Undone::FolderRemoved,
        Ok(false) => Undone::AsBefore,
        Err(why) => Undone::Refused(why),
    }
}

/// The folder that the run created, if it still exists. Only an empty folder that gets its name right after this check
/// could be removed in its place.
fn own(path: &[u8], folder: &PastNewFolder) -> Result<Option<(NameInFolder, OwnedFd)>, Reason> {
    let doing = "examine this folder, which the run created";
    let place = match NameInFolder::of(path) {
        Ok(place) => place,
        Err(why) if why.code == Code::Gone || why.code == Code::ThroughLink => return Ok(None),
        Err(why) => return Err(why),
    };
    let now = match place.stat() {
        Err(Errno::NOENT) => return Ok(None),
        now => now.map_err(failed(doing))?,
    };
    if now.kind != FileType::Directory {
        return Ok(None);
    }
    let opened = match open::folder(&place.folder, &place.name) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        opened => opened.map_err(failed(doing))?,
    };
    let is_own = match folder.made {
        Some(made) => made.is(FolderIdentity::of(&opened).map_err(failed(doing))?),
        None => attributes::get(&opened).map_err(failed(doing))?.uid == trust::me(),
    };
    Ok(is_own.then_some((place, opened)))
}
