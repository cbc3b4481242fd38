//! Which bytes of a picture, film or sound are seen or heard, and which only say something about it.
//!
//! The rule subtracts: a file is its picture, less what is known to be harmless. What nobody thought of costs a pair that
//! is not found, never one that is none.

mod blocks;
mod digests;
mod fields;
mod formats;
mod identifier;
mod part;
mod payload;
mod source;
mod span;
mod tags;

pub use digests::{Other, PartDigests, key, may_be_media};
pub use identifier::{Identifier, Identifiers};
pub use part::Part;
pub use payload::{Format, Media, RULES};
pub use source::{HEAD as HEADERS, LookError, Result, Source};
pub use tags::Tags;

use payload::Draft;
use source::{Reader, damaged};

/// Finds the parts of a file. `None` for a file of no format that is known.
pub fn look(source: &dyn Source) -> Result<Option<Media>> {
    look_with(&mut Reader::new(source)?)
}

/// Finds the key of a file, and its identifier if it is one half of a Live Photo. `None` for a file of no format that is
/// known.
pub fn look_at_headers(source: &dyn Source) -> Result<Option<([u8; 16], Option<Identifier>)>> {
    let mut reader = Reader::new(source)?;
    let Some(media) = look_with(&mut reader)? else {
        return Ok(None);
    };
    let name = tags::identifier(&mut reader, &media)?;
    let identifier = name.as_deref().and_then(identifier::numbered);
    Ok(Some((key(&media), identifier)))
}

/// Reads the tags of a file. A block that cannot be read says nothing. `None` for a file of no format that is known.
pub fn tags(source: &dyn Source) -> Result<Option<Tags>> {
    let mut reader = Reader::new(source)?;
    let media = look_with(&mut reader)?;
    media
        .map(|media| tags::read(&mut reader, &media))
        .transpose()
}

fn look_with(reader: &mut Reader) -> Result<Option<Media>> {
    for (format, begins, parse) in formats::PARSERS {
        let mut draft = Draft::default();
        if begins(reader.head()) && parse(reader, &mut draft)? {
            return finish(reader, format, draft).map(Some);
        }
    }
    Ok(None)
}

fn finish(reader: &mut Reader, format: Format, mut draft: Draft) -> Result<Media> {
    // Some programs write the orientation in XMP only.
    for block in &draft.blocks.xmp {
        if draft.orientation.is_none() {
            draft.orientation = blocks::xmp::orientation(reader, *block)?;
        }
    }
    if let Some(turned) = draft.orientation.filter(|orientation| *orientation > 1) {
        let orientation = &mut draft.parts.orientation;
        orientation.put(b"turned", &turned.to_le_bytes());
    }
    let lengths = draft.parts.all().map(Part::from_file);
    let total = lengths.into_iter().fold(0, u64::saturating_add);
    if total / 2 > reader.whole().length {
        return damaged("its parts overlap");
    }
    let Draft { parts, blocks, .. } = draft;
    Ok(Media {
        format,
        parts,
        blocks,
    })
}

#[cfg(test)]
mod tests;
