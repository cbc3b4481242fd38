//! Places in a file.

/// Bytes of a file. Neither end overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub start: u64,
    pub length: u64,
}

impl Span {
    /// This many bytes from this offset on; fewer, if they would end after the last offset there is.
    pub fn new(start: u64, length: u64) -> Self {
        let length = length.min(u64::MAX - start);
        Self { start, length }
    }

    /// From one offset to another.
    pub fn between(start: u64, end: u64) -> Self {
        Self::new(start, end.saturating_sub(start))
    }

    pub fn end(self) -> u64 {
        self.start + self.length
    }

    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }

    /// Its first bytes; all of them, if there are fewer.
    pub fn first(self, bytes: u64) -> Self {
        Self::new(self.start, self.length.min(bytes))
    }

    /// What is left after its first bytes.
    pub fn skip(self, bytes: u64) -> Self {
        let bytes = bytes.min(self.length);
        Self::new(self.start + bytes, self.length - bytes)
    }
}
