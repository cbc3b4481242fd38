//! Where a file lies, in 32 bytes that cannot be taken for its content.

use std::fmt;

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
