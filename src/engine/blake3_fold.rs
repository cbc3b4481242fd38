//! What the executors do with bytes here: BLAKE3.

use crate::executor::Fold;
use crate::hash::{Digest, Running};

/// Hashes what is read.
#[derive(Clone, Copy, Debug)]
pub struct Blake3;

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
}
