//! File identity: the only place that decides whether two looks met one file.
//!
//! Two mistakes are possible, and each loses data. If two files are taken for one, different contents become
//! one set, or a file is never read. If one file is taken for two, it is reported as its own duplicate.
//! So there are three answers, and the third one is "cannot tell".

use crate::sys::stat::Stat;
use crate::sys::statfs;

/// Identity and state of a file at one moment. Two equal fingerprints of one path say that the
/// bytes between the two moments did not change (as far as the file system's clock can tell).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Device number of the file system.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Length, bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970. Linking a further name to the file
    /// changes it too; such a file is reported as changed rather than trusted.
    pub ctime_ns: i64,
}

impl Fingerprint {
    /// True if a file that was just opened by name is the one that was expected, in the same state. Where inode
    /// numbers may change while nothing else does, the name has led to it, and the rest decides.
    pub fn is_met_by(&self, now: &Self, numbering: Numbering) -> bool {
        let ino = if numbering.tells_files() {
            now.ino
        } else {
            self.ino
        };
        *self == Self { ino, ..*now }
    }
}

impl From<&Stat> for Fingerprint {
    fn from(s: &Stat) -> Self {
        Self {
            dev: s.dev,
            ino: s.ino,
            size: s.size,
            mtime_ns: s.mtime_ns,
            ctime_ns: s.ctime_ns,
        }
    }
}

/// How reliable the inode numbers of a file system are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// A catalog: as in `Unique`, and no two rows are for one name, so a file with one name has one row.
    Listed,
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
        matches!(self, Self::Listed | Self::Unique)
    }
}

/// NFS: "fileid … uniquely identifies the file within the file system" (RFC 8881, 5.8.1.12), and the client refuses a
/// file whose fileid has changed.
const NFS: u64 = 0x6969;

/// Number of a device number (`st_dev`) in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevIndex(pub u16);

impl From<DevIndex> for usize {
    fn from(dev: DevIndex) -> Self {
        dev.0.into()
    }
}

/// Number of a file (an inode) in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(pub u32);

/// A folder as it was met: what tells it from all others at that moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderId {
    /// `st_dev` of its file system.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// The mount through which it was reached. Below another mount of the same folder other things may be
    /// mounted.
    pub mount: u64,
}

impl From<&Stat> for FolderId {
    fn from(stat: &Stat) -> Self {
        Self {
            dev: stat.dev,
            ino: stat.ino,
            mount: stat.mount,
        }
    }
}

/// Tests have one mount.
#[cfg(test)]
impl From<(u64, u64)> for FolderId {
    fn from((dev, ino): (u64, u64)) -> Self {
        Self { dev, ino, mount: 0 }
    }
}

/// The state of a name at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The file and its state.
    pub state: Fingerprint,
    /// Names of the file, inside and outside the searched folders.
    pub links: u32,
    /// The mount through which it was reached, in any numbering that tells mounts apart.
    pub mount: u64,
    /// The name is a directory entry of the file itself: neither a symbolic link to it, nor an entry on which
    /// the file is mounted.
    pub is_entry: bool,
}

/// The answer to "did these two looks meet one file?". Only [`Sameness::between`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// They met one file.
    Same,
    /// They met two, or one whose state changed in between.
    Other,
    /// The looks do not prove whether they met one file or two.
    Unknown,
}

impl Sameness {
    /// Compares two looks at different names. (The same name in the same folder needs no comparison.)
    pub fn between(a: &Sighting, b: &Sighting, numbering: Numbering) -> Self {
        // A state that differs is that of another file, or of the same one after a change. The difference does not
        // matter: a reader does not find the older state any more.
        if a.state != b.state || a.links != b.links {
            return Self::Other;
        }
        // A file with one name has one entry in each mount. A second one is another file with the same
        // number, or the file was moved between the looks; then the first name leads nowhere.
        if a.links <= 1 && a.mount == b.mount && a.is_entry && b.is_entry {
            return Self::Other;
        }
        if numbering.tells_files() {
            Self::Same
        } else {
            Self::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Sighting = Sighting {
        state: Fingerprint {
            dev: 1,
            ino: 2,
            size: 3,
            mtime_ns: 4,
            ctime_ns: 5,
        },
        links: 1,
        mount: 1,
        is_entry: true,
    };

    fn changed(change: impl FnOnce(&mut Sighting)) -> Sighting {
        let mut sighting = FILE;
        change(&mut sighting);
        sighting
    }

    #[test]
    fn what_two_looks_say() {
        use Sameness::{Other, Same, Unknown};
        let two_names = changed(|s| s.links = 2);
        let elsewhere = changed(|s| s.mount = 2);
        let through_link = changed(|s| s.is_entry = false);
        // What was met first, what was met then, the answers for unique and for arbitrary numbers.
        let table = [
            ("hard links", two_names, two_names, Same, Unknown),
            (
                "a moved file, or one number for two files",
                FILE,
                FILE,
                Other,
                Other,
            ),
            ("a bind mount", FILE, elsewhere, Same, Unknown),
            ("a symbolic link to it", FILE, through_link, Same, Unknown),
            (
                "a file mounted on a file",
                through_link,
                FILE,
                Same,
                Unknown,
            ),
            (
                "hard links below two mounts",
                two_names,
                Sighting {
                    mount: 2,
                    ..two_names
                },
                Same,
                Unknown,
            ),
            (
                "removed names",
                changed(|s| s.links = 0),
                changed(|s| s.links = 0),
                Other,
                Other,
            ),
            (
                "another inode",
                FILE,
                changed(|s| s.state.ino = 9),
                Other,
                Other,
            ),
            (
                "another device",
                FILE,
                changed(|s| s.state.dev = 9),
                Other,
                Other,
            ),
            (
                "it grew",
                two_names,
                changed(|s| (s.links, s.state.size) = (2, 9)),
                Other,
                Other,
            ),
            (
                "written to",
                two_names,
                changed(|s| (s.links, s.state.mtime_ns) = (2, 9)),
                Other,
                Other,
            ),
            (
                "its inode was given to another",
                two_names,
                changed(|s| (s.links, s.state.ctime_ns) = (2, 9)),
                Other,
                Other,
            ),
            ("one more link", FILE, two_names, Other, Other),
        ];
        for (case, a, b, unique, arbitrary) in table {
            for (numbering, expected) in [
                (Numbering::Unique, unique),
                (Numbering::Arbitrary, arbitrary),
            ] {
                assert_eq!(
                    Sameness::between(&a, &b, numbering),
                    expected,
                    "{case}, {numbering:?}"
                );
                assert_eq!(
                    Sameness::between(&b, &a, numbering),
                    expected,
                    "{case}, {numbering:?}, turned"
                );
            }
        }
    }
}
