//! Vorbis comments.

use super::super::fields::Fields;
use super::super::source::{Order, Reader, Result};
use super::super::span::Span;

/// The comments in a block, without their lengths.
pub fn read(reader: &mut Reader, body: Span) -> Result<Vec<Span>> {
    let mut fields = Fields::in_order(reader, body, Order::Little);
    let program = fields.number(4)?;
    fields.span(program + 4)?;
    let mut found = Vec::new();
    while fields.rest.length > 0 {
        fields.reader.count_kept(1)?;
        let length = fields.number(4)?;
        found.push(fields.span(length)?);
    }
    Ok(found)
}
