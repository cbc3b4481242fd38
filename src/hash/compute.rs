//! Hashing bytes that arrive in pieces.

use super::zeros::{Leaves, Zeros, zeros};
use super::{ContentDigest, SampleDigest};

/// A BLAKE3 computation over bytes in order.
pub enum Running {
    /// The hasher is made only once the first piece has come: its state takes 2 KB, and most files are read in one piece.
    Plain(Option<Box<blake3::Hasher>>),
    /// Of a sparse file: what stands for zeros may be known.
    Sparse(Box<Leaves>),
}

impl Default for Running {
    fn default() -> Self {
        Self::Plain(None)
    }
}

impl Running {
    /// The computation for a sparse file, with zeros that other files share.
    pub fn sparse(zeros: &Zeros) -> Self {
        Self::Sparse(Box::new(Leaves::new(zeros.clone())))
    }

    /// Takes the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        match self {
            Self::Plain(hasher) => drop(hasher.get_or_insert_default().update(bytes)),
            Self::Sparse(leaves) => leaves.feed(bytes),
        }
    }

    /// Takes this many zeros.
    pub fn feed_zeros(&mut self, len: u64) {
        match self {
            Self::Plain(hasher) => zeros(hasher.get_or_insert_default(), len),
            Self::Sparse(leaves) => leaves.feed_zeros(len),
        }
    }

    /// BLAKE3 of all pieces.
    pub fn finish(self) -> blake3::Hash {
        match self {
            Self::Plain(None) => blake3::hash(b""),
            Self::Plain(Some(hasher)) => hasher.finalize(),
            Self::Sparse(leaves) => leaves.finish(),
        }
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
