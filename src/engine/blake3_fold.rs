//! The fold that this engine uses: BLAKE3.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use crate::hash::{Digest, Running, SampleDigest};
use crate::read::Fold;

/// Heads that were read so far. A reader that has just read a head decides by them whether to read on. Of each head,
/// only 64 bits are kept: if two heads have the same 64 bits, a file is read in vain.
#[derive(Clone, Debug, Default)]
pub struct Heads(Arc<RwLock<HashSet<u64>>>);

impl Heads {
    /// Records the head of a file of this size.
    pub fn met(&self, size: u64, head: &SampleDigest) {
        let mut heads = self.0.write().unwrap_or_else(PoisonError::into_inner);
        heads.insert(key(size, head));
    }

    fn know(&self, size: u64, head: &SampleDigest) -> bool {
        let heads = self.0.read().unwrap_or_else(PoisonError::into_inner);
        heads.contains(&key(size, head))
    }
}

fn key(size: u64, head: &SampleDigest) -> u64 {
    head.first_word() ^ size.rotate_left(32)
}

/// Hashes the bytes that are read.
#[derive(Clone, Debug, Default)]
pub struct Blake3 {
    /// Heads of files on disks where a second visit is expensive.
    pub heads: Heads,
}

impl Fold for Blake3 {
    type State = Running;
    type Digest = Digest;

    fn feed(&self, state: &mut Running, bytes: &[u8]) {
        state.feed(bytes);
    }

    fn finish(&self, state: Running, whole_file: bool) -> Digest {
        Digest::of(state.finish(), whole_file)
    }

    fn at_once(&self, bytes: &[u8], whole_file: bool) -> Digest {
        Digest::of(blake3::hash(bytes), whole_file)
    }

    fn feed_zeros(&self, state: &mut Running, len: u64) {
        state.feed_zeros(len);
    }

    fn goes_on(&self, size: u64, head: &Digest) -> bool {
        match head {
            Digest::Sample(head) => self.heads.know(size, head),
            Digest::Content(_) => true,
        }
    }
}
