//! A temporary folder that only this user may enter, in which undo creates a folder.
//!
//! `mkdir` does not open the folder that it creates. In a folder of another user, this user can rename another folder
//! to the same name before seekless opens it. In a closed folder, only the user who runs undo can rename entries. So
//! undo knows the folder that it created, and records it in the journal before the folder gets its name.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::folder_entry::Place;
use super::folder_identity::FolderIdentity;
use super::swap;
use super::undo_step::{Refusal, said};
use crate::file::trust;
use crate::sys::{attributes, names, open, parent};

/// A closed folder beside the place of the folder that is created.
pub(super) struct ClosedFolder {
    /// The place of the new folder.
    place: Place,
    /// The name of the closed folder, and of the new folder in it.
    name: CString,
    folder: OwnedFd,
}

impl ClosedFolder {
    /// Creates the folder for a step, or opens the folder that a killed undo left behind.
    pub(super) fn make(place: Place, run: &str, step: u64) -> Result<Self, Refusal> {
        let name = name(run, step);
        let is_new = parent::make_folder(&place.folder, &name, 0o700);
        let is_new = is_new.map_err(said("create a temporary folder"))?;
        let folder = Self::open(&place, &name).inspect_err(|_| {
            if is_new {
                // It stays if something is in it.
                let _ = names::remove_folder(&place.folder, &name);
            }
        })?;
        Ok(Self {
            place,
            name,
            folder,
        })
    }

    fn open(place: &Place, name: &CStr) -> Result<OwnedFd, Refusal> {
        let folder =
            open::folder(&place.folder, name).map_err(said("open the temporary folder"))?;
        let now = attributes::get(&folder).map_err(said("examine the temporary folder"))?;
        let is_closed = now.uid == trust::me() && now.mode & 0o077 == 0;
        if !is_closed && attributes::modes_are_made_up(&folder) != Ok(true) {
            let name = name.to_string_lossy();
            return Err(format!(
                "{name} in the same folder is not a temporary folder of seekless: move it away"
            ));
        }
        Ok(folder)
    }

    /// Creates the new folder inside. It gets its final name later.
    pub(super) fn create(&self) -> Result<FolderIdentity, Refusal> {
        const MAKING: &str = "create the folder again";
        // A killed undo may have left one behind.
        let _ = names::remove_folder(&self.folder, &self.name);
        match parent::make_folder(&self.folder, &self.name, 0o700).map_err(said(MAKING))? {
            true => {}
            false => return Err(said(MAKING)(Errno::EXIST)),
        }
        let new = open::folder(&self.folder, &self.name).map_err(said(MAKING))?;
        FolderIdentity::of(&new).map_err(said(MAKING))
    }

    /// Gives the new folder its name, unless something has it.
    pub(super) fn give_name(&self) -> rustix::io::Result<()> {
        let Place { folder, name } = &self.place;
        names::rename_no_replace(&self.folder, &self.name, folder, name)
    }

    /// Removes the closed folder, and the new folder if it is still inside.
    pub(super) fn clear(self) {
        let _ = names::remove_folder(&self.folder, &self.name);
        let is = |folder: &OwnedFd| FolderIdentity::of(folder).ok();
        let there = open::folder(&self.place.folder, &self.name).ok();
        let there = there.and_then(|there| is(&there));
        if there.is_some() && there == is(&self.folder) {
            let _ = names::remove_folder(&self.place.folder, &self.name);
        }
    }
}

/// Removes the closed folder that a killed undo left behind, if there is one.
pub(super) fn clear(place: Place, run: &str, step: u64) {
    let name = name(run, step);
    if let Ok(folder) = ClosedFolder::open(&place, &name) {
        let left = ClosedFolder {
            place,
            name,
            folder,
        };
        left.clear();
    }
}

fn name(run: &str, step: u64) -> CString {
    swap::sibling(&swap::temporary(run, step), "undo")
}
