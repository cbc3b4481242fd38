//! Large classes: many long files of one size that are equal at both ends.
//!
//! Two such files are hardly ever different, a thousand often are: frames of a camera, images of disks,
//! files of a database. Before any of a large class is read whole, all are told apart by stretches, one that grows from
//! the head on and one from the middle on. Where a look tells few of them apart no further one follows.

use std::collections::{HashMap, HashSet};

use crate::file::FileIndex;
use crate::hash::SampleDigest;

use super::class_id::ClassId;
use super::sample_sizes::{HEAD, TAIL};

/// Bytes of the first stretch of either side; each next one is twice as long. Together they are a
/// sixteenth of the shortest file for which it is tried.
pub const FIRST_STRETCH: u64 = 32 << 10;

/// A look is worth another one, twice as long, if it found one more content for each so many files. Where
/// a first look of 8 KiB found 30 among 1,500 and none followed, a search took three times as long.
const TOLD_APART: usize = 64;

/// Stretches of 32 TiB are enough, and their number fits into five bits.
const LAST_ROUND: u8 = 30;

/// Which files are a large class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StretchRule {
    /// So many files at least.
    pub files: usize,
    /// Files from this size on, bytes.
    pub from: u64,
    /// Bytes of the first stretch of either side.
    pub first: u64,
}

impl Default for StretchRule {
    /// Sixteen files of 1 MiB: fewer are most likely copies. Reasoned, not swept.
    fn default() -> Self {
        Self {
            files: 16,
            from: 32 * FIRST_STRETCH,
            first: FIRST_STRETCH,
        }
    }
}

/// One visit's stretches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretches {
    /// How many visits there were before.
    pub round: u8,
    /// Whether the one that grows from the head on is read, and the one from the middle on.
    pub sides: [bool; 2],
}

impl Stretches {
    const FIRST: Self = Self {
        round: 0,
        sides: [true; 2],
    };

    /// Offset and length of each stretch in a file of this size, bytes; those without length last.
    /// `first` is how long the first ones are.
    pub fn spans(self, size: u64, first: u64) -> [(u64, u64); 2] {
        // Reads past the page cache begin at multiples of 4096, and so does all that follows.
        let block = HEAD.min(first);
        let middle = size / 2 / block * block;
        let len = first << self.round;
        let before = len - first;
        let halves = [(HEAD, middle), (middle, size.saturating_sub(TAIL))];
        let mut spans = [(0, 0); 2];
        let mut at = 0;
        for ((start, end), is_read) in halves.into_iter().zip(self.sides) {
            let start = start.saturating_add(before);
            if is_read && start < end {
                spans[at] = (start, len.min(end - start));
                at += 1;
            }
        }
        spans
    }

    /// The sides of which the next visit would find something.
    fn next(self, size: u64, first: u64, sides: [bool; 2]) -> Option<Self> {
        let round = self.round + 1;
        if round > LAST_ROUND {
            return None;
        }
        let is_left = |side: usize| {
            let mut alone = [false; 2];
            alone[side] = sides[side];
            let next = Self {
                round,
                sides: alone,
            };
            next.spans(size, first)[0].1 > 0
        };
        let sides = [is_left(0), is_left(1)];
        sides.contains(&true).then_some(Self { round, sides })
    }
}

/// What is to be done next.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StretchStep {
    /// Files that are like too few others to matter.
    pub alone: Vec<FileIndex>,
    /// Files of which more stretches are to be read.
    pub look: Vec<(FileIndex, Stretches)>,
    /// Files that are to be read whole, with their class.
    pub read: Vec<(ClassId, FileIndex)>,
}

/// What was read of a file's stretches.
type Seen = [Option<SampleDigest>; 2];

/// Files that are equal as far as they were read.
#[derive(Debug)]
struct LargeClass {
    class: ClassId,
    size: u64,
    stretches: Stretches,
    /// Files whose stretches are being read.
    waiting: usize,
    /// In the order in which they came.
    equal: Vec<Vec<FileIndex>>,
    /// By what was seen, the place in `equal`.
    places: HashMap<Seen, usize>,
}

/// All large classes that are being looked at.
#[derive(Debug, Default)]
pub struct LargeClasses {
    rule: Option<StretchRule>,
    large_classes: HashMap<u32, LargeClass>,
    next: u32,
    of: HashMap<FileIndex, u32>,
}

impl LargeClasses {
    /// Without a rule nothing is a large class.
    pub fn new(rule: Option<StretchRule>) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }

    /// True if so many files of this size are a large class.
    pub fn are(&self, files: usize, size: u64) -> bool {
        self.rule
            .is_some_and(|rule| files >= rule.files && size >= rule.from)
    }

    /// Takes files of one class that are a large class.
    pub fn begin(&mut self, class: ClassId, size: u64, files: Vec<FileIndex>) -> StretchStep {
        let mut step = StretchStep::default();
        self.look(class, size, Stretches::FIRST, files, &mut step);
        step
    }

    fn look(
        &mut self,
        class: ClassId,
        size: u64,
        stretches: Stretches,
        files: Vec<FileIndex>,
        step: &mut StretchStep,
    ) {
        let large = LargeClass {
            class,
            size,
            stretches,
            waiting: files.len(),
            equal: Vec::new(),
            places: HashMap::new(),
        };
        self.large_classes.insert(self.next, large);
        for file in files {
            self.of.insert(file, self.next);
            step.look.push((file, stretches));
        }
        self.next += 1;
    }

    /// Takes what a file's stretches came to, or that they could not be read. `matters` says of how many
    /// equal files more is to be known.
    pub fn seen(
        &mut self,
        file: FileIndex,
        seen: Option<Seen>,
        matters: impl Fn(usize) -> bool,
    ) -> StretchStep {
        let mut step = StretchStep::default();
        let Some(number) = self.of.remove(&file) else {
            return step;
        };
        let Some(large) = self.large_classes.get_mut(&number) else {
            return step;
        };
        large.waiting -= 1;
        if let Some(seen) = seen {
            let place = *large.places.entry(seen).or_insert(large.equal.len());
            if place == large.equal.len() {
                large.equal.push(Vec::new());
            }
            large.equal[place].push(file);
        }
        if large.waiting > 0 {
            return step;
        }
        if let Some(large) = self.large_classes.remove(&number) {
            self.go_on(large, matters, &mut step);
        }
        step
    }

    fn go_on(
        &mut self,
        large: LargeClass,
        matters: impl Fn(usize) -> bool,
        step: &mut StretchStep,
    ) {
        let first = self.rule.map_or(FIRST_STRETCH, |rule| rule.first);
        let stretches = large.stretches;
        let next = stretches.next(large.size, first, large.told_apart());
        for files in large.equal {
            match next {
                _ if !matters(files.len()) => step.alone.extend(files),
                Some(next) if self.are(files.len(), large.size) => {
                    self.look(large.class, large.size, next, files, step);
                }
                _ => step
                    .read
                    .extend(files.into_iter().map(|file| (large.class, file))),
            }
        }
    }
}

impl LargeClass {
    /// The sides that told enough files apart.
    fn told_apart(&self) -> [bool; 2] {
        let files: usize = self.equal.iter().map(Vec::len).sum();
        let mut place = 0;
        self.stretches.sides.map(|is_read| {
            if !is_read {
                return false;
            }
            let contents: HashSet<_> = self.places.keys().map(|seen| seen[place]).collect();
            place += 1;
            contents.len() > 1 && contents.len() * TOLD_APART > files
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn stretches(round: u8, sides: [bool; 2]) -> Stretches {
        Stretches { round, sides }
    }

    #[test]
    fn stretches_of_all_rounds_cover_all_but_the_ends_once() {
        for size in [MIB, 2_000_000, 2_000_001, 777 * MIB + 5] {
            let mut spans = Vec::new();
            let mut next = Some(Stretches::FIRST);
            while let Some(now) = next {
                spans.extend(now.spans(size, FIRST_STRETCH));
                next = now.next(size, FIRST_STRETCH, [true; 2]);
            }
            spans.retain(|&(_, len)| len > 0);
            spans.sort_unstable();
            let mut end = HEAD;
            for (offset, len) in spans {
                assert_eq!(offset, end, "of {size}");
                end += len;
            }
            assert_eq!(end, size - TAIL);
        }
    }

    #[test]
    fn the_first_look_is_a_sixteenth_of_the_shortest_file_at_most() {
        let rule = StretchRule::default();
        let spans = Stretches::FIRST.spans(rule.from, rule.first);
        let bytes: u64 = spans.iter().map(|&(_, len)| len).sum();
        assert!(bytes * 16 <= rule.from && bytes > 0);
    }

    #[test]
    fn a_side_that_is_not_read_leaves_its_place_to_the_other() {
        let only_middle = stretches(1, [false, true]);
        let at = MIB + FIRST_STRETCH;
        assert_eq!(
            only_middle.spans(2 * MIB, FIRST_STRETCH),
            [(at, 2 * FIRST_STRETCH), (0, 0)]
        );
    }

    /// What becomes of a large class with these digests, one for each side.
    fn step(seen: &[[u8; 2]]) -> StretchStep {
        let mut large_classes = LargeClasses::new(Some(StretchRule::default()));
        let files = (0..seen.len() as u32).map(FileIndex).collect();
        large_classes.begin(ClassId(0), 8 * MIB, files);
        let mut last = StretchStep::default();
        for (i, sides) in seen.iter().enumerate() {
            assert_eq!(last, StretchStep::default(), "not before all are seen");
            let digests = sides.map(|byte| Some(SampleDigest::of(&[byte])));
            last = large_classes.seen(FileIndex(i as u32), Some(digests), |files| files > 1);
        }
        last
    }

    #[test]
    fn the_side_that_told_files_apart_is_read_on() {
        let seen: Vec<_> = (0..64).map(|i| [0, if i < 16 { i } else { 0 }]).collect();
        let step = step(&seen);
        assert_eq!((step.alone.len(), step.look.len()), (15, 49));
        let next = stretches(1, [false, true]);
        assert!(step.look.iter().all(|&(_, look)| look == next));
    }

    #[test]
    fn what_is_alone_or_not_told_apart_is_read_no_further_in_parts() {
        let copies = step(&[[0, 0]; 64]);
        assert_eq!((copies.read.len(), copies.look.len()), (64, 0));
        let different: Vec<_> = (0..64).map(|i| [i, 0]).collect();
        let different = step(&different);
        assert_eq!((different.alone.len(), different.look.len()), (64, 0));
    }
}
