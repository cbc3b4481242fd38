//! What a file says about itself, for people who choose between two that show the same.

mod photo;
mod sound;

use std::collections::BTreeMap;

use super::payload::Media;
use super::source::{Reader, Result, if_sound};
use super::span::Span;

/// Tags of a file.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Tags {
    /// When it was taken, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Latitude and longitude, in degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<(f64, f64)>,
    /// Rating, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<String>,
    /// Number of faces that are marked.
    #[serde(skip_serializing_if = "is_zero")]
    pub faces: usize,
    /// Keywords in alphabetical order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artist: Option<String>,
    /// Maker and model of the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<String>,
    /// Program that wrote the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// Number of all tags, also of those that are not named here.
    #[serde(skip_serializing_if = "is_zero")]
    pub count: usize,
    /// Apple's name of the photo and the film that belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_identifier: Option<String>,
}

/// Names that values of a kind have in EXIF (directory and number), XMP (with a prefix), IPTC, Vorbis comments, ID3,
/// films and chunks of PNG, with spaces between them. The first one that has a value counts.
const DATE: &str = "Exif:9003 exif:DateTimeOriginal photoshop:DateCreated xmp:CreateDate IPTC:0237 \
    DATE TDRC TYER TYE day creationdate Chain(0):0132";
const RATING: &str = "xmp:Rating Chain(0):4746 RATING";
const KEYWORD: &str = "dc:subject IPTC:0219";
const TITLE: &str = "dc:title IPTC:0205 Chain(0):010E TITLE TIT2 TT2 nam title Title \
    dc:description IPTC:0278 Description";
const ARTIST: &str = "Chain(0):013B dc:creator IPTC:0250 ARTIST TPE1 TP1 ART artist Author";
const MAKER: &str = "Chain(0):010F";
const CAMERA: &str = "Chain(0):0110 tiff:Model mod model";
const SOFTWARE: &str = "Chain(0):0131 xmp:CreatorTool ENCODER TSSE TSS too swr software Software";
const IDENTIFIER: &str = "Apple:0011 content.identifier";

/// All names.
fn names() -> impl Iterator<Item = &'static str> {
    let of_all = [
        DATE, RATING, KEYWORD, TITLE, ARTIST, MAKER, CAMERA, SOFTWARE, IDENTIFIER,
    ];
    of_all.into_iter().flat_map(str::split_whitespace)
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Texts that are longer are no tags for people.
const LONGEST: u64 = 4096;

/// Most values of one name.
const MOST: usize = 1000;

/// What was found in all blocks: values by the name that they have there.
#[derive(Default)]
struct Found {
    values: BTreeMap<String, Vec<String>>,
    place: Option<(f64, f64)>,
    faces: usize,
    /// Number of tags of all names.
    number: usize,
}

impl Found {
    /// Takes a value that is not empty, if there is a use for its name.
    fn put(&mut self, name: &str, value: &str) {
        let value = value.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        if !value.is_empty() && names().any(|known| known == name) {
            let values = self.values.entry(name.to_owned()).or_default();
            if values.len() < MOST {
                values.push(value.to_owned());
            }
        }
    }

    fn all(&self, names: &'static str) -> impl Iterator<Item = &String> {
        let names = names.split_whitespace();
        names.filter_map(|name| self.values.get(name)).flatten()
    }

    fn first(&self, names: &'static str) -> Option<String> {
        self.all(names).next().cloned()
    }
}

/// Reads a block.
type Read = fn(&mut Reader, Span, &mut Found) -> Result<()>;

/// Reads blocks of several kinds. One that cannot be read says nothing.
fn read_blocks(reader: &mut Reader, kinds: &[(&[Span], Read)]) -> Result<Found> {
    let mut found = Found::default();
    for (spans, read) in kinds {
        for span in *spans {
            if_sound(read(reader, *span, &mut found))?;
        }
    }
    Ok(found)
}

/// Reads Apple's name of a photo and of the film that belongs to it.
pub fn identifier(reader: &mut Reader, media: &Media) -> Result<Option<String>> {
    let blocks = &media.blocks;
    let kinds: [(&[Span], Read); 2] = [
        (&blocks.exif, photo::read_exif),
        (&blocks.film, sound::read_film),
    ];
    Ok(read_blocks(reader, &kinds)?.first(IDENTIFIER))
}

/// Reads the tags of a file with these blocks.
pub fn read(reader: &mut Reader, media: &Media) -> Result<Tags> {
    let blocks = &media.blocks;
    let kinds: [(&[Span], Read); 7] = [
        (&blocks.exif, photo::read_exif),
        (&blocks.xmp, photo::read_xmp),
        (&blocks.iptc, photo::read_iptc),
        (&blocks.texts, photo::read_text),
        (&blocks.comments, sound::read_comments),
        (&blocks.id3, sound::read_id3),
        (&blocks.film, sound::read_film),
    ];
    let found = read_blocks(reader, &kinds)?;
    let mut keywords: Vec<String> = found.all(KEYWORD).cloned().collect();
    keywords.sort();
    keywords.dedup();
    let camera = match (found.first(MAKER), found.first(CAMERA)) {
        (Some(maker), Some(camera)) if !camera.starts_with(&maker) => {
            Some(format!("{maker} {camera}"))
        }
        (maker, camera) => camera.or(maker),
    };
    Ok(Tags {
        date: found.first(DATE),
        place: found.place,
        rating: found.first(RATING),
        faces: found.faces,
        count: found.number,
        keywords,
        title: found.first(TITLE),
        artist: found.first(ARTIST),
        camera,
        software: found.first(SOFTWARE),
        content_identifier: found.first(IDENTIFIER),
    })
}

fn text(reader: &mut Reader, span: Span) -> Result<String> {
    Ok(String::from_utf8_lossy(reader.bytes(span.first(LONGEST))?).into_owned())
}

/// Degrees, minutes and seconds on a side of the Earth.
fn degrees(numbers: impl IntoIterator<Item = f64>, side: &str) -> f64 {
    let numbers = numbers.into_iter().zip([1.0, 60.0, 3600.0]);
    let degrees: f64 = numbers.map(|(number, unit)| number / unit).sum();
    if matches!(side, "S" | "W") {
        -degrees
    } else {
        degrees
    }
}
