//! The interface of the function that digests the bytes of a file.

use std::hash::Hash;

/// Turns the bytes of a span into a digest. The executor is made with one and never looks inside.
pub trait Fold: Clone + Send + 'static {
    /// A digest under way.
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

    /// The same; `begun` was made when its file was begun.
    fn of_one_piece(&self, begun: &Self::State, bytes: &[u8], whole_file: bool) -> Self::Digest {
        let _ = begun;
        self.at_once(bytes, whole_file)
    }

    /// Takes so many zeros.
    fn feed_zeros(&self, state: &mut Self::State, len: u64);

    /// A part that is all zeros; `None` if `goes_on` says that nobody wants it any more.
    fn zero_part(&self, offset: u64, len: u64, goes_on: &dyn Fn() -> bool) -> Option<Self::Part>;

    /// Begins with a part of a span, so many bytes behind its beginning. Parts are as long as a power
    /// of two says, 1,024 bytes at least, and begin at a multiple of that.
    fn begin_part(&self, offset: u64) -> Self::State;

    /// Ends a part.
    fn end_part(&self, state: Self::State) -> Self::Part;

    /// The digest of a span from all of its parts, two at least, in order.
    fn join(&self, parts: Vec<Self::Part>, whole_file: bool) -> Self::Digest;

    /// True if a file of this size whose beginning has this digest is to be read on, where the task
    /// leaves that open.
    fn goes_on(&self, size: u64, head: &Self::Digest) -> bool {
        let _ = (size, head);
        true
    }
}
