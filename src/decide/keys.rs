//! The keys by which files are joined, stage after stage. Each key names the class of the stage before. Classes
//! therefore only split, and a digest is compared only with digests of the same stage, the same range and the same
//! size.

use crate::file::FileIndex;
use crate::hash::{ContentDigest, SampleDigest};

use super::class::ClassId;
use super::keyed_join::Key;

/// A sample (head or tail) of the files of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleKey {
    /// Class of the stage before.
    pub parent: ClassId,
    /// Digest of the sample.
    pub digest: SampleDigest,
}

/// The whole content of files of one size: 36 bytes, since there is one for nearly every file that
/// is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentKey {
    /// Class of the size; with [`IS_OF`] the bytes are a file's number instead of a digest.
    size: u32,
    bytes: [u8; 32],
}

/// Marks contents that have no digest. Each class of a size has at least two files, so the number of classes never
/// reaches 2^31.
const IS_OF: u32 = 1 << 31;

impl ContentKey {
    /// The key of a content of files of one size.
    pub fn new(size: ClassId, content: Content) -> Self {
        match content {
            Content::Digest(digest) => Self {
                size: size.0,
                bytes: *digest.as_bytes(),
            },
            Content::Of(file) => {
                let mut bytes = [0; 32];
                bytes[..4].copy_from_slice(&file.0.to_le_bytes());
                Self {
                    size: size.0 | IS_OF,
                    bytes,
                }
            }
        }
    }

    /// The digest, if the key is a digest.
    pub fn digest(&self) -> Option<ContentDigest> {
        (self.size & IS_OF == 0).then_some(ContentDigest::from_bytes(self.bytes))
    }
}

/// A content of files of one size. All files that may be equal are distinguished in one of these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Identified by its digest.
    Digest(ContentDigest),
    /// Identified by the first file that has it, as a comparison showed.
    Of(FileIndex),
}

impl Key for SampleKey {
    fn hash(&self) -> u64 {
        self.digest.first_word() ^ spread(self.parent)
    }
}

impl Key for ContentKey {
    fn hash(&self) -> u64 {
        let word = ContentDigest::from_bytes(self.bytes).first_word();
        let content = match self.size & IS_OF {
            0 => word,
            _ => mixed(word),
        };
        content ^ spread(ClassId(self.size))
    }
}

/// A number with its bits well mixed (splitmix64's finalizer).
pub fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The number of a class, spread over all bits: files of very many sizes may have one head (zeros), so the lowest bits,
/// which select the place in a table, must not come from the digest alone.
fn spread(class: ClassId) -> u64 {
    u64::from(class.0).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Sparse files of a million lengths have one head.
    #[test]
    fn one_digest_in_many_classes_lies_all_over_a_table() {
        let digest = SampleDigest::of(&[0; 4096]);
        let content = Content::Digest(ContentDigest::of_nothing());
        let places = |hash: fn(ClassId, SampleDigest, Content) -> u64| {
            let place = |i| hash(ClassId(i), digest, content) % 1024;
            (0..1024).map(place).collect::<HashSet<_>>().len()
        };
        let samples = places(|parent, digest, _| SampleKey { parent, digest }.hash());
        let contents = places(|size, _, content| ContentKey::new(size, content).hash());
        assert!(samples > 512 && contents > 512, "{samples}, {contents}");
    }
}
