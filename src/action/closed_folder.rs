//! A temporary folder that only this user may enter, in which undo creates folders.
//!
//! `mkdir` does not open the folder that it creates. In a folder of another user, this user can rename another folder
//! to the same name before seekless opens it. In a closed folder, only the user who runs undo can rename entries. So
//! undo knows the folder that it created, and records it in the journal before the folder gets its name.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::io::Errno;

use super::folder_identity::FolderIdentity;
use super::places::{Refusal, said};
use super::temporary::{self, is_temporary};
use crate::file::trust;
use crate::sys::dirent::{Buffer, Entries};
use crate::sys::{attributes, names, open, parent, stat};

/// A closed folder beside the places of the folders that are created in it.
pub(super) struct ClosedFolder {
    /// The folder that gets the new folders.
    above: OwnedFd,
    /// The name of the closed folder.
    name: CString,
    folder: OwnedFd,
}

/// A new folder in a closed one.
pub(super) struct NewFolder {
    closed: Rc<ClosedFolder>,
    /// Its name in the closed folder.
    temporary: CString,
    /// Its final name.
    name: CString,
}

impl ClosedFolder {
    /// Creates the folder, with the name of a step, or opens the folder that a killed undo left behind.
    pub(super) fn make(above: OwnedFd, run: &str, step: u64) -> Result<Self, Refusal> {
        let name = name(run, step);
        let is_new = parent::make_folder(&above, &name, 0o700);
        let is_new = is_new.map_err(said("create a temporary folder"))?;
        let folder = Self::open(&above, &name).inspect_err(|_| {
            if is_new {
                // It stays if something is in it.
                let _ = names::remove_folder(&above, &name);
            }
        })?;
        let closed = Self {
            above,
            name,
            folder,
        };
        if !is_new {
            closed.empty();
        }
        Ok(closed)
    }

    /// True if the closed folder lies in this folder.
    pub(super) fn is_in(&self, folder: impl AsFd) -> bool {
        let number = |folder: BorrowedFd<'_>| stat::descriptor(folder).ok();
        let (one, other) = (number(self.above.as_fd()), number(folder.as_fd()));
        one.zip(other)
            .is_some_and(|(one, other)| (one.dev, one.ino) == (other.dev, other.ino))
    }

    fn open(above: &OwnedFd, name: &CStr) -> Result<OwnedFd, Refusal> {
        let folder = open::folder(above, name).map_err(said("open the temporary folder"))?;
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

    /// Removes the new folders that a killed undo left inside; those with entries stay.
    fn empty(&self) {
        let mut left = Vec::new();
        let mut buffer = Buffer::default();
        let _ = Entries::of(&self.folder, &mut buffer).each(|name, _, _| {
            left.push(name.to_owned());
            true
        });
        let left = left.iter().filter(|name| is_temporary(name.to_bytes()));
        left.for_each(|name| {
            let _ = names::remove_folder(&self.folder, name);
        });
    }
}

/// Removes the closed folder, unless something is inside.
impl Drop for ClosedFolder {
    fn drop(&mut self) {
        let is = |folder: &OwnedFd| FolderIdentity::of(folder).ok();
        let there = open::folder(&self.above, &self.name).ok();
        let there = there.and_then(|there| is(&there));
        if there.is_some() && there == is(&self.folder) {
            let _ = names::remove_folder(&self.above, &self.name);
        }
    }
}

impl NewFolder {
    /// Creates a folder for a step inside a closed one. It gets its final name later.
    pub(super) fn make(
        closed: Rc<ClosedFolder>,
        name: CString,
        run: &str,
        step: u64,
    ) -> Result<(Self, FolderIdentity), Refusal> {
        const MAKING: &str = "create the folder again";
        let temporary = self::name(run, step);
        match parent::make_folder(&closed.folder, &temporary, 0o700).map_err(said(MAKING))? {
            true => {}
            false => return Err(said(MAKING)(Errno::EXIST)),
        }
        let new = Self {
            closed,
            temporary,
            name,
        };
        let identity = open::folder(&new.closed.folder, &new.temporary)
            .and_then(|folder| FolderIdentity::of(&folder));
        match identity {
            Ok(identity) => Ok((new, identity)),
            Err(error) => {
                new.discard();
                Err(said(MAKING)(error))
            }
        }
    }

    /// Gives it its name, unless something has the name: then it is removed.
    pub(super) fn give_name(self) -> rustix::io::Result<()> {
        let ClosedFolder { above, folder, .. } = &*self.closed;
        let named = names::rename_no_replace(folder, &self.temporary, above, &self.name);
        if named.is_err() {
            self.discard();
        }
        named
    }

    /// Removes it.
    pub(super) fn discard(self) {
        let _ = names::remove_folder(&self.closed.folder, &self.temporary);
    }
}

/// Removes the closed folder that a killed undo left behind, if there is one.
pub(super) fn clear(above: OwnedFd, run: &str, step: u64) {
    let name = name(run, step);
    if let Ok(folder) = ClosedFolder::open(&above, &name) {
        let left = ClosedFolder {
            above,
            name,
            folder,
        };
        left.empty();
    }
}

fn name(run: &str, step: u64) -> CString {
    temporary::ours(&temporary::temporary(run, step))
}
