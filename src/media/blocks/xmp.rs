//! XMP, read without an XML parser: single values by name.

use super::super::source::{Reader, Result};
use super::super::span::Span;

/// Longer blocks are not read. A guess.
const LONGEST: u64 = 256 << 10;

/// The text of a block, or nothing if it is too long.
pub fn text(reader: &mut Reader, block: Span) -> Result<String> {
    if block.length > LONGEST {
        return Ok(String::new());
    }
    Ok(String::from_utf8_lossy(reader.bytes(block)?).into_owned())
}

/// The first value of a property, written as an attribute or as an element.
pub fn value<'a>(text: &'a str, property: &str) -> Option<&'a str> {
    let mut rest = text;
    while let Some(at) = rest.find(property) {
        rest = &rest[at + property.len()..];
        let after = rest.trim_start();
        let (value, end) = match after.strip_prefix('=') {
            Some(value) => {
                let value = value.trim_start();
                (value.get(1..)?, value.chars().next()?)
            }
            None => match after.strip_prefix('>') {
                Some(value) => (value, '<'),
                None => continue,
            },
        };
        return value.find(end).map(|end| value[..end].trim());
    }
    None
}

/// The orientation that a block gives the picture.
pub fn orientation(reader: &mut Reader, block: Span) -> Result<Option<u16>> {
    let text = text(reader, block)?;
    Ok(value(&text, "tiff:Orientation").and_then(|value| value.parse().ok()))
}
