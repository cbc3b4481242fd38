//! The state of a file: what differs after a change.

use crate::file::{FileIndex, FileTable};

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

impl FileState {
    /// The state of a file as the scan saw it.
    pub fn of(file: FileIndex, file_table: &FileTable) -> Self {
        let (mtime_ns, ctime_ns) = file_table.times(file);
        Self {
            size: file_table.size(file),
            mtime_ns,
            ctime_ns,
        }
    }
}
