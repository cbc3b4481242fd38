//! The rules that decide when a class matters, and which samples pay off.

use std::collections::HashSet;

use crate::file::{DevIndex, FileIndex};

use super::copies::Copies;
use super::keyed_join::ClassId;
use crate::media::HEADERS;

/// Bytes of the head sample. Files up to this length need only one read.
pub const HEAD: u64 = 4096;

/// Bytes of the tail sample.
pub const TAIL: u64 = 4096;

/// How replicas are counted and which counts are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Which counts are reported.
    pub copies: Copies,
    /// Each name of an inode counts as a replica.
    pub hard_links: bool,
    /// All replicas below one root count as one.
    pub isolate: bool,
}

impl Counting {
    /// True if files of one size may make a set that is reported: then they must be read.
    pub(super) fn size_matters(&self, files: u64, names: u64, spans_roots: bool) -> bool {
        let enough = match self.copies.least {
            ..2 => true,
            _ if self.isolate => spans_roots,
            least if self.hard_links => names >= least,
            least => files >= least,
        };
        // A single inode needs no reading, however many names it has.
        files >= 2 && enough
    }

    /// True if files with one sample may make a set that is reported.
    pub(super) fn sample_matters(&self, files: u64) -> bool {
        // Names and roots were counted by size; here the files alone do not say enough.
        let counts_files = !self.isolate && !self.hard_links;
        files >= 2 && (!counts_files || files >= self.copies.least)
    }

    /// The number of replicas of a set. `roots` is the number of roots of its names.
    pub fn replicas(&self, inodes: u64, names: u64, roots: u64) -> u64 {
        match (self.isolate, self.hard_links) {
            (true, _) => roots,
            (false, true) => names,
            (false, false) => inodes,
        }
    }

    /// The minimum number of inodes of a reported set.
    pub fn fewest_inodes(&self) -> u32 {
        if self.copies.least >= 2 && !self.hard_links {
            2
        } else {
            1
        }
    }

    /// True if a set of this many inodes and replicas is reported.
    pub fn reported(&self, inodes: u64, replicas: u64) -> bool {
        self.copies.include(replicas) && inodes >= u64::from(self.fewest_inodes())
    }
}

/// The rule for tail samples: a tail costs one more small read and may save a whole one.
#[derive(Clone, Debug)]
pub struct TailRule {
    /// Minimum size where reads cost no seek, bytes.
    pub from: u64,
    /// Minimum size where they do, bytes.
    pub from_with_seeks: u64,
    /// Volumes on which reads cost seeks.
    seeks: HashSet<DevIndex>,
}

impl Default for TailRule {
    /// 64 KiB without seeks. With seeks, a seek of 8-14 ms costs as much as 1-2 MB of sequential reading, so a tail
    /// must be likely to save several times as much: 16 MiB.
    fn default() -> Self {
        Self {
            from: 64 << 10,
            from_with_seeks: 16 << 20,
            seeks: HashSet::new(),
        }
    }
}

impl TailRule {
    pub(super) fn seeks_cost(&mut self, volume: DevIndex) {
        self.seeks.insert(volume);
    }

    pub(super) fn seeks(&self, volume: DevIndex) -> bool {
        self.seeks.contains(&volume)
    }

    /// True if head and tail are best read with one open call of the file.
    pub(super) fn read_at_once(&self, size: u64, volume: DevIndex) -> bool {
        size >= self.from && !self.seeks(volume)
    }

    /// True if the tails of the files of a class must be compared before the files are read as a whole. The class
    /// begins with these volumes.
    pub(super) fn pays(&self, size: u64, mut volumes: impl Iterator<Item = DevIndex>) -> bool {
        let from = if volumes.any(|v| self.seeks(v)) {
            self.from_with_seeks
        } else {
            self.from
        };
        size >= from
    }
}

/// The cost of a second visit without a seek, in bytes. A guess: opening a cached file, reading 4 KiB, checking it and
/// closing it takes 4 µs in a bare loop, besides the cost of a task.
const VISIT: u64 = 16 << 10;

/// Longer files are never read whole before they were sampled: samples find out whether files are cached and best
/// compared with each other. Cached, 200,000 files in three snapshots took 1.00 of the time with 32 KiB, 0.97 with 64
/// and 0.93 with 128.
const LONGEST: u64 = 128 << 10;

/// The rule that decides when a file is read as a whole on the first visit.
///
/// A second visit costs an open call and the overhead of a task. This cost equals that of reading a number of further
/// bytes, called visit. But the further bytes are read in vain if the first ones tell the file from all others already.
/// With P the chance that they do not, reading on wastes (1 - P) · rest and saves P · visit.
#[derive(Clone, Copy, Debug)]
pub struct FirstVisit {
    /// The cost of a second visit, in bytes that could be read, hashed and compared in the same time.
    pub visit: u64,
}

impl Default for FirstVisit {
    /// The rule where visits cost no seek.
    fn default() -> Self {
        Self { visit: VISIT }
    }
}

impl FirstVisit {
    /// True if files of this size are best read as a whole at once, given the chance that a file's head equals the head
    /// of another file.
    pub(super) fn reads_whole(self, size: u64, odds: f64) -> bool {
        if size <= HEAD || size > LONGEST {
            return size <= HEAD;
        }
        (1.0 - odds) * ((size - HEAD) as f64) <= odds * self.visit as f64
    }
}

/// A read that the machine requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The file to read.
    pub file: FileIndex,
    /// The part to read.
    pub want: Want,
    /// The class of its size.
    pub size: ClassId,
}

/// The part of a file to read. Its first samples may be replaced by everything ([`super::Machine::is_read_whole`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The first [`HEAD`](super::HEAD) bytes.
    Head,
    /// The first [`HEAD`](super::HEAD) and the last [`TAIL`](super::TAIL) bytes at one go.
    HeadAndTail,
    /// The last [`TAIL`](super::TAIL) bytes.
    Tail,
    /// Everything, with nothing read before.
    Whole,
    /// Everything, after samples.
    Content,
    /// Everything, compared with the other files of its group.
    Comparison,
    /// The head, and everything, at once. The machine never requests this: the reader may choose it in place of
    /// [`Want::Head`].
    HeadAndContent,
    /// Only the places of its blocks.
    Blocks,
    /// The places of its blocks once more.
    BlocksAgain,
    /// Every byte, compared with the other files of its set. The machine never requests this.
    Verify,
    /// The headers of a picture, film or sound, at its beginning and its end. The machine never requests this.
    ShownKey,
    /// Everything that a picture, film or sound shows. The machine never requests this.
    ShownParts,
    /// The tags of a picture, film or sound. The machine never requests this.
    ShownTags,
}

impl Want {
    /// The number of bytes to read of a file of this size.
    pub fn bytes(self, size: u64) -> u64 {
        match self {
            Self::Head => HEAD.min(size),
            Self::Tail => TAIL.min(size),
            Self::HeadAndTail => HEAD.min(size) + TAIL.min(size),
            // The head is a part of the whole.
            Self::Whole
            | Self::Content
            | Self::Comparison
            | Self::HeadAndContent
            | Self::Verify
            | Self::ShownParts => size,
            Self::ShownKey | Self::ShownTags => HEADERS.min(size) + TAIL.min(size),
            Self::Blocks | Self::BlocksAgain => 0,
        }
    }

    /// True if the question is what the file shows.
    pub fn is_of_shown(self) -> bool {
        matches!(self, Self::ShownKey | Self::ShownParts | Self::ShownTags)
    }

    /// True if nothing of the file was read before, and not all of it is read now.
    pub fn is_first_sample(self) -> bool {
        matches!(self, Self::Head | Self::HeadAndTail)
    }
}

/// The rules of a search.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// How replicas are counted.
    pub counting: Counting,
    /// Only sets with a file that was modified at this time or later matter.
    pub newer_ns: Option<i64>,
    /// When tails are read.
    pub tails: TailRule,
    /// When files are read as a whole at once.
    pub first_visit: FirstVisit,
    /// Files whose samples were in the page cache are compared. No digests are needed then.
    pub comparing: Option<Comparing>,
    /// Files in the same blocks count as equal, on the volumes where files may share blocks.
    pub shared_blocks: Option<SharedBlocks>,
}

/// The files whose blocks are queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBlocks {
    /// Minimum size of the files, bytes.
    pub from: u64,
    /// The digest of a content is needed even if all files that have it lie in the same blocks.
    pub digests: bool,
}

/// The files that may be compared with each other instead of being digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparing {
    /// Minimum size of the files, bytes.
    pub from: u64,
    /// Maximum number of files in a group.
    pub most: usize,
    /// Number of the run, which no other run has.
    pub run: u128,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Counting = Counting {
        copies: Copies {
            least: 2,
            most: None,
        },
        hard_links: false,
        isolate: false,
    };

    fn at_least(n: u64) -> Counting {
        let copies = Copies::at_least(n);
        Counting { copies, ..PLAIN }
    }

    fn at_most(n: u64) -> Counting {
        let copies = Copies::at_most(n);
        Counting { copies, ..PLAIN }
    }

    fn with_hard_links(counting: Counting) -> Counting {
        Counting {
            hard_links: true,
            ..counting
        }
    }

    fn isolated(counting: Counting) -> Counting {
        Counting {
            isolate: true,
            ..counting
        }
    }

    #[test]
    fn a_set_is_reported_above_or_below_the_wanted_number() {
        assert!(at_least(2).reported(2, 2));
        assert!(!at_least(3).reported(2, 2));
        assert!(at_least(1).reported(1, 1));
        // Names of one file are a set of their own only if they count.
        assert!(!at_least(2).reported(1, 2));
        assert!(with_hard_links(at_least(2)).reported(1, 2));
        assert!(!with_hard_links(at_least(3)).reported(1, 2));
        assert!(at_most(2).reported(1, 2));
        assert!(!at_most(2).reported(3, 3));
        assert!(!at_most(2).reported(4, 4));
        let two_or_three = Counting {
            copies: Copies {
                least: 2,
                most: Some(3),
            },
            ..PLAIN
        };
        assert!(two_or_three.reported(2, 2) && two_or_three.reported(3, 3));
        assert!(!two_or_three.reported(1, 1) && !two_or_three.reported(4, 4));
        // Names of one file below two roots are no duplicates.
        assert!(!isolated(two_or_three).reported(1, 2));
    }

    #[test]
    fn head_and_tail_are_read_together_from_a_size_on_where_seeks_cost_nothing() {
        let mut rule = TailRule::default();
        let (from, with_seeks) = (rule.from, rule.from_with_seeks);
        rule.seeks_cost(DevIndex(3));
        assert!(rule.read_at_once(from, DevIndex(2)));
        assert!(!rule.read_at_once(from - 1, DevIndex(2)));
        assert!(!rule.read_at_once(with_seeks, DevIndex(3)));
        assert!(rule.pays(from, [0, 2, 9].into_iter().map(DevIndex)));
        assert!(!rule.pays(from - 1, [0, 2, 9].into_iter().map(DevIndex)));
        assert!(!rule.pays(with_seeks - 1, [0, 3].into_iter().map(DevIndex)));
        assert!(rule.pays(with_seeks, [0, 3].into_iter().map(DevIndex)));
    }

    #[test]
    fn in_between_the_odds_decide() {
        let rule = FirstVisit { visit: HEAD };
        assert!(rule.reads_whole(2 * HEAD, 0.5), "as much to win as to lose");
        assert!(!rule.reads_whole(2 * HEAD, 0.4));
        assert!(!rule.reads_whole(3 * HEAD, 0.5));
        assert!(rule.reads_whole(3 * HEAD, 0.7));
    }
}
