//! The interface through which the comparison reads a file.

/// A file that is compared with others.
pub trait Side: Sized {
    /// The result for a file that could not be read.
    type Failed;

    /// Reads a block of this many bytes, all of it, to the beginning of a buffer. A file that cannot be read is removed
    /// from the comparison; another file may replace it if the file also represents that one.
    ///
    /// # Errors
    /// The file that takes its place, if there is one.
    fn read(
        self,
        buffer: &mut [u8],
        len: usize,
        offset: u64,
        failed: &mut Vec<Self::Failed>,
    ) -> Result<Self, Option<Self>>;

    /// True if a block is known to be all zeros.
    fn is_hole(&mut self, _offset: u64, _len: usize) -> bool {
        false
    }
}
