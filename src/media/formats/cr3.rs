//! CR3 of Canon: boxes. All belong to the picture but for tags that say nothing about it.

use super::super::blocks::boxes::{self, IsoBox};
use super::super::payload::{Draft, Format};
use super::super::source::{Reader, Result, damaged};
use super::super::span::Span;
use super::{Parser, tiff};

pub struct Cr3;

impl Parser for Cr3 {
    fn format(&self) -> Format {
        Format::Cr3
    }

    fn begins(&self, head: &[u8]) -> bool {
        head.get(4..12) == Some(b"ftypcrx ")
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let whole = reader.whole();
        let all = boxes::read(reader, whole)?;
        let data: Vec<Span> = all
            .iter()
            .filter(|one| &one.kind == b"mdat")
            .map(|one| one.body)
            .collect();
        for one in all {
            take(reader, one, &data, 0, draft)?;
        }
        Ok(true)
    }
}

/// Boxes of boxes, and Canon's own, whose identity comes first.
fn inside(reader: &mut Reader, one: IsoBox) -> Result<Option<Span>> {
    const CANON: &[u8] = b"\x85\xC0\xB6\x87\x82\x0F\x11\xE0\x81\x11\xF4\xCE\x46\x2B\x6A\x48";
    Ok(match &one.kind {
        b"moov" | b"trak" | b"mdia" | b"minf" | b"stbl" => Some(one.body),
        b"uuid" if reader.has(one.body.start, CANON)? => Some(one.body.skip(16)),
        _ => None,
    })
}

fn take(
    reader: &mut Reader,
    one: IsoBox,
    data: &[Span],
    depth: u64,
    draft: &mut Draft,
) -> Result<()> {
    if depth > 8 {
        return damaged("boxes are too deep");
    }
    if let Some(inside) = inside(reader, one)? {
        draft.parts.picture.put(b"in", &one.kind);
        for child in boxes::read(reader, inside)? {
            take(reader, child, data, depth + 1, draft)?;
        }
        draft.parts.picture.put(b"out", &one.kind);
        return Ok(());
    }
    match &one.kind {
        b"free" | b"skip" => {}
        b"uuid" if boxes::is_xmp(reader, one)? => draft.blocks.xmp.push(one.body.skip(16)),
        b"CMT1" | b"CMT2" | b"CMT4" => {
            draft.blocks.exif.push(one.body);
            draft.parts.picture.put(b"tags", &one.kind);
            tiff::take(reader, one.body, draft)?;
        }
        // Where other boxes are.
        b"CTBO" => {}
        b"co64" => take_offsets(reader, one.body, data, draft)?,
        kind => draft.parts.picture.put_span(&kind[..], one.body),
    }
    Ok(())
}

/// Offsets count from the start of the data that they point into.
fn take_offsets(reader: &mut Reader, body: Span, data: &[Span], draft: &mut Draft) -> Result<()> {
    if body.length < 8 || !body.length.is_multiple_of(8) || body.length > 1 << 16 {
        return damaged("a table of offsets is not sound");
    }
    let mut offsets = reader.bytes(Span::new(body.start, 8))?.to_vec();
    for n in 1..body.length / 8 {
        let offset = reader.big(body.start + 8 * n, 8)?;
        let of_data = data
            .iter()
            .enumerate()
            .find(|(_, data)| data.contains(Span::new(offset, 1)));
        let Some((n, data)) = of_data else {
            return damaged("an offset points outside the data");
        };
        offsets.extend((n as u64).to_le_bytes());
        offsets.extend((offset - data.start).to_le_bytes());
    }
    draft.parts.picture.put(b"co64", &offsets);
    Ok(())
}
