//! How much of a report is held at once: a set, or the header, and of that so much.

use super::BadLine;
use crate::hash::ContentDigest;

/// Names of one set. A plan takes about a kilobyte for each; a guess at what a machine can spare.
pub const NAMES: u64 = 2_000_000;

/// Bytes of all texts of one set.
const BYTES: u64 = 512 << 20;

/// Bytes of one text. A folder 16,000 deep with names of 255 bytes, each byte escaped; a longer one is an
/// attack on the memory or no report.
pub const TEXT: u64 = 16 << 20;

/// The memory of a set, and whether it fits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    names: u64,
    bytes: u64,
}

impl Room {
    /// Counts this many names with texts of this many bytes in all; true if they still fit. What does not is to
    /// be counted and dropped.
    pub fn take(&mut self, names: usize, bytes: usize) -> bool {
        self.names += names as u64;
        self.bytes += bytes as u64;
        self.is_enough()
    }

    /// Counts what was counted elsewhere.
    pub fn add(&mut self, other: &Self) -> bool {
        self.names += other.names;
        self.bytes += other.bytes;
        self.is_enough()
    }

    /// True as long as everything fitted.
    pub fn is_enough(&self) -> bool {
        self.names <= NAMES && self.bytes <= BYTES
    }

    /// Refuses a set that is too large.
    pub fn check(&self, size: u64, digest: Option<&ContentDigest>) -> Result<(), BadLine> {
        match self.is_enough() {
            true => Ok(()),
            false => Err(BadLine::LargeSet {
                size,
                digest: digest.map(ContentDigest::to_string),
                names: self.names,
                bytes: self.bytes,
            }),
        }
    }

    /// Says what fits, for a message.
    pub fn limits() -> String {
        format!("{NAMES} names with {BYTES} bytes")
    }
}
