//! Made-up files, and the counting rules of a search.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::decide::copies::Copies;
use crate::decide::machine::{HEAD, TAIL};
use crate::decide::rules::Counting;
use crate::hash::{ContentToken, Places, PlacesDigest};

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
