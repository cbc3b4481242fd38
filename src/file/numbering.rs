//! How reliable the inode numbers of a file system are.

use crate::sys::statfs;

/// How reliable the inode numbers of a file system are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// One number is one file at any moment, and a file keeps its number.
    Unique,
    /// The same holds for files. A folder may get another number while nothing changes, and one number may
    /// be that of two folders.
    UniqueFiles,
    /// Numbers are made up or passed through from several file systems: two files may have one number, and a
    /// file may get another number while nothing changes.
    #[default]
    Arbitrary,
}

impl Numbering {
    /// The numbering of the file systems whose `statfs` magic number is this one.
    pub fn of_magic(magic: u64) -> Self {
        match magic {
            // overlay: "st_ino will only be unique when combined with st_dev, and both of these can change" when a file
            // is copied up (Documentation/filesystems/overlayfs.rst), which is a change of the file. Folders that are
            // merged from layers on several file systems get a new number each time they come into memory.
            statfs::OVERLAY => Self::UniqueFiles,
            magic if magic == NFS || statfs::has_inodes(magic) => Self::Unique,
            _ => Self::Arbitrary,
        }
    }

    /// True if one number is one file.
    pub fn tells_files(self) -> bool {
        self != Self::Arbitrary
    }

    /// True if one number is one folder.
    pub fn tells_folders(self) -> bool {
        self == Self::Unique
    }
}

/// NFS: "fileid … uniquely identifies the file within the file system" (RFC 8881, 5.8.1.12), and the client refuses a
/// file whose fileid has changed.
const NFS: u64 = 0x6969;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_types_have_numbers_that_are_trusted() {
        assert_eq!(Numbering::of_magic(0xef53), Numbering::Unique);
        assert_eq!(Numbering::of_magic(statfs::OVERLAY), Numbering::UniqueFiles);
        for (name, magic) in [
            ("fuse", 0x6573_5546),
            ("vfat", 0x4d44),
            ("cifs", 0xff53_4d42),
            ("9p", 0x0102_1997),
            ("new", 1),
        ] {
            assert_eq!(Numbering::of_magic(magic), Numbering::Arbitrary, "{name}");
        }
    }
}
