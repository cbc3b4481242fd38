//! What a generated file holds, as a recipe: equal recipes give equal bytes, different recipes different bytes.
//!
//! That is what makes the ground truth known without reading a single file back. It holds because the first eight bytes
//! of a random content are a one-to-one image of its seed, and so are the first eight of a patch.

use std::fs::File;
use std::io::{self, Write};

use super::rng::{STEP, mix};

/// The shortest content that is not empty: shorter ones could be equal by accident.
pub const SHORTEST: u64 = 16;

/// How many bytes a patch replaces. Patches lie on multiples of it, so that none straddles two buffers.
pub const PATCH_LEN: u64 = 32;

/// The recipe of one file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// No bytes at all.
    Empty,
    /// Nothing but a hole: zeros that take no room on the disk.
    Hole { len: u64 },
    /// Incompressible bytes, with one small part replaced if there is a patch.
    Random {
        seed: u64,
        len: u64,
        patch: Option<Patch>,
    },
}

/// A small part of a file that differs from what its seed says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    offset: u64,
    seed: u64,
}

impl Content {
    /// Random bytes; a length below [`SHORTEST`] becomes that.
    pub fn random(seed: u64, len: u64) -> Self {
        Self::Random {
            seed,
            len: len.max(SHORTEST),
            patch: None,
        }
    }

    /// The same length and bytes except for [`PATCH_LEN`] of them near `offset`, but never the first ones.
    pub fn patched(self, offset: u64, patch_seed: u64) -> Self {
        let Self::Random { seed, len, .. } = self else {
            panic!("only random contents take a patch: {self:?}")
        };
        assert!(len >= 2 * PATCH_LEN, "too short for a patch: {len} bytes");
        let offset = offset.clamp(PATCH_LEN, len - PATCH_LEN) / PATCH_LEN * PATCH_LEN;
        Self::Random {
            seed,
            len,
            patch: Some(Patch {
                offset,
                seed: patch_seed,
            }),
        }
    }

    /// How many bytes the file has.
    pub fn len(self) -> u64 {
        match self {
            Self::Empty => 0,
            Self::Hole { len } | Self::Random { len, .. } => len,
        }
    }

    /// The name of the set of all files with this content; `None` if it is empty.
    pub fn set(self) -> Option<u64> {
        let fold = |numbers: &[u64]| {
            numbers
                .iter()
                .fold(0, |folded, &number| mix(folded ^ number).wrapping_add(STEP))
        };
        match self {
            Self::Empty => None,
            Self::Hole { len } => Some(fold(&[1, len])),
            Self::Random {
                seed,
                len,
                patch: None,
            } => Some(fold(&[2, seed, len])),
            Self::Random {
                seed,
                len,
                patch: Some(patch),
            } => Some(fold(&[3, seed, len, patch.offset, patch.seed])),
        }
    }

    /// Writes the bytes to a new file, using `buffer` (a multiple of [`PATCH_LEN`]) on the way.
    pub fn write(self, file: &mut File, buffer: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Empty => Ok(()),
            Self::Hole { len } => file.set_len(len),
            Self::Random { seed, len, patch } => {
                let mut offset = 0;
                while offset < len {
                    let part = &mut buffer[..];
                    let wanted = (len - offset).min(part.len() as u64) as usize;
                    let part = &mut part[..wanted];
                    fill(seed, offset, part);
                    if let Some(patch) =
                        patch.filter(|p| (offset..offset + wanted as u64).contains(&p.offset))
                    {
                        let start = (patch.offset - offset) as usize;
                        fill(patch.seed, 0, &mut part[start..start + PATCH_LEN as usize]);
                    }
                    file.write_all(part)?;
                    offset += wanted as u64;
                }
                Ok(())
            }
        }
    }
}

/// Fills `part` with the stream of `seed` from `offset` (a multiple of eight) on.
fn fill(seed: u64, offset: u64, part: &mut [u8]) {
    let mut state = seed.wrapping_add((offset / 8).wrapping_mul(STEP));
    for word in part.chunks_mut(8) {
        state = state.wrapping_add(STEP);
        word.copy_from_slice(&mix(state).to_le_bytes()[..word.len()]);
    }
}
