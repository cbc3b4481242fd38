//! Photoshop's image resources, which carry IPTC in JPEG and TIFF.

use super::super::part::Part;
use super::super::payload::Draft;
use super::super::source::{Reader, Result};
use super::super::span::Span;

const IPTC: u16 = 0x0404;

/// Resources that say nothing about the picture: resolution, IPTC and its checksum, thumbnails, copyright, addresses,
/// EXIF, XMP, version.
fn is_harmless(number: u16) -> bool {
    matches!(
        number,
        0x03ED | IPTC | 0x0409 | 0x040A | 0x040B | 0x040C | 0x041E | 0x0421 | 0x0424 | 0x0425
    )
}

/// Takes a block of resources. One that cannot be read belongs to the picture as it is.
pub fn take(reader: &mut Reader, block: Span, draft: &mut Draft) -> Result<()> {
    let (mut part, mut iptc) = (Part::default(), Vec::new());
    let mut rest = block;
    while rest.length > 0 {
        let Some((number, name, data)) = resource(reader, rest)? else {
            draft.parts.picture.put_span(b"irb", block);
            return Ok(());
        };
        if number == IPTC {
            iptc.push(data);
        }
        if !is_harmless(number) {
            part.put_spans(&[b"irb", &number.to_be_bytes()[..]].concat(), &[name, data]);
        }
        rest = rest.skip(data.end() + data.length % 2 - rest.start);
    }
    draft.parts.picture.append(&part);
    draft.blocks.iptc.extend(iptc);
    Ok(())
}

/// The number, name and bytes of the resource at the start of a block.
fn resource(reader: &mut Reader, block: Span) -> Result<Option<(u16, Span, Span)>> {
    if block.length < 12 || !reader.has(block.start, b"8BIM")? {
        return Ok(None);
    }
    let number = reader.big(block.start + 4, 2)? as u16;
    // The name begins with its length, and both together are even.
    let name = 1 + reader.big(block.start + 6, 1)?;
    let name = Span::new(block.start + 6, name + name % 2);
    if !block.contains(Span::new(name.end(), 4)) {
        return Ok(None);
    }
    let length = reader.big(name.end(), 4)?;
    let data = Span::new(name.end() + 4, length);
    Ok(block.contains(data).then_some((number, name, data)))
}
