//! What a file says about itself, for people who choose between two that show the same.

mod photo;
mod sound;

use super::payload::Media;
use super::source::{LookError, Reader, Result, Source};
use super::span::Span;

/// Tags of a file. The first block that has one counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tags {
    /// When it was taken, as it is written.
    pub date: Option<String>,
    /// Latitude and longitude, in degrees.
    pub place: Option<(f64, f64)>,
    pub rating: Option<String>,
    /// Number of faces that are marked.
    pub faces: usize,
    pub keywords: Vec<String>,
    pub title: Option<String>,
    pub artist: Option<String>,
    pub camera: Option<String>,
    pub software: Option<String>,
    /// Apple's name of the photo and the film that belong together.
    pub content_identifier: Option<String>,
}

/// Texts that are longer are no tags for people.
const LONGEST: u64 = 4096;

/// Most keywords.
const MOST: usize = 1000;

/// Reads a block.
type Read = fn(&mut Reader, Span, &mut Tags) -> Result<()>;

/// Reads the tags of a file. A block that cannot be read says nothing.
pub fn tags(source: &dyn Source, media: &Media) -> Result<Tags> {
    let (mut tags, mut reader) = (Tags::default(), Reader::new(source)?);
    let blocks = &media.blocks;
    let kinds: [(&[Span], Read); 6] = [
        (&blocks.exif, photo::read_exif),
        (&blocks.xmp, photo::read_xmp),
        (&blocks.iptc, photo::read_iptc),
        (&blocks.comments, sound::read_comments),
        (&blocks.id3, sound::read_id3),
        (&blocks.film, sound::read_film),
    ];
    for (spans, read) in kinds {
        for span in spans {
            if let Err(LookError::Io(error)) = read(&mut reader, *span, &mut tags) {
                return Err(error.into());
            }
        }
    }
    tags.keywords.sort();
    tags.keywords.dedup();
    Ok(tags)
}

/// Takes a value unless there is one, or it is empty.
fn set(tag: &mut Option<String>, value: String) {
    let value = value.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    if tag.is_none() && !value.is_empty() {
        *tag = Some(value.to_owned());
    }
}

fn text(reader: &mut Reader, span: Span) -> Result<String> {
    let span = Span::new(span.start, span.length.min(LONGEST));
    Ok(String::from_utf8_lossy(reader.bytes(span)?).into_owned())
}
