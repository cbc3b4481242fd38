//! Digests of what files show: by them, files that show the same find each other.

use std::io;

use super::formats::PARSERS;
use super::part::{Part, Piece};
use super::payload::Media;
use super::source::Source;

/// A part that may differ between files that show the same picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// How it is turned or mirrored for display.
    Orientation,
    /// Which colours its numbers mean.
    Colour,
    /// What only the maker of the camera can read.
    Notes,
    /// What else is shown: a film after the end of a photo, further tracks, depth maps.
    More,
}

impl Other {
    /// All of them, in the order of [`PartDigests::others`].
    pub const ALL: [Self; 4] = [Self::Orientation, Self::Colour, Self::Notes, Self::More];

    /// Its name in reports for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Orientation => "orientation",
            Self::Colour => "colours",
            Self::Notes => "maker-notes",
            Self::More => "further-parts",
        }
    }

    /// What a file has that differs in it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Orientation => "another orientation",
            Self::Colour => "other colours",
            Self::Notes => "other maker notes",
            Self::More => "other parts beside the picture",
        }
    }
}

/// Digests of the parts of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartDigests {
    /// BLAKE3 of the picture, film or sound, in the domain of its [`Format`](super::Format).
    pub picture: [u8; 32],
    /// The first 16 bytes of BLAKE3 of the other parts, in the order of [`Other::ALL`].
    pub others: [[u8; 16]; 4],
}

impl PartDigests {
    /// Reads and hashes all parts of a file.
    ///
    /// # Errors
    /// Those of the source.
    pub fn of(media: &Media, source: &dyn Source) -> io::Result<Self> {
        let [picture, others @ ..] = media.parts.all();
        let domain = media.format.domain();
        let digest = |part: &Part| part.digest(&domain, source);
        let mut digests = [[0; 16]; 4];
        for (to, part) in digests.iter_mut().zip(others) {
            to.copy_from_slice(&digest(part)?[..16]);
        }
        Ok(Self {
            picture: digest(picture)?,
            others: digests,
        })
    }

    /// The parts beside the picture that two files do not have in common.
    pub fn differences(&self, other: &Self) -> impl Iterator<Item = Other> {
        let pairs = self.others.into_iter().zip(other.others);
        let differ = Other::ALL.into_iter().zip(pairs);
        differ.filter_map(|(part, (a, b))| (a != b).then_some(part))
    }
}

/// What two files that show the same picture have in common before it is read: the format, the length of the picture,
/// and its structure.
pub fn key(media: &Media) -> [u8; 16] {
    let Media { format, parts, .. } = media;
    let mut hasher = blake3::Hasher::new();
    hasher.update(format.domain().as_bytes());
    hasher.update(&parts.picture.length().to_le_bytes());
    for piece in parts.picture.pieces() {
        if let Piece::Literal(bytes) = piece {
            hasher.update(bytes);
        }
    }
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    key
}

/// True if a file with this name may have a format that is known. Files with other names are not looked at.
pub fn may_be_media(name: &[u8]) -> bool {
    let dot = name.iter().rposition(|&byte| byte == b'.');
    let extension = dot.map(|dot| &name[dot + 1..]);
    extension.is_some_and(|extension| {
        let formats = PARSERS.iter().map(|(format, ..)| format.extensions());
        let mut all = formats.flatten();
        all.any(|known| extension.eq_ignore_ascii_case(known.as_bytes()))
    })
}
