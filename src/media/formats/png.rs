//! PNG: chunks.

use super::super::blocks::exif;
use super::super::payload::{Draft, Format};
use super::super::source::{Reader, Result, damaged};
use super::super::span::Span;
use super::Parser;

pub struct Png;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1A\n";

impl Parser for Png {
    fn format(&self) -> Format {
        Format::Png
    }

    fn begins(&self, head: &[u8]) -> bool {
        head.starts_with(SIGNATURE)
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let mut rest = reader.whole().skip(SIGNATURE.len() as u64);
        loop {
            reader.count(1)?;
            if rest.length < 12 {
                return damaged("a PNG image has no end");
            }
            let length = reader.big(rest.start, 4)?;
            let chunk = Span::new(rest.start, 12 + length);
            if length > 0x7FFF_FFFF || !rest.contains(chunk) {
                return damaged("a PNG chunk ends outside");
            }
            let mut kind = [0; 4];
            kind.copy_from_slice(reader.bytes(Span::new(rest.start + 4, 4))?);
            rest = rest.skip(chunk.length);
            take_chunk(reader, &kind, chunk, draft)?;
            if kind == *b"IEND" {
                break;
            }
        }
        if rest.length > 0 {
            draft.parts.more.put_span(b"after", rest);
        }
        Ok(true)
    }
}

/// Takes one chunk, with its length, kind and checksum.
fn take_chunk(reader: &mut Reader, kind: &[u8; 4], chunk: Span, draft: &mut Draft) -> Result<()> {
    let data = Span::new(chunk.start + 8, chunk.length - 12);
    let parts = &mut draft.parts;
    match kind {
        b"eXIf" => exif::take(reader, data, draft)?,
        b"tIME" => {}
        b"tEXt" | b"zTXt" | b"iTXt" => take_text(reader, data, draft)?,
        b"gAMA" | b"cHRM" | b"sRGB" | b"iCCP" | b"cICP" | b"mDCV" | b"mDCv" | b"cLLI" | b"cLLi" => {
            parts.colour.put_span(kind, data);
        }
        // Square pixels of any size are the same picture.
        b"pHYs" if data.length == 9 => {
            let x = reader.big(data.start, 4)?;
            if x != reader.big(data.start + 4, 4)? {
                parts.picture.put_span(kind, data);
            }
        }
        _ => parts.picture.put_span(b"chunk", chunk),
    }
    Ok(())
}

/// Text is harmless. Some programs write EXIF in it, compressed: then the picture may be turned by it.
fn take_text(reader: &mut Reader, data: Span, draft: &mut Draft) -> Result<()> {
    const XMP: &[u8] = b"XML:com.adobe.xmp\0\0\0\0\0";
    let keyword = reader.bytes(Span::new(data.start, data.length.min(XMP.len() as u64)))?;
    if keyword == XMP {
        draft.blocks.xmp.push(data.skip(XMP.len() as u64));
    } else if keyword.starts_with(b"Raw profile type exif\0")
        || keyword.starts_with(b"Raw profile type APP1\0")
    {
        draft.parts.orientation.put_span(b"text", data);
    }
    Ok(())
}
