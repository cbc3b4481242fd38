//! Trees to look at, runs of the binary, and an oracle that is too simple to be wrong.
//!
//! A test reads: make a [`Tree`], say what [`seekless`] should be run with, compare the [`Run`].

pub mod children;
pub mod daemon;
pub mod limits;
pub mod mirror;
pub mod mounts;
pub mod oracle;
pub mod picture;
pub mod run;
pub mod scene;
pub mod stage;
pub mod standin;
pub mod terminal;
pub mod tree;
pub mod users;
pub mod volume;

pub use limits::rounds;
pub use run::{Run, seekless};
pub use tree::{Tree, write};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// A name as bytes, without a leading `./`.
pub type Name = Vec<u8>;

/// What a bare list of names says: each set is a set of names.
pub type Sets = BTreeSet<BTreeSet<Name>>;

/// What the full report says: each set is a set of files, each file a set of names.
pub type FileSets = BTreeSet<BTreeSet<BTreeSet<Name>>>;

/// Spells out expected sets: names separated by spaces, one string a set.
pub fn sets<const N: usize>(expected: [&str; N]) -> Sets {
    sets_of(&expected)
}

/// The same of any number.
pub fn sets_of(expected: &[&str]) -> Sets {
    let words = |set: &str| {
        set.split_whitespace()
            .map(|n| n.as_bytes().to_vec())
            .collect()
    };
    expected.iter().copied().map(words).collect()
}

/// Spells out expected files with all their names: `a=b c` is a file with two names and one with
/// a single name.
pub fn file_sets<const N: usize>(expected: [&str; N]) -> FileSets {
    let names = |file: &str| file.split('=').map(|n| n.as_bytes().to_vec()).collect();
    let files = |set: &str| set.split_whitespace().map(names).collect();
    expected.into_iter().map(files).collect()
}

/// Shows sets so that a failed comparison can be read.
pub fn shown(sets: &Sets) -> Vec<Vec<String>> {
    let show = |name: &Name| name.escape_ascii().to_string();
    sets.iter()
        .map(|set| set.iter().map(show).collect())
        .collect()
}

/// Takes away a leading `./`, which says nothing.
pub fn plain(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
    }
    name
}

/// Bytes that look random, differ for each seed, and are the same on every run.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    // Builds without optimization take milliseconds to make what each scene has.
    static MADE: Mutex<BTreeMap<u64, Vec<u8>>> = Mutex::new(BTreeMap::new());
    if length != scene::SIZE {
        return fresh_noise(seed, length);
    }
    let mut made = MADE.lock().expect("no panic");
    let bytes = made.entry(seed);
    bytes.or_insert_with(|| fresh_noise(seed, length)).clone()
}

fn fresh_noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// True if this process may do everything.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
