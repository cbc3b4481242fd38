//! A file as a scan sees it, before it has a number.

/// A file as the scan found it; its name travels beside it.
#[derive(Clone, Copy, Debug)]
pub struct FoundFile {
    /// Inode number.
    pub ino: u64,
    /// Length, bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the inode, nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Allocated blocks of 512 bytes.
    pub blocks: u64,
    /// Number of names, inside and outside the roots.
    pub links: u32,
    /// Length of the name, bytes (FAT and its like allow 255 characters of up to three bytes).
    pub name_len: u16,
    /// The name is a symbolic link to the file, not one of its own.
    pub via_link: bool,
    /// The file is mounted on the name, which is that of another file below.
    pub mounted: bool,
}

impl FoundFile {
    /// True if the name is a directory entry of the file itself.
    pub fn is_entry(&self) -> bool {
        !self.via_link && !self.mounted
    }
}
