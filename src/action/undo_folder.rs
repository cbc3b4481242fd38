//! Restores removed folders. It first creates the folders, the outermost first, so that files can be moved back into
//! them. At the end it restores their metadata, the innermost first.
//!
//! Until then, only the user who runs the undo may enter them.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};

use rustix::io::Errno;

use super::action_kind::Reversal;
use super::closed_folder::{self, ClosedFolder, NewFolder};
use super::folder_entry::{NameInFolder, parent};
use super::folder_identity::FolderIdentity;
use super::metadata;
use super::past::PastFolder;
use super::places::{Refusal, said};
use super::reason::{Code, Reason};
use super::record::{FolderIntent, Record};
use super::undo_parent::Parents;
use super::undone::{Lack, Undone};
use crate::sys::{attributes, open};

/// The progress of restoring a folder.
pub(super) enum Back<'a> {
    /// No work is left.
    Ended(Undone),
    /// The folder exists, and gets its metadata when the files are back in it.
    Made(MadeAgain<'a>),
    /// The folder was created. It must be recorded before it gets its name.
    Unnamed(Unnamed<'a>),
}

/// A folder that was created again.
pub(super) struct MadeAgain<'a> {
    pub intent: &'a FolderIntent,
    pub identity: FolderIdentity,
}

/// The expected result of an undo.
pub(super) fn foretell(folder: &PastFolder, parents: &Parents) -> Undone {
    if folder.intent.action.reversal() == Reversal::Impossible {
        return Undone::Impossible;
    }
    let intent = &folder.intent;
    let place = NameInFolder::of(&intent.folder.0).map_err(unreachable);
    let foretold = place.and_then(|place| match there(&place)? {
        Some((_, now)) => known(folder, now).ok_or_else(|| TAKEN.to_owned()),
        None => may_come(&place, intent, parents).map(|()| Undone::Restored),
    });
    foretold.unwrap_or_else(Undone::Refused)
}

/// Creates a folder again, unless it exists. The new folder gets its name later.
pub(super) fn make<'a>(
    folder: &'a PastFolder,
    parents: &Parents,
    closed: &mut ClosedFolders,
    run: &str,
) -> Back<'a> {
    if folder.intent.action.reversal() == Reversal::Impossible {
        return Back::Ended(Undone::Impossible);
    }
    made(folder, parents, closed, run).unwrap_or_else(|why| Back::Ended(Undone::Refused(why)))
}

/// The closed folders in use, by the path of the folder that they lie in: one serves all new folders there.
pub(super) type ClosedFolders = HashMap<Vec<u8>, Weak<ClosedFolder>>;

const TAKEN: &str = "another folder or file has its name now";

fn made<'a>(
    folder: &'a PastFolder,
    parents: &Parents,
    closed: &mut ClosedFolders,
    run: &str,
) -> Result<Back<'a>, Refusal> {
    let intent = &folder.intent;
    let place = NameInFolder::of(&intent.folder.0).map_err(unreachable)?;
    let there = there(&place);
    if !matches!(there, Ok(None)) {
        // A killed undo may have left it behind, whatever has the name now.
        closed_folder::clear(place.folder, run, intent.step);
        let Some((_, identity)) = there? else {
            return Err(TAKEN.to_owned());
        };
        return match known(folder, identity) {
            Some(Undone::Restored) => Ok(Back::Made(MadeAgain { intent, identity })),
            Some(undone) => Ok(Back::Ended(undone)),
            None => Err(TAKEN.to_owned()),
        };
    }
    may_come(&place, intent, parents)?;
    let path = parent(&intent.folder.0);
    let in_use = closed.get(path).and_then(Weak::upgrade);
    let one = match in_use.filter(|one| one.is_in(&place.folder)) {
        Some(one) => one,
        None => {
            let one = Rc::new(ClosedFolder::make(place.folder, run, intent.step)?);
            closed.insert(path.to_vec(), Rc::downgrade(&one));
            one
        }
    };
    let (new, identity) = NewFolder::make(one, place.name, run, intent.step)?;
    Ok(Back::Unnamed(Unnamed {
        again: MadeAgain { intent, identity },
        new,
    }))
}

/// A new folder that has no name yet.
pub(super) struct Unnamed<'a> {
    again: MadeAgain<'a>,
    new: NewFolder,
}

impl<'a> Unnamed<'a> {
    pub(super) fn intent(&self) -> &'a FolderIntent {
        self.again.intent
    }

    /// The record that must be in the journal before the folder gets its name.
    pub(super) fn record(&self) -> Record {
        Record::FolderMade {
            step: self.again.intent.step,
            folder: self.again.identity,
        }
    }

    /// Gives the folder its name.
    pub(super) fn name(self) -> Result<MadeAgain<'a>, Refusal> {
        match self.new.give_name() {
            Err(Errno::EXIST | Errno::NOTEMPTY) => Err(TAKEN.to_owned()),
            named => named
                .map(|()| self.again)
                .map_err(said("create the folder again")),
        }
    }

    /// Removes the folder, because it is not recorded: another undo would take it for another folder. Returns the
    /// reason.
    pub(super) fn discard(self) -> Refusal {
        self.new.discard();
        "the journal could not be written, so the folder was not created again".to_owned()
    }
}

/// Checks the folder that contained the removed one.
fn may_come(place: &NameInFolder, intent: &FolderIntent, parents: &Parents) -> Result<(), Refusal> {
    let (path, owner) = (parent(&intent.folder.0), intent.metadata.uid);
    let accepted = parents.accept(&place.folder, path, intent.parent, owner);
    match accepted.map_err(said("examine its parent folder"))? {
        None => Ok(()),
        Some(why) => Err(format!("{why}: create the folder yourself")),
    }
}

/// The next action for a known folder; `None` if the folder is unknown.
fn known(folder: &PastFolder, now: FolderIdentity) -> Option<Undone> {
    if folder.made.is_some_and(|made| made.is(now)) {
        return Some(Undone::Restored);
    }
    // A new folder often gets the inode number of one that was removed.
    let may_be_there = folder.made.is_none() && !folder.removed;
    (may_be_there && now.ino == folder.intent.ino).then_some(Undone::AsBefore)
}

/// The folder that has the name now, if any.
fn there(place: &NameInFolder) -> Result<Option<(OwnedFd, FolderIdentity)>, Refusal> {
    let opened = match open::folder(&place.folder, &place.name) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => return Err(TAKEN.to_owned()),
        opened => opened.map_err(said("open the folder"))?,
    };
    let now = FolderIdentity::of(&opened).map_err(said("examine the folder"))?;
    Ok(Some((opened, now)))
}

fn unreachable(why: Reason) -> Refusal {
    match why.code {
        Code::Gone => "its parent folder no longer exists".to_owned(),
        _ => why.to_string(),
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
        let place = NameInFolder::of(&self.intent.folder.0).map_err(unreachable)?;
        let Some((opened, now)) = there(&place)? else {
            return Err("it was removed a moment ago".to_owned());
        };
        if !now.is(self.identity) {
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
        let proven = true;
        Ok((Undone::restored(Lack { missing, proven }), place.folder))
    }
}
