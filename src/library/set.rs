//! The results of a search.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::time;
use crate::decide::{self, DuplicateSet, Member};
use crate::event::Problem;
use crate::hash::ContentDigest;

/// Files of equal content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Set {
    /// Length of each file, bytes.
    pub size: u64,
    /// BLAKE3 of the content, as `b3sum` prints it. `None` where the answer was known without it: files are compared
    /// byte by byte where that is faster, unless [`Search::digests`](super::Search::digests) asks for digests.
    pub digest: Option<ContentDigest>,
    /// The files: two or more, unless [`Search::fewer_copies_than`](super::Search::fewer_copies_than) asks for less.
    /// Names of one file are one entry.
    pub files: Vec<File>,
    /// Bytes on disk that are freed when all files but the first go: allocated blocks; shared ones are counted once.
    pub reclaimable: u64,
}

/// One file (one inode) with all its names that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its paths, as reached from the searched paths; never empty.
    pub paths: Vec<PathBuf>,
    /// Device number of its file system (`st_dev`).
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// How many names (hard links) it has in all, inside and outside the searched paths.
    pub links: u64,
    /// Time of last modification.
    pub modified: SystemTime,
    /// Bytes allocated on disk.
    pub allocated: u64,
}

impl File {
    /// Its first path.
    pub fn path(&self) -> &Path {
        self.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

impl From<&DuplicateSet> for Set {
    fn from(set: &DuplicateSet) -> Self {
        Self {
            size: set.size,
            digest: set.digest,
            files: set.members.iter().map(File::from).collect(),
            reclaimable: set.reclaimable,
        }
    }
}

impl From<&Member> for File {
    fn from(member: &Member) -> Self {
        let path = |name: &Vec<u8>| PathBuf::from(OsString::from_vec(name.clone()));
        Self {
            paths: member.names.iter().map(path).collect(),
            device: member.dev,
            inode: member.ino,
            links: member.links,
            modified: time(member.mtime_ns),
            allocated: member.allocated,
        }
    }
}

/// Counts of a search. Sums saturate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// True if the search was cancelled, a file system did not answer, or memory ran short: the sets are correct, but there
    /// may be more.
    pub incomplete: bool,
    /// Regular files (inodes) that took part.
    pub files: u64,
    /// Sum of their sizes, bytes.
    pub bytes: u64,
    /// Sets found.
    pub sets: u64,
    /// Files that are not needed: all but one of each set.
    pub redundant_files: u64,
    /// Sum of their sizes, bytes.
    pub redundant_bytes: u64,
    /// Bytes that are freed on disk when they go.
    pub reclaimable: u64,
}

impl From<decide::Summary> for Summary {
    fn from(summary: decide::Summary) -> Self {
        Self {
            incomplete: summary.is_incomplete(),
            files: summary.files,
            bytes: summary.bytes_present,
            sets: summary.sets,
            redundant_files: summary.redundant_files,
            redundant_bytes: summary.redundant_bytes,
            reclaimable: summary.reclaimable,
        }
    }
}

/// The result of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sets {
    /// All sets, those that free most disk space first; the same files always come in the same order. Those that are
    /// taken out take no part in a plan.
    pub sets: Vec<Set>,
    /// The counts of the search.
    pub summary: Summary,
    /// The files and folders that could not be read; empty if [`Search::on_problem`](super::Search::on_problem) took
    /// it.
    pub problems: Vec<Problem>,
    pub(super) origin: FoundIn,
}

/// Where sets come from; a plan needs to know.
#[derive(Clone, Debug)]
pub(super) struct FoundIn {
    /// Where relative paths start.
    pub folder: PathBuf,
    pub roots: Vec<PathBuf>,
    /// Nanoseconds since 1970.
    pub started_ns: i64,
    pub isolate: bool,
    pub hard_links: bool,
    pub newer_ns: Option<i64>,
}
