//! Restores removed folders. It first creates the folders, the outermost first, so that files can be moved back into
//! them. At the end it restores their metadata, the innermost first.
//!
//! Until then, only the user who runs the undo may enter them.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::folder_entry::{Identity, Place};
use super::metadata;
use super::past::PastFolder;
use super::record::FolderIntent;
use super::step::{Reversal, Unfit};
use super::undo_step::{Refusal, said};
use super::undone::{Lack, Undone};
use crate::file::trust;
use crate::sys::attributes::{self, Attributes};
use crate::sys::stat::Stat;
use crate::sys::{dirent, open, parent};

/// The progress of restoring a folder.
pub(super) enum Back<'a> {
    /// No work is left.
    Ended(Undone),
    /// The folder exists, and gets its metadata when the files are back in it.
    Made(MadeAgain<'a>),
}

/// A folder that was created again.
pub(super) struct MadeAgain<'a> {
    pub intent: &'a FolderIntent,
    pub identity: Identity,
}

/// The expected result of an undo.
pub(super) fn foretell(folder: &PastFolder) -> Undone {
    if folder.intent.action.row().undo == Reversal::Impossible {
        return Undone::Impossible;
    }
    match there(&folder.intent) {
        Ok(None) => Undone::Restored,
        Ok(Some((_, now, attributes))) => match known(folder, &now) {
            Some(undone) => undone,
            None if is_blank(&attributes) => Undone::Restored,
            None => Undone::Refused(TAKEN.to_owned()),
        },
        Err(why) => Undone::Refused(why),
    }
}

/// Creates a folder again, unless it exists.
pub(super) fn make(folder: &PastFolder) -> Back<'_> {
    if folder.intent.action.row().undo == Reversal::Impossible {
        return Back::Ended(Undone::Impossible);
    }
    made(folder).unwrap_or_else(|why| Back::Ended(Undone::Refused(why)))
}

const TAKEN: &str = "another folder or file has its name now";

fn made(folder: &PastFolder) -> Result<Back<'_>, Refusal> {
    let intent = &folder.intent;
    let place = Place::of(&intent.folder.0).map_err(unreachable)?;
    let is_new = parent::make_folder(&place.folder, &place.name, 0o700)
        .map_err(said("make the folder again"))?;
    let Some((opened, now, attributes)) = there(intent)? else {
        return Err("it was removed a moment ago".to_owned());
    };
    match known(folder, &now) {
        Some(Undone::Restored) => {}
        Some(undone) if !is_new => return Ok(Back::Ended(undone)),
        // An empty folder of this user is as good as a new one: an undo may have been killed behind its first call.
        _ if is_blank(&attributes) && dirent::is_empty(&opened).is_ok_and(|empty| empty) => {}
        _ => return Err(TAKEN.to_owned()),
    }
    Ok(Back::Made(MadeAgain {
        intent,
        identity: (now.dev, now.ino),
    }))
}

/// The next action for a known folder; `None` if the folder is unknown.
fn known(folder: &PastFolder, now: &Stat) -> Option<Undone> {
    if folder.made == Some(now.ino) {
        return Some(Undone::Restored);
    }
    // A new folder often gets the inode number of one that was removed.
    let may_be_there = folder.made.is_none() && !folder.removed;
    (may_be_there && now.ino == folder.intent.ino).then_some(Undone::AsBefore)
}

/// True if the folder belongs to this user.
fn is_blank(attributes: &Attributes) -> bool {
    attributes.uid == trust::me()
}

/// The folder that has this folder's name now, if any.
fn there(intent: &FolderIntent) -> Result<Option<(OwnedFd, Stat, Attributes)>, Refusal> {
    let place = match Place::of(&intent.folder.0) {
        Err(Unfit::Gone) => return Ok(None),
        place => place.map_err(unreachable)?,
    };
    let opened = match open::folder(&place.folder, &place.name) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(TAKEN.to_owned()),
        opened => opened.map_err(said("open the folder"))?,
    };
    let (now, attributes) = attributes::both(&opened).map_err(said("look at the folder"))?;
    Ok(Some((opened, now, attributes)))
}

fn unreachable(unfit: Unfit) -> Refusal {
    match unfit {
        Unfit::Gone => "the folder that it lay in is gone".to_owned(),
        unfit => unfit.to_string(),
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

    fn given(&self) -> Result<(Undone, OwnedFd), Refusal> {
        let Some((opened, now, _)) = there(self.intent)? else {
            return Err("it was removed a moment ago".to_owned());
        };
        if (now.dev, now.ino) != self.identity {
            return Err(TAKEN.to_owned());
        }
        let was = &self.intent.metadata;
        let has_default =
            |(name, _): &(super::Raw, _)| name.0 == attributes::DEFAULT_ACL.to_bytes();
        if !was.xattrs.iter().any(has_default) {
            // The folder above may have given it one.
            let _ = attributes::remove_extended(&opened, attributes::DEFAULT_ACL);
        }
        let missing = metadata::give(&opened, was).map_err(said("give the folder its metadata"))?;
        let above = Place::of(&self.intent.folder.0)
            .map_err(unreachable)?
            .folder;
        let proven = true;
        Ok((Undone::restored(Lack { missing, proven }), above))
    }
}
