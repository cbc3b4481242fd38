//! Hashing bytes that arrive in pieces.

use blake3::hazmat::HasherExt;

use super::{ContentDigest, SampleDigest, Subtree};

/// A BLAKE3 computation that is made only once the first piece has come: the hasher's state
/// takes 2 KB, and most files are read in one piece.
#[derive(Default)]
pub struct Running(Option<Box<blake3::Hasher>>);

impl Running {
    /// Takes the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.0.get_or_insert_default().update(bytes);
    }

    /// For a part of a longer whole, this many bytes behind its beginning; see [`Subtree`].
    pub fn at(offset: u64) -> Self {
        let mut hasher = Box::<blake3::Hasher>::default();
        hasher.set_input_offset(offset);
        Self(Some(hasher))
    }

    /// The chaining value of the part that was begun with [`Self::at`].
    pub fn finish_part(self) -> Subtree {
        Subtree::of(&self.0.unwrap_or_default())
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
