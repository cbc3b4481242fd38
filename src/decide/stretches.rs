//! Large classes: many long files of one size that are equal at both ends.
//!
//! Two such files hardly ever differ, a thousand often do: frames of a camera, images of disks, files of a database.
//! Before any file of a large class is read whole, the search tells the files apart by stretches. One stretch grows
//! from the head on, and one from the middle on. If a round tells few files apart, no further round follows.

use std::collections::{HashMap, HashSet};

use crate::file::FileIndex;
use crate::hash::SampleDigest;

use super::class::ClassId;
use super::rules::{HEAD, TAIL};

/// Bytes of the first stretch on each side; each next one is twice as long. Together they are a sixteenth of the
/// shortest file to which the rule applies.
pub const FIRST_STRETCH: u64 = 32 << 10;

/// A round is worth another one, twice as long, if it found one more content for each this many files. Where a first
/// round of 8 KiB found 30 among 1,500 and none followed, a search took three times as long.
const TOLD_APART: usize = 64;

/// Stretches of 32 TiB are enough, and their number fits into five bits.
const LAST_ROUND: u8 = 30;

/// The rule that defines a large class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StretchRule {
    /// Minimum number of files.
    pub files: usize,
    /// Minimum size of the files, bytes.
    pub from: u64,
    /// Bytes of the first stretch on each side.
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

impl StretchRule {
    /// True if this many files of this size are a large class.
    pub fn are_large(self, files: usize, size: u64) -> bool {
        files >= self.files && size >= self.from
    }
}

/// One visit's stretches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretches {
    /// Number of visits before.
    pub round: u8,
    /// Whether the visit reads the stretch that grows from the head on, and the one from the middle on.
    pub sides: [bool; 2],
}

impl Stretches {
    const FIRST: Self = Self {
        round: 0,
        sides: [true; 2],
    };

    /// Offset and length of each stretch in a file of this size, bytes; those without length last. `first` is the
    /// length of the first ones.
    pub fn spans(self, size: u64, first: u64) -> [(u64, u64); 2] {
        let mut spans = self.parts(size, first).map(|(_, span)| span);
        [(); 2].map(|()| spans.next().unwrap_or_default())
    }

    /// A number for each stretch of [`Stretches::spans`], in their order, that no other stretch of a file of this size has.
    pub fn numbers(self, size: u64, first: u64) -> [Option<u8>; 2] {
        let mut sides = self.parts(size, first).map(|(side, _)| side);
        [(); 2].map(|()| Some(self.round * 2 + sides.next()?))
    }

    /// The side, the offset and the length of each stretch that has data.
    fn parts(self, size: u64, first: u64) -> impl Iterator<Item = (u8, (u64, u64))> {
        // Reads past the page cache begin at multiples of 4096, and so does all that follows.
        let block = HEAD.min(first);
        let middle = size / 2 / block * block;
        let len = first << self.round;
        let before = len - first;
        let halves = [(HEAD, middle), (middle, size.saturating_sub(TAIL))];
        let parts = (0..).zip(halves).zip(self.sides);
        parts.filter_map(move |((side, (start, end)), is_read)| {
            let start = start.saturating_add(before);
            (is_read && start < end).then(|| (side, (start, len.min(end - start))))
        })
    }

    /// The sides where the next visit would find data.
    fn next(self, size: u64, first: u64, sides: [bool; 2]) -> Option<Self> {
        let round = self.round + 1;
        if round > LAST_ROUND {
            return None;
        }
        let mut next = Self {
            round,
            sides: [false; 2],
        };
        for (side, _) in (Self { round, sides }).parts(size, first) {
            next.sides[usize::from(side)] = true;
        }
        next.sides.contains(&true).then_some(next)
    }
}

/// The digests of the stretches of a file.
pub type Seen = [Option<SampleDigest>; 2];

/// The next reads of a large class.
#[derive(Debug, Default)]
pub struct StretchStep {
    /// Files that are equal to too few others to matter.
    pub alone: Vec<FileIndex>,
    /// Classes of which more stretches must be read.
    pub look: Vec<(LargeClass, Vec<FileIndex>)>,
    /// Files that must be read whole.
    pub read: Vec<FileIndex>,
}

/// Files that are equal as far as they were read.
#[derive(Debug)]
pub struct LargeClass {
    /// The tail class of the files.
    pub class: ClassId,
    size: u64,
    /// The stretches to read of each file.
    pub stretches: Stretches,
    /// Files whose stretches are being read.
    waiting: usize,
    /// Groups of equal files, in the order of arrival.
    equal: Vec<Vec<FileIndex>>,
    /// The place in `equal`, by the digests of the stretches.
    places: HashMap<Seen, usize>,
}

impl LargeClass {
    /// A tail class of `files` files of a size, before any stretch was read.
    pub fn new(class: ClassId, size: u64, files: usize) -> Self {
        Self::of(class, size, Stretches::FIRST, files)
    }

    fn of(class: ClassId, size: u64, stretches: Stretches, files: usize) -> Self {
        Self {
            class,
            size,
            stretches,
            waiting: files,
            equal: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Takes the digests of a file's stretches, or `None` if they could not be read. True once the digests of all files
    /// have arrived.
    pub fn seen(&mut self, file: FileIndex, seen: Option<Seen>) -> bool {
        self.waiting -= 1;
        if let Some(seen) = seen {
            let place = *self.places.entry(seen).or_insert(self.equal.len());
            if place == self.equal.len() {
                self.equal.push(Vec::new());
            }
            self.equal[place].push(file);
        }
        self.waiting == 0
    }

    /// The next step once all stretches are read. `matters` decides for a number of equal files whether more of them
    /// must be known.
    pub fn split(self, rule: StretchRule, matters: impl Fn(usize) -> bool) -> StretchStep {
        let mut step = StretchStep::default();
        let next = self
            .stretches
            .next(self.size, rule.first, self.told_apart());
        for files in self.equal {
            match next {
                _ if !matters(files.len()) => step.alone.extend(files),
                Some(next) if rule.are_large(files.len(), self.size) => {
                    let large = Self::of(self.class, self.size, next, files.len());
                    step.look.push((large, files));
                }
                _ => step.read.extend(files),
            }
        }
        step
    }

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
    fn each_stretch_has_a_number_of_its_own() {
        let size = 777 * MIB + 5;
        let mut next = Some(Stretches::FIRST);
        let mut all = HashSet::new();
        while let Some(now) = next {
            let numbers = now.numbers(size, FIRST_STRETCH);
            let spans = now.spans(size, FIRST_STRETCH);
            let alone = stretches(now.round, [false, true]);
            for (number, (_, len)) in numbers.into_iter().zip(spans) {
                assert_eq!(number.is_some(), len > 0);
                assert!(number.is_none_or(|number| all.insert(number)));
            }
            let same = spans
                .iter()
                .position(|span| *span == alone.spans(size, FIRST_STRETCH)[0]);
            let number = alone.numbers(size, FIRST_STRETCH)[0];
            assert_eq!(number, same.and_then(|place| numbers[place]));
            next = now.next(size, FIRST_STRETCH, [true; 2]);
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

    /// The next step of a large class with these digests, one for each side.
    fn step(seen: &[[u8; 2]]) -> StretchStep {
        let mut large = LargeClass::new(ClassId(0), 8 * MIB, seen.len());
        for (i, sides) in seen.iter().enumerate() {
            let digests = sides.map(|byte| Some(SampleDigest::of(&[byte])));
            let is_over = large.seen(FileIndex(i as u32), Some(digests));
            assert_eq!(is_over, i + 1 == seen.len(), "not before all are seen");
        }
        large.split(StretchRule::default(), |files| files > 1)
    }

    #[test]
    fn the_side_that_told_files_apart_is_read_on() {
        let seen: Vec<_> = (0..64).map(|i| [0, if i < 16 { i } else { 0 }]).collect();
        let step = step(&seen);
        assert_eq!((step.alone.len(), step.look.len()), (15, 1));
        let (large, files) = &step.look[0];
        assert_eq!(large.stretches, stretches(1, [false, true]));
        assert_eq!(files.len(), 49);
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
