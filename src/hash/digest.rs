//! Two kinds of digest that can never be compared with each other.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// BLAKE3 of a file's whole content: what `b3sum` prints. In JSON it is the same 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct ContentDigest([u8; 32]);

/// Says that a text is no digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a BLAKE3 digest")]
pub struct BadDigest(pub String);

impl ContentDigest {
    /// Digest of no bytes at all.
    pub fn of_nothing() -> Self {
        Self(*blake3::hash(b"").as_bytes())
    }

    /// Takes 32 bytes that are known to be the BLAKE3 of a whole content.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Its first 64 bits, as good as random.
    pub(crate) fn first_word(&self) -> u64 {
        first_word(&self.0)
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        blake3::Hash::from_hex(hex)
            .ok()
            .map(|h| Self(*h.as_bytes()))
    }
}

impl TryFrom<String> for ContentDigest {
    type Error = BadDigest;

    fn try_from(hex: String) -> Result<Self, BadDigest> {
        Self::from_hex(&hex).ok_or(BadDigest(hex))
    }
}

impl Serialize for ContentDigest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl From<blake3::Hash> for ContentDigest {
    fn from(hash: blake3::Hash) -> Self {
        Self(*hash.as_bytes())
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentDigest({self})")
    }
}

/// 128 bits of BLAKE3 over a part of a file (its head or its tail).
///
/// Equal samples only say that two files are worth a further read. 128 bits keep chance
/// collisions out of reach, and even one would cost a read, never a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SampleDigest([u8; 16]);

impl SampleDigest {
    /// Digest of the given bytes.
    pub fn of(bytes: &[u8]) -> Self {
        blake3::hash(bytes).into()
    }

    /// Takes 16 bytes that are known to be such a digest.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Its first 64 bits, as good as random.
    pub fn first_word(&self) -> u64 {
        first_word(&self.0)
    }
}

impl From<blake3::Hash> for SampleDigest {
    fn from(hash: blake3::Hash) -> Self {
        let mut first = [0; 16];
        first.copy_from_slice(&hash.as_bytes()[..16]);
        Self(first)
    }
}

fn first_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(word)
}
