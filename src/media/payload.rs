//! What a file shows or plays, told apart from what it says about itself.

use super::part::Part;
use super::span::Span;

/// A format that the parts of a file are known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Jpeg,
    Png,
    WebP,
    /// TIFF and the raw formats that are TIFF and have a test: DNG, ARW.
    Tiff,
    /// HEIC and AVIF.
    Heif,
    /// MP4, MOV, M4A.
    Film,
    Mp3,
    Flac,
}

/// The version of the rules that tell parts apart: a change of a rule is a new version. What an earlier one found is not
/// used.
pub const RULES: u32 = 1;

impl Format {
    /// The extensions of its files.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Jpeg => &["jpg", "jpeg", "jpe", "jfif"],
            Self::Png => &["png"],
            Self::WebP => &["webp"],
            Self::Tiff => &["tif", "tiff", "dng", "arw"],
            Self::Heif => &["heic", "heif", "avif", "hif"],
            Self::Film => &["mp4", "mov", "m4v", "m4a", "m4b", "3gp"],
            Self::Mp3 => &["mp3"],
            Self::Flac => &["flac"],
        }
    }

    /// The domain of its digests.
    pub fn domain(self) -> String {
        let name = match self {
            Self::Jpeg => "jpeg",
            Self::Png => "png",
            Self::WebP => "webp",
            Self::Tiff => "tiff",
            Self::Heif => "heif",
            Self::Film => "film",
            Self::Mp3 => "mp3",
            Self::Flac => "flac",
        };
        format!("payload/v{RULES}/{name}")
    }
}

/// The parts of a file. Two files of a format show the same picture if `picture` is equal, and are the same but for
/// harmless tags if all parts are.
#[derive(Debug, Default)]
pub struct Parts {
    /// The picture, film or sound, and everything that is not known to be something else.
    pub picture: Part,
    /// How it is turned or mirrored for display.
    pub orientation: Part,
    /// Which colours its numbers mean.
    pub colour: Part,
    /// What only its maker can read. In raw formats it is a part of the picture.
    pub notes: Part,
    /// What else is shown: a film after the end of a photo, further tracks, depth maps.
    pub more: Part,
}

impl Parts {
    /// All of them, in the order of the fields.
    pub fn all(&self) -> [&Part; 5] {
        let Self {
            picture,
            orientation,
            colour,
            notes,
            more,
        } = self;
        [picture, orientation, colour, notes, more]
    }
}

/// A file whose parts are known.
#[derive(Debug)]
pub struct Media {
    pub format: Format,
    pub parts: Parts,
    /// Where its tags are.
    pub blocks: Blocks,
}

/// Blocks of tags, each in the syntax of its standard.
#[derive(Debug, Default)]
pub struct Blocks {
    /// TIFF headers with EXIF directories.
    pub exif: Vec<Span>,
    pub xmp: Vec<Span>,
    pub iptc: Vec<Span>,
    /// Vorbis comments of FLAC.
    pub comments: Vec<Span>,
    /// Chunks of text in PNG, from their kind on, and comments in JPEG.
    pub texts: Vec<Span>,
    /// ID3v2 tags.
    pub id3: Vec<Span>,
    /// `moov` of films.
    pub film: Vec<Span>,
}

/// A file while it is looked at.
#[derive(Default)]
pub struct Draft {
    pub parts: Parts,
    pub blocks: Blocks,
    /// Orientation as EXIF has it, in the directory of the first picture.
    pub orientation: Option<u16>,
}
