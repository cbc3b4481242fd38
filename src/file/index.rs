//! Numbers of files and of device numbers in the [`FileTable`](super::FileTable).

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
