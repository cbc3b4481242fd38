//! The expected results: sets from a comparison of every pair, and no unnecessary read.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;

use crate::decide::copies::Copies;
use crate::decide::rules::{Counting, HEAD, TAIL, Want};
use crate::hash::{ContentToken, Places, PlacesDigest};

use super::drive::Drive;

pub fn is_reported(counting: Counting, world: &[Inode], numbers: &BTreeSet<usize>) -> bool {
    let dirs = || numbers.iter().flat_map(|&n| &world[n].dirs);
    let roots: BTreeSet<usize> = dirs().map(|dir| dir % ROOTS).collect();
    let inodes = numbers.len() as u64;
    let replicas = counting.replicas(inodes, dirs().count() as u64, roots.len() as u64);
    counting.reported(inodes, replicas)
}

/// Compares every pair of the files whose reads did not fail.
pub fn oracle(
    counting: Counting,
    world: &[Inode],
    failed: &HashSet<usize>,
) -> BTreeSet<BTreeSet<usize>> {
    let good = || (0..world.len()).filter(|n| !failed.contains(n));
    let equal_to = |a: usize| -> BTreeSet<usize> {
        good()
            .filter(|&b| world[a].content() == world[b].content())
            .collect()
    };
    let sets = good().map(equal_to);
    sets.filter(|set| is_reported(counting, world, set))
        .collect()
}

/// How many files of the world have what this one has.
pub fn sharing<T: PartialEq>(world: &[Inode], number: usize, of: impl Fn(&Inode) -> T) -> usize {
    let mine = of(&world[number]);
    world.iter().filter(|inode| of(inode) == mine).count()
}

pub fn check_reads(drive: &Drive<'_>, counting: Counting, visit: u64) {
    let world = drive.world;
    // Fewer files than this are never a set.
    let enough = if counting.hard_links || counting.isolate {
        2
    } else {
        (counting.copies.least as usize).max(2)
    };
    for &(number, want) in &drive.all_wanted {
        let inode = &world[number];
        let of_file = drive.all_wanted.iter().filter(|(n, _)| *n == number);
        let of_file = of_file.map(|&(_, want)| want);
        let (looks, wants): (Vec<Want>, Vec<Want>) =
            of_file.partition(|want| matches!(want, Want::Blocks | Want::BlocksAgain));
        assert!(
            [&[][..], &[Want::Blocks], &[Want::Blocks, Want::BlocksAgain]].contains(&&looks[..])
        );
        let allowed: &[&[Want]] = &[
            &[Want::Whole],
            &[Want::Head],
            &[Want::Head, Want::Content],
            &[Want::Head, Want::Tail],
            &[Want::Head, Want::Tail, Want::Content],
            &[Want::HeadAndTail],
            &[Want::HeadAndTail, Want::Content],
            &[Want::Head, Want::Tail, Want::Comparison],
            &[Want::HeadAndTail, Want::Comparison],
            &[Want::HeadAndContent],
            // Others of its head are told apart by their tails.
            &[Want::HeadAndContent, Want::Tail],
            &[Want::HeadAndContent, Want::Tail, Want::Comparison],
            // They were to be compared with each other, and could not.
            &[Want::HeadAndContent, Want::Tail, Want::Content],
        ];
        // It was compared once more in place of another one that failed.
        let is_again = |pair: &[Want]| pair == [Want::Comparison; 2];
        let mut once = wants.clone();
        if wants.windows(2).any(is_again) || wants.ends_with(&[Want::Comparison, Want::Content]) {
            once.retain(|want| *want != Want::Comparison);
            let last = wants.last().copied();
            once.extend(last.filter(|last| *last == Want::Comparison));
        }
        assert!(allowed.contains(&&once[..]), "{inode:?}: {wants:?}");
        assert_ne!(inode.size, 0, "nothing to read");
        let same_size = sharing(world, number, |i| i.size);
        assert!(
            same_size >= enough,
            "{inode:?}: read though {same_size} of its size"
        );
        if inode.size <= HEAD {
            assert_eq!(wants, [Want::Whole], "{inode:?}");
        }
        if wants == [Want::Whole] {
            assert!(inode.size <= HEAD || visit > 0, "{inode:?}");
            continue;
        }
        let same_head = sharing(world, number, |i| (i.size, i.head()));
        let further = !matches!(want, Want::Head | Want::HeadAndTail | Want::HeadAndContent);
        assert!(
            !further || same_head >= enough,
            "{inode:?}: read on though {same_head} of its head"
        );
        let seeks = world
            .iter()
            .any(|i| i.size == inode.size && i.volume == VOLUMES - 1);
        let same_tail = sharing(world, number, |i| (i.size, i.head(), i.tail()));
        let from = if seeks { FROM_WITH_SEEKS } else { FROM };
        let whole = further && want != Want::Tail;
        // One that was read whole has no tail for the others to be told from.
        let one_is_whole = drive.all_wanted.iter().any(|&(n, w)| {
            let other = &world[n];
            w == Want::HeadAndContent && (other.size, other.head()) == (inode.size, inode.head())
        });
        if inode.size >= from && whole && !one_is_whole {
            assert!(
                same_tail >= enough,
                "{inode:?}: read whole though {same_tail} of its tail"
            );
        }
        let reads_tail = matches!(want, Want::Tail | Want::HeadAndTail);
        assert!(!reads_tail || inode.size >= FROM, "{inode:?}");
        if inode.volume == VOLUMES - 1 {
            assert!(!reads_tail || inode.size >= FROM_WITH_SEEKS || want == Want::Tail);
            assert_ne!(want, Want::HeadAndTail, "a seek too many");
        }
    }
}

/// Checks that the results of this run about contents are right for the next run.
fn check_tokens(drive: &mut Drive<'_>) {
    let found: Vec<_> = drive.machine.equalities();
    for one in &found {
        for other in &found {
            let (Some(own), Some(others)) = (one.found, other.found) else {
                continue;
            };
            let content = |file| drive.world[drive.numbers[&file]].content();
            let is_equal = content(one.file) == content(other.file);
            assert!(own.comparison() > RUN);
            assert!(own != others || is_equal);
            let is_same = own.comparison() == others.comparison();
            assert!(!is_same || own == others || !is_equal);
        }
    }
}

pub fn check(world: &[Inode], counting: Counting, visit: u64, seed: u64, eagerness: usize) {
    let mut drive = Drive::new(world, counting, visit, seed & 2 == 0);
    if seed & 4 == 0 {
        drive.blocks_are_shared();
    }
    drive.run(&mut Rng(seed | 1), eagerness);
    assert_eq!(drive.sets(), oracle(counting, world, &drive.failed));
    check_reads(&drive, counting, visit);
    assert!(drive.machine.unfinished().is_empty(), "all is answered");
    check_tokens(&mut drive);
    let mut sizes: Vec<u32> = drive.finished.iter().map(|class| class.0).collect();
    let count = sizes.len();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes.len(), count, "a size is final once");
    let names = drive.machine.file_table();
    for (&file, &number) in &drive.numbers {
        assert_eq!(names.names(file).count(), world[number].dirs.len());
    }
}

/// Tails are read from these sizes on, without and with seeks.
pub const FROM: u64 = 3 * HEAD;
pub const FROM_WITH_SEEKS: u64 = 5 * HEAD;

/// The cost of a second visit: zero, so that longer files are always sampled, or about as much as reading most of them.
pub const VISITS: [u64; 2] = [0, FROM];

pub const SIZES: [u64; 12] = [
    0,
    1,
    100,
    HEAD - 1,
    HEAD,
    HEAD + 1,
    HEAD + TAIL - 1,
    FROM - 1,
    FROM,
    FROM + 1,
    FROM_WITH_SEEKS - 1,
    FROM_WITH_SEEKS,
];

/// Larger groups are not compared.
pub const MOST: usize = 3;

/// The number of the run: those of earlier comparisons are others.
pub const RUN: u128 = 1000;

pub const ROOTS: usize = 3;
/// Two folders below each root.
pub const DIRS: usize = 2 * ROOTS;
/// The last one costs seeks.
pub const VOLUMES: u16 = 3;
/// Files on it share no blocks.
pub const ALL_APART: u16 = 1;

/// A file of the made-up world.
#[derive(Clone, Debug)]
pub struct Inode {
    pub size: u64,
    /// First byte, middle byte, last byte; the others are zero.
    pub marks: [u8; 3],
    pub volume: u16,
    /// Folders of its names (the name is the number of its place here, so each is another name).
    pub dirs: Vec<usize>,
    /// Which of its reads fails, if it comes to it.
    pub fails: Option<u8>,
    /// Which blocks it lies in: none that could be shared, or those of all files with its content and
    /// this number on its volume.
    pub blocks: u8,
    /// Its blocks are elsewhere when they are looked at again.
    pub moves: bool,
    /// Number of the comparison of an earlier run that it took part in, and whether its digest is known as well.
    pub told: Option<(u8, bool)>,
}

impl Inode {
    pub fn content(&self) -> Vec<u8> {
        let mut content = vec![0; self.size as usize];
        if let Some(last) = content.len().checked_sub(1) {
            content[self.size as usize / 2] = self.marks[1];
            content[last] = self.marks[2];
            content[0] = self.marks[0];
        }
        content
    }

    pub fn place(&self, again: bool) -> Option<PlacesDigest> {
        let mut place = self.content();
        place.extend([self.blocks, self.volume as u8, (self.moves && again).into()]);
        let mut places = Places::default();
        place.iter().for_each(|&byte| places.add(byte.into()));
        (self.blocks > 0).then(|| places.finish(0))
    }

    pub fn head(&self) -> Vec<u8> {
        self.content()[..HEAD.min(self.size) as usize].to_vec()
    }

    pub fn tail(&self) -> Vec<u8> {
        self.content()[self.size.saturating_sub(TAIL) as usize..].to_vec()
    }
}

/// The token of a file that an earlier run compared. Each comparison numbers contents in its own way.
pub fn token(world: &[Inode], number: usize) -> Option<(ContentToken, bool)> {
    let (comparison, has_digest) = world[number].told?;
    let contents: BTreeSet<Vec<u8>> = world.iter().map(Inode::content).collect();
    let own = world[number].content();
    let place = contents.iter().position(|content| *content == own)?;
    let group = (place + usize::from(comparison)) % contents.len();
    let token = ContentToken::new(comparison.into(), group as u32);
    Some((token, has_digest))
}

pub fn inode(kinds: usize) -> impl Strategy<Value = Inode> {
    let mark = || prop_oneof![4 => Just(0_u8), 1 => Just(1_u8)];
    let names = prop_oneof![4 => Just(1_usize), 1 => 2_usize..4];
    (
        0..kinds,
        [mark(), mark(), mark()],
        prop_oneof![3 => Just(0), 1 => 0..VOLUMES],
        names.prop_flat_map(|n| prop::collection::vec(0..DIRS, n)),
        prop_oneof![8 => Just(None), 1 => (0_u8..4).prop_map(Some)],
        (0_u8..3, prop::bool::weighted(0.1)),
        prop::option::of((0_u8..2, any::<bool>())),
    )
        .prop_map(
            move |(kind, marks, volume, dirs, fails, (blocks, moves), told)| Inode {
                // Few kinds of size make large classes, all of them make small ones.
                size: SIZES[kind * SIZES.len() / kinds],
                marks,
                volume,
                dirs,
                fails,
                blocks,
                moves,
                told,
            },
        )
}

pub fn world() -> impl Strategy<Value = Vec<Inode>> {
    (1..=SIZES.len()).prop_flat_map(|kinds| prop::collection::vec(inode(kinds), 0..30))
}

pub fn counting() -> impl Strategy<Value = Counting> {
    let between = |(least, more)| Copies {
        least,
        most: Some(least + more),
    };
    let copies = prop_oneof![
        4 => Just(Copies::default()),
        2 => (1_u64..5).prop_map(Copies::at_least),
        2 => Just(Copies::UNIQUE),
        1 => (0_u64..4).prop_map(Copies::at_most),
        1 => (2_u64..4, 0_u64..3).prop_map(between),
    ];
    (copies, any::<bool>(), any::<bool>()).prop_map(|(copies, hard_links, isolate)| Counting {
        copies,
        hard_links,
        isolate,
    })
}

/// A small generator for the order of events (xorshift).
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
