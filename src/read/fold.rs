//! The interface of the function that digests the bytes of a file.

use std::hash::Hash;

/// Turns the bytes of a span into a digest. An executor gets one when it is created, and never looks inside.
pub trait Fold: Clone + Send + 'static {
    /// A digest in progress.
    type State: Default + Send;
    /// A digest.
    type Digest: Copy + Eq + Hash + Send + 'static;

    /// Takes the next bytes.
    fn feed(&self, state: &mut Self::State, bytes: &[u8]);

    /// The digest of all bytes taken. `whole_file` says that the span was the whole file.
    fn finish(&self, state: Self::State, whole_file: bool) -> Self::Digest;

    /// The digest of a span that came in one piece.
    fn at_once(&self, bytes: &[u8], whole_file: bool) -> Self::Digest;

    /// Takes `len` zeros.
    fn feed_zeros(&self, state: &mut Self::State, len: u64);

    /// True if a file of this size whose head has this digest must be read on, where the task leaves the decision open.
    fn goes_on(&self, size: u64, head: &Self::Digest) -> bool {
        let _ = (size, head);
        true
    }
}
