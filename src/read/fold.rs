//! The interface of the function that digests the bytes of a file.

use std::hash::Hash;

/// Turns the bytes of a span into a digest. An executor gets one when it is created, and never looks inside.
pub trait Fold: Clone + Send + 'static {
    /// A digest in progress.
    type State: Default + Send;
    /// The result for a part of a span.
    type Part: Send;
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

    /// A part that is all zeros; `None` if `goes_on` returns false, because the part is no longer needed.
    fn zero_part(&self, offset: u64, len: u64, goes_on: &dyn Fn() -> bool) -> Option<Self::Part>;

    /// Begins a part of a span, `offset` bytes behind the beginning of the span. The length of parts is a power of two,
    /// at least 1,024 bytes, and parts begin at a multiple of it.
    fn begin_part(&self, offset: u64) -> Self::State;

    /// Ends a part.
    fn end_part(&self, state: Self::State) -> Self::Part;

    /// The digest of a span from all of its parts, two at least, in order.
    fn join(&self, parts: Vec<Self::Part>, whole_file: bool) -> Self::Digest;

    /// True if a file of this size whose head has this digest must be read on, where the task leaves the decision open.
    fn goes_on(&self, size: u64, head: &Self::Digest) -> bool {
        let _ = (size, head);
        true
    }
}
