//! The lengths of the samples.

/// Bytes of the head sample. Files no longer than this are done with one read.
pub const HEAD: u64 = 4096;

/// Bytes of the tail sample.
pub const TAIL: u64 = 4096;
