//! The place of a file's row in the cache.

use crate::file::DevIndex;

/// The place of a file's row in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// The file table's number of the file's device number.
    pub volume: DevIndex,
    /// Subvolume and inode number, or two numbers computed from its path.
    pub numbers: (u64, u64),
    /// The numbers are computed from its path.
    pub by_path: bool,
}
