//! BLAKE3 of sparse files: what stands for a range of zeros is computed once and kept for the next file that has none but
//! zeros there.
//!
//! BLAKE3 is a tree over chunks of 1,024 bytes that are counted (the BLAKE3 paper, 2.1), so zeros at one offset stand for
//! something else than zeros at another. Ranges of one length, a power of two, are subtrees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use blake3::Hasher;
use blake3::hazmat::{
    ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root,
};

/// Zeros that are hashed at a time. Memory that was never written to is one page of the kernel's, many times over, and
/// stays in the first-level cache.
const AT_ONCE: usize = 256 << 10;

/// Bytes of a range whose value is kept: a power of two.
const LEAF: u64 = 16 << 20;

/// Maximum number of ranges that are kept: those of 512 GB, in 4 MB.
const MOST: usize = 32 << 10;

/// The chaining value of a range of zeros, once it was computed. Two threads that read two sparse files need the same one
/// at the same time: one of them waits.
type Leaf = Arc<OnceLock<ChainingValue>>;

/// A cache of chaining values of zeros, by the offset of the range; copies share it.
#[derive(Clone, Debug, Default)]
pub struct Zeros(Arc<Mutex<HashMap<u64, Leaf>>>);

impl Zeros {
    fn leaf(&self, offset: u64) -> ChainingValue {
        let leaf = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() < MOST {
                Arc::clone(known.entry(offset).or_default())
            } else {
                known.get(&offset).cloned().unwrap_or_default()
            }
        };
        *leaf.get_or_init(|| {
            let mut hasher = at(offset);
            zeros(&mut hasher, LEAF);
            hasher.finalize_non_root()
        })
    }
}

/// A hasher for the range that begins at this offset.
fn at(offset: u64) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.set_input_offset(offset);
    hasher
}

/// Hashes this many zeros.
pub(super) fn zeros(hasher: &mut Hasher, mut len: u64) {
    static ZEROS: OnceLock<Vec<u8>> = OnceLock::new();
    let zeros = ZEROS.get_or_init(|| vec![0; AT_ONCE]);
    while len > 0 {
        let step = len.min(AT_ONCE as u64);
        hasher.update(&zeros[..step as usize]);
        len -= step;
    }
}

/// The computation for one sparse file, range by range.
pub struct Leaves {
    zeros: Zeros,
    done: Vec<ChainingValue>,
    /// The range in progress.
    now: Hasher,
    /// Bytes of it.
    fed: u64,
}

impl Leaves {
    pub(super) fn new(zeros: Zeros) -> Self {
        Self {
            zeros,
            done: Vec::new(),
            now: Hasher::new(),
            fed: 0,
        }
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room().min(bytes.len() as u64) as usize;
            let (next, rest) = bytes.split_at(room);
            self.now.update(next);
            self.fed += room as u64;
            bytes = rest;
        }
    }

    pub(super) fn feed_zeros(&mut self, mut len: u64) {
        while len > 0 {
            let step = self.room().min(len);
            if step == LEAF {
                let leaf = self.zeros.leaf(self.offset());
                self.end_range(leaf);
            } else {
                zeros(&mut self.now, step);
                self.fed += step;
            }
            len -= step;
        }
    }

    /// Offset of the range in progress.
    fn offset(&self) -> u64 {
        self.done.len() as u64 * LEAF
    }

    /// Bytes that the range in progress still takes; one that is full is ended first.
    fn room(&mut self) -> u64 {
        if self.fed == LEAF {
            self.end_range(self.now.finalize_non_root());
        }
        LEAF - self.fed
    }

    fn end_range(&mut self, leaf: ChainingValue) {
        self.done.push(leaf);
        self.now = at(self.offset());
        self.fed = 0;
    }

    pub(super) fn finish(mut self) -> blake3::Hash {
        if self.done.is_empty() {
            return self.now.finalize();
        }
        if self.fed > 0 {
            self.done.push(self.now.finalize_non_root());
        }
        match &self.done[..] {
            // One range of zeros is all.
            [_] => {
                let mut hasher = Hasher::new();
                zeros(&mut hasher, LEAF);
                hasher.finalize()
            }
            all => {
                let (left, right) = halves(all);
                merge_subtrees_root(&joined(left), &joined(right), Mode::Hash)
            }
        }
    }
}

/// All left subtrees of BLAKE3 are complete.
fn halves(leaves: &[ChainingValue]) -> (&[ChainingValue], &[ChainingValue]) {
    leaves.split_at(leaves.len().next_power_of_two() / 2)
}

fn joined(leaves: &[ChainingValue]) -> ChainingValue {
    match leaves {
        [one] => *one,
        leaves => {
            let (left, right) = halves(leaves);
            merge_subtrees_non_root(&joined(left), &joined(right), Mode::Hash)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Running;

    /// Data and zeros by turns, of these lengths.
    fn both(lengths: &[u64], zeros: &Zeros) -> [blake3::Hash; 2] {
        let mut sparse = Running::sparse(zeros);
        let mut plain = blake3::Hasher::new();
        for (nth, &len) in lengths.iter().enumerate() {
            let bytes = vec![(nth % 2 == 0).into(); len as usize];
            plain.update(&bytes);
            if nth % 2 == 0 {
                let (first, rest) = bytes.split_at(bytes.len() / 3);
                sparse.feed(first);
                sparse.feed(rest);
            } else {
                sparse.feed_zeros(len);
            }
        }
        [sparse.finish(), plain.finalize()]
    }

    #[test]
    fn zeros_that_are_not_read_hash_like_those_that_are_there() {
        let zeros = Zeros::default();
        for lengths in [
            &[0][..],
            &[5],
            &[0, LEAF],
            &[LEAF],
            &[0, LEAF, 1],
            &[LEAF, LEAF],
            &[0, 2 * LEAF],
            &[0, LEAF - 1, 1],
            &[1, LEAF],
            &[1, 3 * LEAF, 5, LEAF - 6],
            &[4096, 5 * LEAF + 1, 7],
            &[LEAF + 1, 100, 2 * LEAF, 17],
        ] {
            let [sparse, plain] = both(lengths, &zeros);
            assert_eq!(sparse, plain, "{lengths:?}");
        }
        assert!(
            !zeros.0.lock().expect("no panic").is_empty(),
            "some are kept"
        );
        let mut running = Running::default();
        running.feed(b"begin");
        running.feed_zeros(100_003);
        let mut whole = b"begin".to_vec();
        whole.resize(5 + 100_003, 0);
        assert_eq!(running.finish(), blake3::hash(&whole));
    }
}
