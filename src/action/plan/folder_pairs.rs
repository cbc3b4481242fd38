//! Folders that replace each other, by a report of folders.

use std::collections::HashMap;

use crate::action::bounds::Below;
use crate::action::ways::folder_entry::parent;

/// Folders whose files may be removed, each with the folder that has copies of these files.
#[derive(Clone, Debug, Default)]
pub struct FolderPairs {
    others: HashMap<Vec<u8>, Vec<Vec<u8>>>,
}

impl FolderPairs {
    /// Allows the removal of files below `folder` if a copy below `other` stays, or is itself removed for a copy that
    /// stays.
    pub fn add(&mut self, folder: &Below, other: &Below) {
        let others = self.others.entry(folder.path().to_vec()).or_default();
        others.push(other.path().to_vec());
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// The pairs whose first folder holds a path.
    pub(super) fn of<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let above = std::iter::successors(Some(parent(path)), |&at| {
            (!at.is_empty()).then(|| parent(at))
        });
        above.flat_map(|folder| {
            let others = self.others.get(folder).into_iter().flatten();
            others.map(move |other| (folder, other.as_slice()))
        })
    }
}
