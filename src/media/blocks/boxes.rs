//! Boxes of ISO base media files, which QuickTime calls atoms.

use super::super::source::{Reader, Result, damaged};
use super::super::span::Span;

/// The kind of a box.
pub type Kind = [u8; 4];

/// A box. Both spans lie in the one that it was found in.
#[derive(Clone, Copy, Debug)]
pub struct IsoBox {
    pub kind: Kind,
    pub whole: Span,
    /// Without the header.
    pub body: Span,
}

/// What a box counts among the parts of a file.
const WEIGHT: u64 = 16;

/// The boxes in a span.
pub fn read(reader: &mut Reader, span: Span) -> Result<Vec<IsoBox>> {
    let mut boxes = Vec::new();
    let mut rest = span;
    while rest.length > 0 {
        // Lists of QuickTime end with four zero bytes.
        if rest.length < 8 {
            match reader.is_zero(rest)? {
                true => break,
                false => return damaged("a box has no header"),
            }
        }
        reader.count(WEIGHT)?;
        let (short, mut header) = (reader.big(rest.start, 4)?, 8);
        let mut kind = [0; 4];
        kind.copy_from_slice(reader.bytes(Span::new(rest.start + 4, 4))?);
        let length = match short {
            0 => rest.length,
            1 => {
                header = 16;
                if rest.length < header {
                    return damaged("a box has no header");
                }
                reader.big(rest.start + 8, 8)?
            }
            short => short,
        };
        if length < header || length > rest.length {
            return damaged("a box ends outside");
        }
        let whole = Span::new(rest.start, length);
        boxes.push(IsoBox {
            kind,
            whole,
            body: whole.skip(header),
        });
        rest = rest.skip(length);
    }
    Ok(boxes)
}

/// The only box of a kind. Of two, decoders decide which one counts.
pub fn find(boxes: &[IsoBox], kind: &Kind) -> Option<IsoBox> {
    let mut of_kind = boxes.iter().copied().filter(|one| one.kind == *kind);
    let first = of_kind.next();
    first.filter(|_| of_kind.next().is_none())
}

/// The only box of a kind in another one.
pub fn child(reader: &mut Reader, parent: IsoBox, kind: &Kind) -> Result<Option<IsoBox>> {
    Ok(find(&read(reader, parent.body)?, kind))
}

/// True for the box of XMP outside of the metadata box.
pub fn is_xmp(reader: &mut Reader, uuid: IsoBox) -> Result<bool> {
    const XMP: [u8; 16] = [
        0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF,
        0xAC,
    ];
    Ok(uuid.kind == *b"uuid" && uuid.body.length >= 16 && reader.has(uuid.body.start, &XMP)?)
}

/// Takes numbers from a box, one after the other.
pub struct Fields<'r, 'a> {
    pub reader: &'r mut Reader<'a>,
    pub rest: Span,
}

impl Fields<'_, '_> {
    /// The next number.
    pub fn number(&mut self, length: u64) -> Result<u64> {
        if length > self.rest.length {
            return damaged("a box is too short");
        }
        let number = self.reader.big(self.rest.start, length)?;
        self.rest = self.rest.skip(length);
        Ok(number)
    }

    /// The next bytes, unread.
    pub fn span(&mut self, length: u64) -> Result<Span> {
        if length > self.rest.length {
            return damaged("a box is too short");
        }
        let span = Span::new(self.rest.start, length);
        self.rest = self.rest.skip(length);
        Ok(span)
    }

    /// Version and flags of a full box.
    pub fn version(&mut self) -> Result<(u8, u32)> {
        let word = self.number(4)?;
        Ok(((word >> 24) as u8, word as u32 & 0x00FF_FFFF))
    }
}
