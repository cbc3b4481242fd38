//! FLAC: blocks of metadata, then frames.

use super::super::blocks::{comments, id3};
use super::super::fields::Fields;
use super::super::payload::Draft;
use super::super::source::{Reader, Result};
use super::super::span::Span;

pub fn begins(head: &[u8]) -> bool {
    head.starts_with(b"fLaC") || head.starts_with(b"ID3")
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let whole = reader.whole();
    let sound = id3::skip_front(reader, whole, draft)?;
    if !reader.has(sound.start, b"fLaC")? {
        return Ok(false);
    }
    let mut fields = Fields::new(reader, sound.skip(4));
    let mut is_last = false;
    while !is_last {
        fields.reader.count_kept(1)?;
        let kind = fields.number(1)? as u8;
        let length = fields.number(3)?;
        let body = fields.span(length)?;
        is_last = kind >> 7 == 1;
        take_block(fields.reader, kind & 0x7F, body, draft)?;
    }
    let frames = fields.rest;
    let frames = id3::skip_back(reader, frames)?;
    draft.parts.picture.put_span(b"frames", frames);
    Ok(true)
}

/// Takes one block of metadata.
fn take_block(reader: &mut Reader, kind: u8, body: Span, draft: &mut Draft) -> Result<()> {
    match kind {
        // Padding, seek tables, pictures.
        1 | 3 | 6 => {}
        4 => {
            draft.blocks.comments.push(body);
            take_comments(reader, body, draft)?;
        }
        kind => draft.parts.picture.put_span(&[b'b', kind], body),
    }
    Ok(())
}

/// One comment is not harmless: the one that says which speakers the channels are for.
fn take_comments(reader: &mut Reader, body: Span, draft: &mut Draft) -> Result<()> {
    const MASK: &[u8] = b"WAVEFORMATEXTENSIBLE_CHANNEL_MASK=";
    for comment in comments::read(reader, body)? {
        let start = reader.bytes(comment.first(MASK.len() as u64))?;
        if start.eq_ignore_ascii_case(MASK) {
            draft.parts.picture.put_span(b"mask", comment);
        }
    }
    Ok(())
}
