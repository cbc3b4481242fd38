//! RAF of Fujifilm: a JPEG preview with the tags, and the raw picture.

use super::super::payload::{Draft, Format};
use super::super::source::{Reader, Result, damaged};
use super::super::span::Span;
use super::{Parser, jpeg};

pub struct Raf;

/// Pairs of offset and length that the header has.
const PLACES: [u64; 3] = [84, 92, 100];
const HEADER: u64 = 108;

impl Parser for Raf {
    fn format(&self) -> Format {
        Format::Raf
    }

    fn begins(&self, head: &[u8]) -> bool {
        head.starts_with(b"FUJIFILMCCD-RAW ")
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let whole = reader.whole();
        draft
            .parts
            .picture
            .put_span(b"header", Span::new(0, PLACES[0]));
        let mut blocks = Vec::new();
        for at in PLACES {
            let block = Span::new(reader.big(at, 4)?, reader.big(at + 4, 4)?);
            if !whole.contains(block) || block.length > 0 && block.start < HEADER {
                return damaged("a block of RAF lies outside");
            }
            blocks.push(block);
        }
        let mut preview = Draft::default();
        jpeg::take(reader, blocks[0], &mut preview)?;
        // Raw converters read the maker's notes and the colours in the preview.
        let parts = std::mem::take(&mut preview.parts);
        for part in [&parts.picture, &parts.notes, &parts.colour, &parts.more] {
            draft.parts.picture.append(part);
        }
        draft.append(preview);
        for block in &blocks[1..] {
            draft.parts.picture.put_span(b"block", *block);
        }
        put_rest(reader, whole, blocks, draft)?;
        Ok(true)
    }
}

/// What lies between the blocks and after them belongs to the picture, but for zeros.
fn put_rest(
    reader: &mut Reader,
    whole: Span,
    mut blocks: Vec<Span>,
    draft: &mut Draft,
) -> Result<()> {
    blocks.sort_unstable();
    blocks.push(Span::new(whole.end(), 0));
    let mut end = HEADER;
    for block in blocks {
        let gap = Span::between(end, block.start);
        end = end.max(block.end());
        let is_short = gap.length <= 64 << 10;
        if gap.length > 0 && !(is_short && reader.is_zero(gap)?) {
            draft.parts.picture.put_span(b"gap", gap);
        }
    }
    Ok(())
}
