//! The fingerprint of a file, which must not change between scan and read.

use crate::sys::stat::Stat;

use super::Numbering;

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
        match numbering.tells_files() {
            true => self == now,
            false => {
                let ino = self.ino;
                *self == Self { ino, ..*now }
            }
        }
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
