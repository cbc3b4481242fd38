//! The state of a file: what differs after a change.

use crate::file::Fingerprint;

/// The state of a file, which differs after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// Length, bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970. No call sets it.
    pub ctime_ns: i64,
}

impl From<&Fingerprint> for FileState {
    fn from(file: &Fingerprint) -> Self {
        Self {
            size: file.size,
            mtime_ns: file.mtime_ns,
            ctime_ns: file.ctime_ns,
        }
    }
}
