//! WebP: chunks of RIFF.

use super::super::blocks::exif;
use super::super::fields::Fields;
use super::super::payload::Draft;
use super::super::source::{Order, Reader, Result, damaged};
use super::super::span::Span;

pub fn begins(head: &[u8]) -> bool {
    head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP")
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let mut file = Fields::in_order(reader, reader.whole(), Order::Little);
    file.span(4)?;
    let length = file.number(4)?;
    let riff = file.span(length)?;
    if file.rest.length > 0 {
        draft.parts.more.put_span(b"after", file.rest);
    }
    let mut fields = Fields::in_order(reader, riff.skip(4), Order::Little);
    let mut is_first = true;
    while fields.rest.length > 0 {
        fields.reader.count_kept(1)?;
        let kind = fields.bytes()?;
        let length = fields.number(4)?;
        let data = fields.span(length)?;
        fields.rest = fields.rest.skip(length % 2);
        if is_first {
            let canvas = canvas(fields.reader, &kind, data)?;
            draft.parts.picture.put(b"canvas", &canvas);
        }
        is_first = false;
        take_chunk(fields.reader, &kind, data, draft)?;
    }
    Ok(true)
}

fn take_chunk(reader: &mut Reader, kind: &[u8; 4], data: Span, draft: &mut Draft) -> Result<()> {
    let parts = &mut draft.parts;
    match kind {
        b"VP8X" => {}
        b"EXIF" => {
            // Some programs write the name that JPEG needs.
            let is_named = reader.has_in(data, b"Exif\0\0")?;
            exif::take_beside(reader, data.skip(if is_named { 6 } else { 0 }), draft)?;
        }
        b"XMP " => draft.blocks.xmp.push(data),
        b"ICCP" => parts.colour.put_span(kind, data),
        _ => parts.picture.put_span(kind, data),
    }
    Ok(())
}

/// Flags but for those of metadata, width and height: as the first chunk states them, or as it would if the file had
/// metadata.
fn canvas(reader: &mut Reader, kind: &[u8; 4], data: Span) -> Result<[u8; 10]> {
    const METADATA: u8 = 0x2C;
    const ALPHA: u8 = 0x10;
    let mut canvas = [0; 10];
    let length = if kind == b"VP8L" { 5 } else { 10 };
    if data.length < length {
        return damaged("a WebP image has no header");
    }
    let head = reader.bytes(Span::new(data.start, length))?;
    let (width, height) = match kind {
        b"VP8X" => {
            canvas.copy_from_slice(head);
            canvas[0] &= !METADATA;
            return Ok(canvas);
        }
        b"VP8 " => {
            let side = |at: usize| u32::from(u16::from_le_bytes([head[at], head[at + 1]]) & 0x3FFF);
            (side(6).wrapping_sub(1), side(8).wrapping_sub(1))
        }
        b"VP8L" => {
            let bits = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
            canvas[0] = if bits >> 28 & 1 == 1 { ALPHA } else { 0 };
            (bits & 0x3FFF, bits >> 14 & 0x3FFF)
        }
        _ => return damaged("a WebP image begins with another chunk"),
    };
    canvas[4..7].copy_from_slice(&width.to_le_bytes()[..3]);
    canvas[7..].copy_from_slice(&height.to_le_bytes()[..3]);
    Ok(canvas)
}
