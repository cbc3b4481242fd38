//! PNG: chunks.

use super::super::blocks::exif;
use super::super::fields::Fields;
use super::super::payload::Draft;
use super::super::source::{Reader, Result, damaged};
use super::super::span::Span;
use super::is_square;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1A\n";

pub fn begins(head: &[u8]) -> bool {
    head.starts_with(SIGNATURE)
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let chunks = reader.whole().skip(SIGNATURE.len() as u64);
    let mut fields = Fields::new(reader, chunks);
    let mut kind = [0; 4];
    while kind != *b"IEND" {
        fields.reader.count_kept(1)?;
        let start = fields.rest.start;
        let length = fields.number(4)?;
        kind = fields.bytes()?;
        let data = fields.span(length)?;
        fields.span(4)?;
        let chunk = Span::between(start, fields.rest.start);
        take_chunk(fields.reader, &kind, data, chunk, draft)?;
    }
    if fields.rest.length > 0 {
        draft.parts.more.put_span(b"after", fields.rest);
    }
    Ok(true)
}

/// Takes one chunk: data, and with its length, kind and checksum. If not all of it belongs to the picture, its checksum
/// is checked: some decoders refuse a picture with a wrong one.
fn take_chunk(
    reader: &mut Reader,
    kind: &[u8; 4],
    data: Span,
    chunk: Span,
    draft: &mut Draft,
) -> Result<()> {
    let parts = &mut draft.parts;
    match kind {
        b"eXIf" => exif::take_beside(reader, data, draft)?,
        b"tIME" => {}
        b"tEXt" | b"zTXt" | b"iTXt" => take_text(reader, data, chunk, draft)?,
        b"gAMA" | b"cHRM" | b"sRGB" | b"iCCP" | b"cICP" | b"mDCV" | b"mDCv" | b"cLLI" | b"cLLi" => {
            parts.colour.put_span(kind, data);
        }
        // Square pixels of any size are the same picture.
        b"pHYs" if data.length == 9 && is_square(reader, data, 4)? => {}
        b"pHYs" => parts.picture.put_span(kind, data),
        _ => {
            parts.picture.put_span(b"chunk", chunk);
            return Ok(());
        }
    }
    let named = Span::between(chunk.start + 4, data.end());
    if reader.big(data.end(), 4)? != u64::from(checksum(reader, named)?) {
        return damaged("a checksum is wrong");
    }
    Ok(())
}

/// CRC-32 of a span.
fn checksum(reader: &mut Reader, mut rest: Span) -> Result<u32> {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    const BLOCK: u64 = 4 << 10;
    let mut checksum = u32::MAX;
    while rest.length > 0 {
        for byte in reader.bytes(rest.first(BLOCK))? {
            checksum ^= u32::from(*byte);
            for _ in 0..8 {
                let is_odd = checksum & 1 == 1;
                checksum = checksum >> 1 ^ if is_odd { POLYNOMIAL } else { 0 };
            }
        }
        rest = rest.skip(BLOCK);
    }
    Ok(!checksum)
}

/// Text is harmless. Some programs write EXIF in it, compressed: then the picture may be turned by it.
fn take_text(reader: &mut Reader, data: Span, chunk: Span, draft: &mut Draft) -> Result<()> {
    const XMP: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";
    let keyword = reader.bytes(data.first(XMP.len() as u64))?;
    if keyword == XMP {
        draft.blocks.xmp.push(data.skip(XMP.len() as u64));
    } else if keyword.starts_with(b"Raw profile type exif\0")
        || keyword.starts_with(b"Raw profile type APP1\0")
    {
        draft.parts.orientation.put_span(b"text", data);
    } else {
        draft
            .blocks
            .texts
            .push(Span::between(chunk.start + 4, data.end()));
    }
    Ok(())
}
