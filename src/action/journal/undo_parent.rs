//! Checks that undo puts a file or a folder back into the folder that the run took it from.
//!
//! A user who may rename the folder can put another one in its place: a folder of root, to which this user may not
//! write, or a folder that is more open than the old one. Undo refuses such a folder.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::AsFd;

use rustix::io::Result;

use super::past::Past;
use crate::action::reason::Code;
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::parent;
use crate::action::ways::folder_identity::FolderIdentity;
use crate::file::trust;
use crate::sys::attributes;

/// The folders that an undo puts files back into.
#[derive(Debug, Default)]
pub(in crate::action) struct Parents {
    /// Folders that this undo or an earlier one created again, by their absolute paths.
    made: RefCell<HashMap<Vec<u8>, FolderIdentity>>,
    ways: RefCell<Ways>,
}

impl Parents {
    /// Starts with the folders that earlier undos created.
    pub(in crate::action) fn of(past: &Past) -> Self {
        let made = past.folders.values().filter_map(|folder| {
            let path = folder.intent.folder.0.clone();
            Some((path, folder.made?))
        });
        Self {
            made: RefCell::new(made.collect()),
            ways: RefCell::default(),
        }
    }

    /// Adds a folder that this undo created.
    pub(in crate::action) fn note(&self, path: &[u8], folder: FolderIdentity) {
        self.made.borrow_mut().insert(path.to_vec(), folder);
    }

    /// The reason why a file or folder of this owner may not be put into this open folder, if so. `was` is its folder
    /// before the run.
    ///
    /// Another folder is accepted if it is on a file system of the same type, and nobody else could have put it there,
    /// or only the owner of both.
    pub(in crate::action) fn accept(
        &self,
        folder: impl AsFd + Copy,
        path: &[u8],
        was: FolderIdentity,
        owner: u32,
    ) -> Result<Option<Code>> {
        let now = FolderIdentity::of(folder)?;
        let is_made = |made: &HashMap<_, FolderIdentity>| made.get(path).is_some_and(|m| m.is(now));
        // On other file systems, an unchanged folder may get another inode number. The present file system does not
        // decide that: another user may have mounted it since.
        let is_stable = was.stable;
        if was.is(now) || is_made(&self.made.borrow()) {
            return Ok(None);
        }
        let owner_now = attributes::get(folder)?.uid;
        let (mut ways, above) = (self.ways.borrow_mut(), parent(path));
        let is_owners = owner_now == owner && ways.is_closed(above, owner);
        let is_placed = !(is_owners
            || trust::is_trusted(owner_now).is_ok() && ways.is_closed(above, trust::me()));
        Ok(if is_placed && is_stable {
            Some(Code::AnotherFolder)
        } else {
            was.is_elsewhere(now).then_some(Code::FolderElsewhere)
        })
    }
}
