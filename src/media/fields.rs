//! Numbers and bytes of a structure, one after the other.

use super::source::{Order, Reader, Result, damaged};
use super::span::Span;

/// Takes what a span holds from its start on. What would end outside of it is damaged.
pub struct Fields<'r, 'a> {
    pub reader: &'r mut Reader<'a>,
    pub rest: Span,
    order: Order,
}

impl<'r, 'a> Fields<'r, 'a> {
    /// Numbers have the most significant byte first.
    pub fn new(reader: &'r mut Reader<'a>, rest: Span) -> Self {
        Self::in_order(reader, rest, Order::Big)
    }

    pub fn in_order(reader: &'r mut Reader<'a>, rest: Span, order: Order) -> Self {
        Self {
            reader,
            rest,
            order,
        }
    }

    /// The next bytes, unread.
    pub fn span(&mut self, length: u64) -> Result<Span> {
        if length > self.rest.length {
            return damaged("a part of it ends outside");
        }
        let span = Span::new(self.rest.start, length);
        self.rest = self.rest.skip(length);
        Ok(span)
    }

    /// The next number, of up to eight bytes.
    pub fn number(&mut self, length: u64) -> Result<u64> {
        let span = self.span(length)?;
        self.reader.number(span.start, length, self.order)
    }

    /// The next bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let span = self.span(N as u64)?;
        bytes.copy_from_slice(self.reader.bytes(span)?);
        Ok(bytes)
    }

    /// Version and flags of a full box.
    pub fn version(&mut self) -> Result<(u8, u32)> {
        let word = self.number(4)?;
        Ok(((word >> 24) as u8, word as u32 & 0x00FF_FFFF))
    }
}
