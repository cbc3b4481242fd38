//! Folders that a step created. They get their attributes when they are filled, and are removed if the step is not
//! carried out.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::io::{Result, fcntl_dupfd_cloexec};

use crate::action::ways::folder_identity::FolderIdentity;
use crate::action::ways::folder_traits::FolderTraits;
use crate::sys::names;

/// Created folders.
#[derive(Debug, Default)]
pub struct Made(RefCell<Vec<Entry>>);

/// A created folder, with the folder above it.
#[derive(Debug)]
struct Entry {
    parent: OwnedFd,
    name: CString,
    /// The absolute path.
    path: Vec<u8>,
    /// Open for reading.
    folder: OwnedFd,
    /// The traits that it gets when it is filled; until then, only its creator may enter.
    traits: Option<FolderTraits>,
}

impl Made {
    /// Records a created folder.
    pub fn note(
        &self,
        parent: &OwnedFd,
        name: &CStr,
        path: Vec<u8>,
        folder: &OwnedFd,
        traits: Option<FolderTraits>,
    ) -> Result<()> {
        self.0.borrow_mut().push(Entry {
            parent: fcntl_dupfd_cloexec(parent, 0)?,
            name: name.to_owned(),
            path,
            folder: fcntl_dupfd_cloexec(folder, 0)?,
            traits,
        });
        Ok(())
    }

    /// True if the folder with this absolute path was created.
    pub fn has(&self, path: &[u8]) -> bool {
        self.0.borrow().iter().any(|entry| entry.path == path)
    }

    /// The existing created folders, each with its absolute path, the outermost first.
    pub fn identified(&self) -> Vec<(Vec<u8>, FolderIdentity)> {
        let entries = self.0.borrow();
        let known = entries.iter().filter_map(|entry| {
            let folder = FolderIdentity::of(&entry.folder).ok()?;
            Some((entry.path.clone(), folder))
        });
        known.collect()
    }

    /// Applies their attributes to all of them, the innermost first: a closed outer folder protects it meanwhile.
    ///
    /// Returns the attributes that could not be applied, for the user. A folder that lacks some of them is open to no
    /// user who could not enter the original.
    pub fn open_up(&self) -> Option<String> {
        let mut missing = Vec::new();
        for entry in self.0.borrow_mut().drain(..).rev() {
            for what in entry.traits.iter().flat_map(|t| t.give(&entry.folder)) {
                if !missing.contains(&what) {
                    missing.push(what);
                }
            }
        }
        (!missing.is_empty()).then(|| {
            let missing = missing.join(" and ");
            format!("a new folder on its path does not have the {missing} of the original folder")
        })
    }

    /// Removes the empty ones; a file that another process put into one keeps it.
    pub fn take_back(&self) {
        let mut entries = self.0.borrow_mut();
        for place in (0..entries.len()).rev() {
            let entry = &entries[place];
            if names::remove_folder(&entry.parent, &entry.name).is_ok() {
                entries.remove(place);
            }
        }
    }
}
