//! Hashing bytes that arrive in pieces.

use std::sync::OnceLock;

use super::{ContentDigest, SampleDigest};

/// A BLAKE3 computation over bytes in order. The hasher is made only once the first piece has come: its state takes 2 KB,
/// and most files are read in one piece.
#[derive(Default)]
pub struct Running(Option<Box<blake3::Hasher>>);

/// Zeros that are hashed at a time. Memory that was never written to is one page of the kernel's, many times over, and
/// stays in the first-level cache.
const ZEROS: u64 = 256 << 10;

impl Running {
    /// Takes the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.0.get_or_insert_default().update(bytes);
    }

    /// Takes this many zeros.
    pub fn feed_zeros(&mut self, mut len: u64) {
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        let zeros = BYTES.get_or_init(|| vec![0; ZEROS as usize]);
        while len > 0 {
            let step = len.min(ZEROS);
            self.feed(&zeros[..step as usize]);
            len -= step;
        }
    }

    /// BLAKE3 of all pieces.
    pub fn finish(self) -> blake3::Hash {
        self.0
            .map_or_else(|| blake3::hash(b""), |hasher| hasher.finalize())
    }
}

/// A digest of either kind, as a read brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Digest {
    /// Of a part of a file.
    Sample(SampleDigest),
    /// Of a whole file.
    Content(ContentDigest),
}

impl Digest {
    /// Names the digest for what was hashed.
    pub fn of(hash: blake3::Hash, is_whole_file: bool) -> Self {
        if is_whole_file {
            Self::Content(hash.into())
        } else {
            Self::Sample(hash.into())
        }
    }

    /// The digest, if it is of a part of a file.
    pub fn sample(self) -> Option<SampleDigest> {
        match self {
            Self::Sample(digest) => Some(digest),
            Self::Content(_) => None,
        }
    }
}
