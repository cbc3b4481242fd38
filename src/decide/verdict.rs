//! The result of a run: sets of files with the same content.

use std::sync::Arc;

use crate::hash::ContentDigest;

/// Files whose contents are the same.
///
/// Usually two members or more. With `--unique` or `--copies ..N` a set may have a single member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DuplicateSet {
    /// Length of each member, bytes.
    pub size: u64,
    /// BLAKE3 of the content; `None` where the answer was known without reading it all
    /// (a file unique by its size, names of one inode).
    pub digest: Option<ContentDigest>,
    /// The digest of at least one member comes from the cache: that member was not read.
    pub cached: bool,
    /// It has only sidecars that take part for their photos: no set of its own.
    pub sidecars: bool,
    /// The files, the best candidate to keep first.
    pub members: Vec<Member>,
    /// Number of replicas that the set counts (inodes; names with `--hard-links`; roots with `--isolate`).
    pub replicas: u64,
    /// Bytes on disk that are freed when all members but the first are removed (with `--isolate` those below
    /// its root stay as well): allocated blocks, hard links and shared extents counted once.
    pub reclaimable: u64,
}

/// One file (one inode) of a set, with all names that the scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Paths as reached from the roots, raw bytes; the first is the one to show. Never empty.
    pub names: Vec<Vec<u8>>,
    /// `st_dev` of the file system.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Number of names of the inode, inside and outside the roots.
    pub links: u64,
    /// Time of last modification, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Bytes allocated on disk.
    pub allocated: u64,
    /// Names of the physical disks below, as in `/sys/block`; empty if unknown.
    pub disk: Arc<str>,
    /// True if it may be one and the same file as another member: both have one inode number, and on their file system
    /// this does not show whether they are one file.
    pub ambiguous: bool,
    /// Index of the root through which the first name was reached.
    pub root: u32,
}
