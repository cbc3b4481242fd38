//! The lengths of the samples.

/// Bytes of the head sample. Files up to this length need only one read.
pub const HEAD: u64 = 4096;

/// Bytes of the tail sample.
pub const TAIL: u64 = 4096;
