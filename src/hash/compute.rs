//! Hashing bytes that arrive in pieces, and the digests of a read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::many::hash_all;
use super::{ContentDigest, SampleDigest};

/// A BLAKE3 computation over bytes in order. The hasher is made only once the first piece has come: its state takes 2
/// KB, and most files are read in one piece.
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

    /// The digest, if it is of a whole file.
    pub fn content(self) -> Option<ContentDigest> {
        match self {
            Self::Content(digest) => Some(digest),
            Self::Sample(_) => None,
        }
    }
}

/// Turns the bytes of a span into a digest.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// If set, the bytes are only counted here. All digests are the same then.
    pub counted: Option<Arc<AtomicU64>>,
}

impl Fold {
    /// Counts the next bytes, this many, if they are only counted; false if not.
    fn only_counts(&self, len: usize) -> bool {
        let counted = self.counted.as_ref();
        counted.is_some_and(|bytes| {
            bytes.fetch_add(len as u64, Ordering::Relaxed);
            true
        })
    }

    /// Takes the next bytes.
    pub fn feed(&self, state: &mut Running, bytes: &[u8]) {
        if !self.only_counts(bytes.len()) {
            state.feed(bytes);
        }
    }

    /// The digest of all bytes taken. `whole_file` says that the span was the whole file.
    pub fn finish(&self, state: Running, whole_file: bool) -> Digest {
        Digest::of(state.finish(), whole_file)
    }

    /// The digests of spans that came in one piece each, the bytes and whether they are the whole file.
    pub fn all_at_once(&self, spans: &[(&[u8], bool)]) -> Vec<Digest> {
        let inputs = spans.iter().map(|(bytes, _)| {
            let is_hashed = !self.only_counts(bytes.len());
            if is_hashed { *bytes } else { &[] }
        });
        let hashes = hash_all(&inputs.collect::<Vec<_>>());
        let named = spans.iter().zip(hashes);
        named
            .map(|((_, is_whole), hash)| Digest::of(hash, *is_whole))
            .collect()
    }

    /// The digest of a span that came in one piece.
    pub fn at_once(&self, bytes: &[u8], whole_file: bool) -> Digest {
        let is_hashed = !self.only_counts(bytes.len());
        let bytes = if is_hashed { bytes } else { &[] };
        Digest::of(blake3::hash(bytes), whole_file)
    }
}
