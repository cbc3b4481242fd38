//! The totals of a run.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::event::LeftOut;
use crate::hash::ContentDigest;
use crate::media::{PartDigests, Tags};

/// Totals of one run, for the lines printed at its end.
///
/// The total length of sparse files may exceed 64 bits: sums of sizes stop at the largest number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// True if the run was interrupted: the reported sets are right, but may not be all.
    #[serde(skip)]
    pub interrupted: bool,
    /// Folders listed.
    pub folders: u64,
    /// Regular files (inodes) that were included.
    pub files: u64,
    /// Names beyond the first of those inodes.
    pub extra_names: u64,
    /// Sum of the sizes of those files, bytes.
    pub bytes_present: u64,
    /// Time from the start to the last folder listed.
    #[serde(rename = "scan_seconds", serialize_with = "seconds")]
    pub scan_time: Duration,
    /// Time from start to end.
    #[serde(rename = "total_seconds", serialize_with = "seconds")]
    pub total_time: Duration,
    /// The work of each stage after the scan, in order.
    pub stages: Vec<StageTally>,
    /// The work of each device.
    pub devices: Vec<DeviceTally>,
    /// Sets reported.
    pub sets: u64,
    /// Redundant members of those sets: all but one in each, or with `--isolate` all that are not below the same root
    /// as that one.
    pub redundant_files: u64,
    /// Sum of the sizes of the redundant files, bytes.
    pub redundant_bytes: u64,
    /// Bytes that are freed on disk when the redundant files are removed.
    pub reclaimable: u64,
    /// Those of them in hidden folders and in folders that programs manage: actions leave these alone.
    #[serde(rename = "reclaimable_managed")]
    pub managed: u64,
    /// Files that are the same but for their tags, beside those of equal content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alike: Option<AlikeTally>,
    /// Files that are probably equal, beside those of equal content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probable: Option<ProbableTally>,
    /// Files that were not read since they lie in the same blocks as others.
    pub unread: Unread,
    /// Files, and bytes of them, that were not read since an earlier run had read them.
    pub cached: Unread,
    /// Counts of skipped files, by reason.
    pub left_out: LeftOut,
}

impl Summary {
    /// True if the reported sets are right, but may not be all.
    pub fn is_incomplete(&self) -> bool {
        self.interrupted || self.left_out.unanswered > 0 || self.left_out.memory_short > 0
    }

    /// Bytes that were read of files.
    pub fn bytes_read(&self) -> u64 {
        let read = self.stages.iter().map(|stage| stage.bytes_read);
        read.fold(0, u64::saturating_add)
    }

    /// Adds a set of files of this size.
    pub fn count(&mut self, redundant: u64, size: u64, reclaimable: u64) {
        self.sets += 1;
        self.redundant_files += redundant;
        let bytes = redundant.saturating_mul(size);
        self.redundant_bytes = self.redundant_bytes.saturating_add(bytes);
        self.reclaimable = self.reclaimable.saturating_add(reclaimable);
    }
}

/// Counts of sets of files that are the same but for their tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AlikeTally {
    /// Sets.
    pub sets: u64,
    /// Pictures, films and sound that were compared as they are, since they are damaged, or no rule is known for them.
    pub refused: u64,
    /// Bytes that are freed on disk when all but one file of each go.
    pub reclaimable: u64,
}

/// Counts of files that catalogs do not know well enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProbableTally {
    /// Sets of files whose lengths, first and last bytes agree.
    pub sets: u64,
    /// Files of catalogs that have the length of another file, and of which no more is known.
    pub only_size: u64,
}

/// Files that need not be read, since they are known to be equal to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Number of files.
    pub files: u64,
    /// Sum of their sizes, bytes.
    pub bytes: u64,
}

impl Unread {
    /// Adds a file of this size.
    pub(super) fn count(&mut self, bytes: u64) {
        self.add(Self { files: 1, bytes });
    }

    /// Adds files.
    pub fn add(&mut self, others: Self) {
        self.files += others.files;
        self.bytes = self.bytes.saturating_add(others.bytes);
    }
}

/// One stage's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageTally {
    /// Name of the stage: `head`, `tail`, `blocks`, `content`, `verify`.
    pub name: &'static str,
    /// Files that reached this stage.
    pub files: u64,
    /// Bytes read for it.
    pub bytes_read: u64,
}

/// One device's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceTally {
    /// Name of the device or volume, for people.
    pub name: String,
    /// Its class, for people.
    pub class: String,
    /// Bytes read from files on it (cached or not).
    pub bytes_read: u64,
}

/// Whole microseconds: more digits would be noise.
fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_micros() as f64 / 1e6)
}

/// Files whose contents are the same.
///
/// Usually two members or more. With `--unique` or `--copies ..N` a set may have a single member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DuplicateSet {
    /// Length of each member, bytes.
    pub size: u64,
    /// BLAKE3 of the content; `None` where the answer was known without reading it all
    /// (a file unique by its size, names of one inode).
    pub digest: Option<ContentDigest>,
    /// The digest of at least one member comes from the cache: that member was not read.
    pub cached: bool,
    /// The files, the best candidate to keep first.
    pub members: Vec<Member>,
    /// Number of replicas that the set counts (inodes; names with `--hard-links`; roots with `--isolate`).
    pub replicas: u64,
    /// Bytes on disk that are freed when all members but the first are removed (with `--isolate` those below
    /// its root stay as well): allocated blocks, hard links and shared extents counted once.
    pub reclaimable: u64,
    /// Facts about each member if they only show the same picture, film or sound, and differ in their tags; empty if
    /// their contents are equal.
    pub alike: Vec<AlikeFile>,
    /// Only lengths, first and last bytes are known to be equal: a catalog has no digest of the whole of one of them.
    pub probable: bool,
}

impl DuplicateSet {
    /// Puts the members into the order of these places. Contents are numbered anew, by their first members.
    pub fn put_in_order(&mut self, places: &[usize]) {
        fn ordered<T: Default>(mut items: Vec<T>, places: &[usize]) -> Vec<T> {
            let taken = places.iter().map(|&place| mem::take(&mut items[place]));
            taken.collect()
        }
        self.members = ordered(mem::take(&mut self.members), places);
        if self.alike.is_empty() {
            return;
        }
        self.alike = ordered(mem::take(&mut self.alike), places);
        let mut numbers = HashMap::new();
        for file in &mut self.alike {
            let next = numbers.len() as u32;
            file.content = *numbers.entry(file.content).or_insert(next);
        }
    }
}

/// What a member shows and says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlikeFile {
    /// Its length, bytes.
    pub size: u64,
    /// Members of equal content have one number, from 0 in the order of their first members.
    pub content: u32,
    /// Digests of its parts.
    pub parts: PartDigests,
    /// Its tags.
    pub tags: Tags,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_largest_number() {
        let mut summary = Summary::default();
        for _ in 0..2 {
            summary.count(2, u64::MAX / 2, u64::MAX - 1);
        }
        assert_eq!((summary.sets, summary.redundant_files), (2, 4));
        assert_eq!(summary.redundant_bytes, u64::MAX);
        assert_eq!(summary.reclaimable, u64::MAX);
        let mut unread = Unread::default();
        unread.count(u64::MAX);
        unread.count(1);
        assert_eq!((unread.files, unread.bytes), (2, u64::MAX));
    }
}
