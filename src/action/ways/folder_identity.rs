//! The identity of a folder in a journal, and whether undo puts files back into the folder that has its path now.
//!
//! A user who may rename the folder can put another one in its place: a folder of root, to which this user may not
//! write, or a folder that is more open than the old one. Undo refuses such a folder.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::AsFd;

use rustix::io::Result;
use serde::{Deserialize, Serialize};

use super::Ways;
use super::folder_entry::parent;
use crate::action::reason::Code;
use crate::file::trust;
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{attributes, stat};

/// Properties that distinguish a folder from any folder that gets its path later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderIdentity {
    /// Inode number.
    pub ino: u64,
    /// Creation time of the folder, nanoseconds since 1970, if the file system stores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub birth_ns: Option<i64>,
    /// True if the file system stores inode numbers, so that an unchanged folder keeps its own.
    pub stable: bool,
    /// The type of its file system: `f_type` of statfs(2), if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<u64>,
}

impl FolderIdentity {
    /// The identity of an open folder.
    pub fn of(folder: impl AsFd) -> Result<Self> {
        Ok(Self {
            ino: stat::descriptor(&folder)?.ino,
            birth_ns: stat::birth_ns(&folder, c".", false),
            stable: statfs::served_by(&folder) == ServedBy::Kernel,
            file_system: statfs::magic(&folder),
        })
    }

    /// True if both are the same folder. An inode number may be given again; a creation time is compared if both are
    /// known. A program that answers for a mount may report any number and any time, so a folder on such a mount is
    /// never one that the kernel stored.
    pub fn is(self, other: Self) -> bool {
        let births = self.birth_ns.zip(other.birth_ns);
        self.ino == other.ino
            && births.is_none_or(|(one, other)| one == other)
            && !self.is_elsewhere(other)
    }

    /// True if both are on file systems of different types, or if only one of them is stored by the kernel.
    pub fn is_elsewhere(self, other: Self) -> bool {
        let types = self.file_system.zip(other.file_system);
        self.stable != other.stable || types.is_some_and(|(one, other)| one != other)
    }
}

/// The folders that steps, or an undo, put files into.
#[derive(Debug, Default)]
pub(in crate::action) struct Parents {
    /// Folders that this undo or an earlier one created again, by their absolute paths.
    made: RefCell<HashMap<Vec<u8>, FolderIdentity>>,
    ways: RefCell<Ways>,
}

impl Parents {
    /// Starts with folders that earlier undos created: absolute paths.
    pub(in crate::action) fn with(made: impl Iterator<Item = (Vec<u8>, FolderIdentity)>) -> Self {
        Self {
            made: RefCell::new(made.collect()),
            ways: RefCell::default(),
        }
    }

    /// Adds a folder that this undo created.
    pub(in crate::action) fn note(&self, path: &[u8], folder: FolderIdentity) {
        self.made.borrow_mut().insert(path.to_vec(), folder);
    }

    /// True if only root, this user and this owner may change a folder and those above it. They stay so: nobody else
    /// can change that.
    pub(in crate::action) fn are_closed(&self, path: &[u8], owner: u32) -> bool {
        self.ways.borrow_mut().is_closed(path, owner)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_number_is_another_folder_unless_no_time_tells() {
        let folder = |ino, birth_ns| FolderIdentity {
            ino,
            birth_ns,
            stable: true,
            file_system: None,
        };
        // Numbers and times that a program reports are not those that the kernel stored.
        let reported = |folder| FolderIdentity {
            stable: false,
            ..folder
        };
        let on = |file_system| FolderIdentity {
            file_system: Some(file_system),
            ..folder(1, None)
        };
        for (one, other, expected) in [
            (folder(1, Some(5)), folder(1, Some(5)), true),
            (folder(1, Some(5)), folder(1, Some(6)), false),
            (folder(1, None), folder(1, Some(6)), true),
            (folder(1, None), folder(1, None), true),
            (folder(1, Some(5)), folder(2, Some(5)), false),
            (folder(1, Some(5)), reported(folder(1, Some(5))), false),
            (
                reported(folder(1, Some(5))),
                reported(folder(1, Some(5))),
                true,
            ),
            (on(1), on(1), true),
            (on(1), on(2), false),
            (folder(1, None), on(2), true),
        ] {
            assert_eq!(one.is(other), expected, "{one:?} {other:?}");
            assert_eq!(other.is(one), expected, "{other:?} {one:?}");
        }
    }
}
