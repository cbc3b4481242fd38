//! WebP: chunks of RIFF.

use super::super::blocks::exif;
use super::super::payload::{Draft, Format};
use super::super::source::{Order, Reader, Result, damaged};
use super::super::span::Span;
use super::Parser;

pub struct WebP;

impl Parser for WebP {
    fn format(&self) -> Format {
        Format::WebP
    }

    fn begins(&self, head: &[u8]) -> bool {
        head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP")
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let whole = reader.whole();
        let length = reader.number(4, 4, Order::Little)?;
        let riff = Span::new(0, 8 + length);
        if !whole.contains(riff) || length < 4 {
            return damaged("a WebP image ends too early");
        }
        let mut rest = riff.skip(12);
        let mut is_first = true;
        while rest.length > 0 {
            reader.count(1)?;
            if rest.length < 8 {
                return damaged("a WebP chunk has no header");
            }
            let mut kind = [0; 4];
            kind.copy_from_slice(reader.bytes(Span::new(rest.start, 4))?);
            let length = reader.number(rest.start + 4, 4, Order::Little)?;
            let data = Span::new(rest.start + 8, length);
            if !rest.contains(data) {
                return damaged("a WebP chunk ends outside");
            }
            if is_first {
                let canvas = canvas(reader, &kind, data)?;
                draft.parts.picture.put(b"canvas", &canvas);
            }
            is_first = false;
            take_chunk(reader, &kind, data, draft)?;
            rest = rest.skip(8 + length + length % 2);
        }
        let after = whole.skip(riff.length);
        if after.length > 0 {
            draft.parts.more.put_span(b"after", after);
        }
        Ok(true)
    }
}

fn take_chunk(reader: &mut Reader, kind: &[u8; 4], data: Span, draft: &mut Draft) -> Result<()> {
    let parts = &mut draft.parts;
    match kind {
        b"VP8X" => {}
        b"EXIF" => {
            // Some programs write the name that JPEG needs.
            let is_named = reader.has(data.start, b"Exif\0\0")?;
            exif::take(reader, data.skip(if is_named { 6 } else { 0 }), draft)?;
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
