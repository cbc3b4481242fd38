//! A temporary folder that only this user may enter, in which undo creates a folder.
//!
//! `mkdir` does not open the folder that it creates. In a folder of other users, another folder may have the name
//! before it is opened. In a closed folder only this user can rename, whichever folder that is: so the created folder
//! is known, and is in the journal before it gets its name.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::folder_identity::FolderIdentity;
use super::swap;
use super::undo_step::{Refusal, said};
use crate::file::trust;
use crate::sys::{attributes, names, open, parent};

/// A closed folder beside the place of the folder that is created.
pub(super) struct ClosedFolder<'a> {
    above: &'a OwnedFd,
    /// The name of the closed folder, and of the new folder in it.
    name: CString,
    folder: OwnedFd,
}

impl<'a> ClosedFolder<'a> {
    /// Creates the folder for a step, or opens that of an undo that was killed.
    pub(super) fn make(above: &'a OwnedFd, run: &str, step: u64) -> Result<Self, Refusal> {
        let name = name(run, step);
        let is_new = parent::make_folder(above, &name, 0o700);
        let is_new = is_new.map_err(said("make a temporary folder"))?;
        let opened = Self::open(above, name.clone());
        if is_new && opened.is_err() {
            // It stays if something is in it.
            let _ = names::remove_folder(above, &name);
        }
        opened
    }

    fn open(above: &'a OwnedFd, name: CString) -> Result<Self, Refusal> {
        let folder = open::folder(above, &name).map_err(said("open the temporary folder"))?;
        let now = attributes::get(&folder).map_err(said("look at the temporary folder"))?;
        let is_closed = now.uid == trust::me() && now.mode & 0o077 == 0;
        if !is_closed && attributes::modes_are_made_up(&folder) != Ok(true) {
            let name = name.to_string_lossy();
            return Err(format!(
                "{name} in the same folder is not a temporary folder of seekless: move it away"
            ));
        }
        Ok(Self {
            above,
            name,
            folder,
        })
    }

    /// Creates the new folder, without its name.
    pub(super) fn create(&self) -> Result<FolderIdentity, Refusal> {
        const MAKING: &str = "make the folder again";
        // That of an undo that was killed.
        let _ = names::remove_folder(&self.folder, &self.name);
        match parent::make_folder(&self.folder, &self.name, 0o700).map_err(said(MAKING))? {
            true => {}
            false => return Err(said(MAKING)(Errno::EXIST)),
        }
        let new = open::folder(&self.folder, &self.name).map_err(said(MAKING))?;
        FolderIdentity::of(&new).map_err(said(MAKING))
    }

    /// Gives the new folder its name, unless something has it.
    pub(super) fn give_name(&self, name: &CStr) -> rustix::io::Result<()> {
        names::rename_no_replace(&self.folder, &self.name, self.above, name)
    }

    /// Removes the closed folder, and a new folder that has no other name.
    pub(super) fn clear(self) {
        let _ = names::remove_folder(&self.folder, &self.name);
        let is = |folder: &OwnedFd| FolderIdentity::of(folder).ok();
        let there = open::folder(self.above, &self.name).ok();
        let there = there.and_then(|there| is(&there));
        if there.is_some() && there == is(&self.folder) {
            let _ = names::remove_folder(self.above, &self.name);
        }
    }
}

/// Removes the closed folder of an undo that was killed, if it is still there.
pub(super) fn clear(above: &OwnedFd, run: &str, step: u64) {
    if let Ok(left) = ClosedFolder::open(above, name(run, step)) {
        left.clear();
    }
}

fn name(run: &str, step: u64) -> CString {
    swap::sibling(&swap::temporary(run, step), "undo")
}
