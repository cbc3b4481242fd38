//! What stands for a content or a place: digests of different kinds, which can never be compared with each other.

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

/// Stands for a content that was compared with others.
///
/// Files with the same token have the same content. Files of one comparison with other groups have other contents. Of
/// files of two comparisons nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentToken {
    /// Number of the comparison. No other one has it, in whatever run and on whatever machine.
    comparison: [u8; 16],
    /// Number of the content in this comparison.
    group: u32,
}

/// Bytes of a token that is written down.
const LENGTH: usize = 20;

impl ContentToken {
    /// Stands for a content, by the numbers of the comparison and of the content in it.
    pub fn new(comparison: u128, group: u32) -> Self {
        let comparison = comparison.to_le_bytes();
        Self { comparison, group }
    }

    /// Number of the comparison.
    pub fn comparison(self) -> u128 {
        u128::from_le_bytes(self.comparison)
    }

    /// As it is written down.
    pub fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..16].copy_from_slice(&self.comparison);
        bytes[16..].copy_from_slice(&self.group.to_le_bytes());
        bytes
    }

    /// Reads what was written down.
    pub fn from_bytes(bytes: [u8; LENGTH]) -> Self {
        let [a, b, c, d] = [bytes[16], bytes[17], bytes[18], bytes[19]];
        let mut comparison = [0; 16];
        comparison.copy_from_slice(&bytes[..16]);
        Self {
            comparison,
            group: u32::from_le_bytes([a, b, c, d]),
        }
    }
}

/// The purpose of the hash: with another purpose the same bytes give another one.
const PURPOSE: &str = "seekless 2026-11-22 places of blocks";

/// Stands for the places of all blocks that a file lies in. Equal ones say that two files lie in the same
/// blocks; with what is in them they have nothing to do, so nothing turns one into a digest of a content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlacesDigest([u8; 32]);

impl fmt::Debug for PlacesDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = blake3::Hash::from_bytes(self.0).to_hex();
        write!(f, "PlacesDigest({hex})")
    }
}

/// Takes places, one number after the other.
pub struct Places(Box<blake3::Hasher>);

impl Default for Places {
    fn default() -> Self {
        Self(Box::new(blake3::Hasher::new_derive_key(PURPOSE)))
    }
}

impl Places {
    /// Takes the next number.
    pub fn add(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    /// Stands for all numbers, and for the space in which they mean a place.
    pub fn finish(mut self, space: u16) -> PlacesDigest {
        self.0.update(&space.to_le_bytes());
        PlacesDigest(*self.0.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::ContentDigest;

    fn of(numbers: &[u64], space: u16) -> PlacesDigest {
        let mut places = Places::default();
        numbers.iter().for_each(|&number| places.add(number));
        places.finish(space)
    }

    #[test]
    fn every_number_and_the_space_count() {
        let all = [
            of(&[], 1),
            of(&[1], 1),
            of(&[1], 2),
            of(&[1, 2], 1),
            of(&[2, 1], 1),
        ];
        for (i, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(i));
        }
        assert_eq!(of(&[1, 2], 1), all[3]);
    }

    /// A file that holds the very numbers that another one's places are.
    #[test]
    fn places_are_not_the_content_of_a_file_that_spells_them_out() {
        let mut spelt_out = 4096_u64.to_le_bytes().to_vec();
        spelt_out.extend(7_u16.to_le_bytes());
        let content = ContentDigest::from(blake3::hash(&spelt_out));
        assert_ne!(of(&[4096], 7).0, *content.as_bytes());
    }
}
