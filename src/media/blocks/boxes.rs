//! Boxes of ISO base media files, which QuickTime calls atoms.

use super::super::fields::Fields;
use super::super::part::Part;
use super::super::source::{Reader, Result, damaged, unsupported};
use super::super::span::Span;

/// The kind of a box.
pub type Kind = [u8; 4];

/// A box.
#[derive(Clone, Copy, Debug)]
pub struct IsoBox {
    pub kind: Kind,
    /// What it holds, after its header.
    pub body: Span,
}

/// The boxes in a span.
pub fn read(reader: &mut Reader, span: Span) -> Result<Vec<IsoBox>> {
    let mut boxes = Vec::new();
    let mut fields = Fields::new(reader, span);
    while fields.rest.length > 0 {
        let rest = fields.rest;
        // Lists of QuickTime end with four zero bytes.
        if rest.length < 8 && fields.reader.is_zero(rest)? {
            break;
        }
        fields.reader.count_kept(1)?;
        let short = fields.number(4)?;
        let kind = fields.bytes()?;
        let length = match short {
            0 => rest.length,
            1 => fields.number(8)?,
            short => short,
        };
        let header = fields.rest.start - rest.start;
        let Some(length_of_body) = length.checked_sub(header) else {
            return damaged("a box ends before its header");
        };
        let body = fields.span(length_of_body)?;
        boxes.push(IsoBox { kind, body });
    }
    Ok(boxes)
}

/// The boxes in a metadata box. QuickTime writes no version before them.
pub fn read_meta(reader: &mut Reader, meta: IsoBox) -> Result<Vec<IsoBox>> {
    let has_version = !reader.has_in(meta.body.skip(4), b"hdlr")?;
    read(reader, meta.body.skip(if has_version { 4 } else { 0 }))
}

/// The only box of a kind. Of two, decoders decide which one counts.
pub fn find(boxes: &[IsoBox], kind: &Kind) -> Option<IsoBox> {
    let mut of_kind = boxes.iter().copied().filter(|one| one.kind == *kind);
    let first = of_kind.next();
    first.filter(|_| of_kind.next().is_none())
}

/// The same; without it the file is damaged.
pub fn need(boxes: &[IsoBox], kind: &Kind) -> Result<IsoBox> {
    match find(boxes, kind) {
        Some(one) => Ok(one),
        None => damaged("a box is missing"),
    }
}

/// What is known about the boxes in one of a kind. All others belong to the picture.
pub struct Rules {
    /// Begins the name of what belongs to the picture.
    pub name: &'static [u8],
    /// Read one by one: there is one of each at most.
    pub once: &'static [&'static Kind],
    /// Harmless, or read one after the other.
    pub skipped: &'static [&'static Kind],
}

/// XMP outside of the metadata box.
const XMP: &[u8] = b"\xBE\x7A\xCF\xCB\x97\xA9\x42\xE8\x9C\x71\x99\x94\x91\xE3\xAF\xAC";

/// The boxes in a span, after those that no rule is for are put into a part.
pub fn take(
    reader: &mut Reader,
    span: Span,
    rules: &Rules,
    part: &mut Part,
    xmp: &mut Vec<Span>,
) -> Result<Vec<IsoBox>> {
    let boxes = read(reader, span)?;
    for one in &boxes {
        let is_known = |kinds: &[&Kind]| kinds.contains(&&one.kind);
        match &one.kind {
            b"free" | b"skip" | b"wide" => {}
            b"moof" | b"mvex" | b"cmov" => return unsupported("films in fragments"),
            b"sgpd" | b"sbgp" if is_about_access(reader, *one)? => {}
            b"uuid" if reader.has_in(one.body, XMP)? => xmp.push(one.body.skip(16)),
            kind if is_known(rules.once) && find(&boxes, kind).is_none() => {
                return damaged("it has two boxes of one kind");
            }
            _ if is_known(rules.once) || is_known(rules.skipped) => {}
            kind => part.put_span(&[rules.name, kind].concat(), one.body),
        }
    }
    Ok(boxes)
}

/// True for groups of samples that say where to begin when a part is skipped.
fn is_about_access(reader: &mut Reader, group: IsoBox) -> Result<bool> {
    let kind = Fields::new(reader, group.body.skip(4)).bytes()?;
    Ok(matches!(
        &kind,
        b"roll" | b"prol" | b"rap " | b"tele" | b"sync" | b"tscl" | b"tsas" | b"stsa"
    ))
}
