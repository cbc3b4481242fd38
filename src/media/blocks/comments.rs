//! Vorbis comments.

use super::super::source::{Order, Reader, Result, damaged};
use super::super::span::Span;

/// The comments in a block, without their lengths.
pub fn read(reader: &mut Reader, body: Span) -> Result<Vec<Span>> {
    let mut next = |rest: Span| {
        let length = match rest.length {
            0..4 => return damaged("a comment of FLAC has no length"),
            _ => reader.number(rest.start, 4, Order::Little)?,
        };
        reader.count(16)?;
        let text = Span::new(rest.start + 4, length);
        match rest.contains(text) {
            true => Ok((text, rest.skip(4 + length))),
            false => damaged("a comment of FLAC ends outside"),
        }
    };
    let (_, rest) = next(body)?;
    if rest.length < 4 {
        return damaged("comments of FLAC have no number");
    }
    let mut found = Vec::new();
    let mut after = rest.skip(4);
    while after.length > 0 {
        let (text, rest) = next(after)?;
        found.push(text);
        after = rest;
    }
    Ok(found)
}
