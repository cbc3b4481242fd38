//! The identity of a folder in a journal: another folder that gets its path later differs from it.

use std::os::fd::AsFd;

use rustix::io::Result;
use serde::{Deserialize, Serialize};

use crate::sys::stat;
use crate::sys::statfs::{self, ServedBy};

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
        for (one, other, expected) in [
            (folder(1, Some(5)), folder(1, Some(5)), true),
            (folder(1, Some(5)), folder(1, Some(6)), false),
            (folder(1, None), folder(1, Some(6)), true),
            (folder(1, None), folder(1, None), true),
            (folder(1, Some(5)), folder(2, Some(5)), false),
        ] {
            assert_eq!(one.is(other), expected, "{one:?} {other:?}");
            assert_eq!(other.is(one), expected, "{other:?} {one:?}");
        }
    }

    #[test]
    fn what_a_program_reports_is_not_what_the_kernel_stored() {
        let folder = |stable| FolderIdentity {
            ino: 1,
            birth_ns: Some(5),
            stable,
            file_system: None,
        };
        for (one, other, expected) in [
            (true, true, true),
            (true, false, false),
            (false, false, true),
        ] {
            assert_eq!(folder(one).is(folder(other)), expected, "{one:?} {other:?}");
            assert_eq!(folder(other).is(folder(one)), expected, "{other:?} {one:?}");
        }
    }

    #[test]
    fn a_folder_on_another_type_of_file_system_is_another_one() {
        let folder = |file_system| FolderIdentity {
            ino: 1,
            birth_ns: None,
            stable: true,
            file_system,
        };
        assert!(folder(Some(1)).is(folder(Some(1))));
        assert!(!folder(Some(1)).is(folder(Some(2))));
        assert!(folder(None).is(folder(Some(2))));
    }
}
