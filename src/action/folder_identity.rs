//! The identity of a folder in a journal: another folder that gets its path later differs from it.

use std::os::fd::AsFd;

use rustix::io::Result;
use serde::{Deserialize, Serialize};

use crate::sys::stat;

/// Properties that distinguish a folder from any folder that gets its path later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderIdentity {
    /// Inode number.
    pub ino: u64,
    /// Creation time of the folder, nanoseconds since 1970, if the file system stores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub birth_ns: Option<i64>,
}

impl FolderIdentity {
    /// The identity of an open folder.
    pub fn of(folder: impl AsFd) -> Result<Self> {
        Ok(Self {
            ino: stat::descriptor(&folder)?.ino,
            birth_ns: stat::birth_ns(&folder, c".", false),
        })
    }

    /// True if both are the same folder. An inode number may be given again; a creation time is compared if both are
    /// known.
    pub fn is(self, other: Self) -> bool {
        let is_other_birth = |(one, other)| one != other;
        let births = self.birth_ns.zip(other.birth_ns);
        self.ino == other.ino && !births.is_some_and(is_other_birth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_number_is_another_folder_unless_no_time_tells() {
        let folder = |ino, birth_ns| FolderIdentity { ino, birth_ns };
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
}
