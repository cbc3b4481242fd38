//! JPEG: segments up to the first scan, then everything up to the end of the image, then what follows it.

use super::super::blocks::{exif, ifd, irb};
use super::super::fields::Fields;
use super::super::payload::Draft;
use super::super::source::{Reader, Result, damaged, if_sound};
use super::super::span::Span;
use super::is_square;

pub fn begins(head: &[u8]) -> bool {
    head.starts_with(&[0xFF, 0xD8, 0xFF])
}

/// What segments say together.
#[derive(Default)]
struct Seen {
    has_jfif: bool,
    /// The transform that Adobe's segment names.
    adobe: Option<u64>,
    /// Numbers of the components.
    components: Vec<u8>,
    /// All data is in one scan, unless further ones repeat a component.
    is_sequential: bool,
    icc: Vec<Span>,
    /// Image resources of Photoshop.
    resources: Vec<Span>,
    /// Length of the first picture, as the list of all pictures has it.
    first_length: Option<u64>,
}

impl Seen {
    /// True if decoders ask whether there is a JFIF segment to tell which colours the components are.
    fn needs_jfif(&self) -> bool {
        let is_told = matches!(
            (&self.components[..], self.adobe),
            ([_], _) | ([1, 2, 3], None) | ([_, _, _], Some(1))
        );
        !is_told
    }
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let mut seen = Seen::default();
    let span = reader.whole();
    let mut rest = span.skip(2);
    let scan = loop {
        rest = skip_fill(reader, rest)?;
        let (marker, segment) = segment(reader, rest)?;
        if marker == 0xDA {
            break segment;
        }
        reader.count_kept(1)?;
        take_segment(reader, marker, segment, &mut seen, draft)?;
        rest = rest.skip(segment.length);
    };
    if seen.components.is_empty() {
        return damaged("a JPEG image has no frame");
    }
    if seen.has_jfif && seen.needs_jfif() {
        draft.parts.picture.put(b"jfif", b"");
    }
    if !seen.icc.is_empty() {
        draft.parts.colour.put_spans(b"icc", &seen.icc);
    }
    irb::take(reader, &seen.resources, draft)?;
    let end = end_of_image(reader, scan, &seen)?;
    let scans = Span::between(scan.start, end);
    draft.parts.picture.put_span(b"scans", scans);
    if end < span.end() {
        let after = Span::between(end, span.end());
        draft.parts.more.put_span(b"after", after);
    }
    Ok(true)
}

/// Goes to the last of the bytes that may be repeated before a marker.
fn skip_fill(reader: &mut Reader, mut rest: Span) -> Result<Span> {
    while rest.length >= 2 && reader.has(rest.start, &[0xFF, 0xFF])? {
        rest = rest.skip(1);
        reader.count(1)?;
    }
    Ok(rest)
}

/// The segment at the start of a span, from its marker on; and which marker that is.
fn segment(reader: &mut Reader, rest: Span) -> Result<(u8, Span)> {
    let mut fields = Fields::new(reader, rest);
    let [mark, marker] = fields.bytes()?;
    let length = fields.number(2)?;
    let has_length = !matches!(marker, 0x00 | 0x01 | 0xD0..=0xD9 | 0xFF);
    if mark != 0xFF || !has_length || length < 2 {
        return damaged("a JPEG segment is not sound");
    }
    let segment = Fields::new(fields.reader, rest).span(2 + length)?;
    Ok((marker, segment))
}

/// Takes one segment before the first scan.
fn take_segment(
    reader: &mut Reader,
    marker: u8,
    segment: Span,
    seen: &mut Seen,
    draft: &mut Draft,
) -> Result<()> {
    let body = segment.skip(4);
    let mut begins = |name: &[u8]| reader.has_in(body, name);
    match marker {
        0xE0 if begins(b"JFIF\0")? => return take_jfif(reader, body, seen, draft),
        // A thumbnail.
        0xE0 if begins(b"JFXX\0")? => return Ok(()),
        0xE1 if begins(b"Exif\0\0")? => return exif::take_beside(reader, body.skip(6), draft),
        0xE1 if begins(b"http://ns.adobe.com/xap/1.0/\0")? => {
            draft.blocks.xmp.push(body.skip(29));
            return Ok(());
        }
        // Further XMP, in pieces: cameras store depth maps and pictures in it. The checksum of the whole is left out.
        0xE1 if body.length >= 75 && begins(b"http://ns.adobe.com/xmp/extension/\0")? => {
            draft.parts.more.put_span(b"xmp", body.skip(75));
            return Ok(());
        }
        0xE2 if begins(b"ICC_PROFILE\0")? => {
            seen.icc.push(body.skip(12));
            return Ok(());
        }
        0xE2 if begins(b"MPF\0")? => return take_pictures(reader, body.skip(4), seen, draft),
        0xED if begins(b"Photoshop 3.0\0")? => {
            seen.resources.push(body.skip(14));
            return Ok(());
        }
        0xEE if body.length >= 12 && begins(b"Adobe")? => {
            seen.adobe = Some(reader.big(body.start + 11, 1)?);
        }
        0xFE => {
            draft.blocks.texts.push(body);
            return Ok(());
        }
        0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
            let frame = reader.bytes(body)?;
            let count = frame.get(5).map_or(0, |count| usize::from(*count));
            let Some(components) = frame.get(6..6 + 3 * count) else {
                return damaged("a JPEG frame is too short");
            };
            seen.components = components.chunks_exact(3).map(|one| one[0]).collect();
            seen.is_sequential = marker <= 0xC1;
        }
        _ => {}
    }
    draft.parts.picture.put_span(b"segment", segment);
    Ok(())
}

/// Of JFIF only the shape of a pixel counts, and whether there is such a segment at all.
fn take_jfif(reader: &mut Reader, body: Span, seen: &mut Seen, draft: &mut Draft) -> Result<()> {
    if body.length < 14 {
        return damaged("a JFIF segment is too short");
    }
    seen.has_jfif = true;
    let density = Span::new(body.start + 8, 4);
    if !is_square(reader, density, 2)? {
        draft.parts.picture.put_span(b"density", density);
    }
    Ok(())
}

/// Takes the list of the pictures in the file. Where they lie changes with the tags, and so does the length of the
/// first one.
fn take_pictures(
    reader: &mut Reader,
    block: Span,
    seen: &mut Seen,
    draft: &mut Draft,
) -> Result<()> {
    const LIST: u16 = 0xB002;
    let Some(found) = if_sound(ifd::read(reader, block))? else {
        draft.parts.picture.put_span(b"pictures", block);
        return Ok(());
    };
    for directory in &found.all {
        for entry in &directory.entries {
            if entry.tag != LIST {
                let name = exif::name(&found, directory, *entry);
                draft.parts.more.put_span(&name, entry.value);
                continue;
            }
            let list = reader.bytes(entry.value)?;
            for (n, one) in list.chunks_exact(16).enumerate() {
                let first = found.order.number(&one[4..8]);
                let length = if n == 0 { 0 } else { first };
                seen.first_length = seen.first_length.or(Some(first));
                let picture = [&one[..4], &length.to_le_bytes(), &one[12..]].concat();
                draft.parts.more.put(b"picture", &picture);
            }
        }
    }
    Ok(())
}

const END: [u8; 2] = [0xFF, 0xD9];

/// The offset after the end of the image, whose first scan begins with this header.
///
/// An image that ends with the file is taken as it is. So is one whose length the file names: the data of a single scan
/// can have no marker of an end inside, so the end named is the true one or lies after it. In all others the end is
/// searched for.
fn end_of_image(reader: &mut Reader, header: Span, seen: &Seen) -> Result<u64> {
    let end = reader.whole().end();
    match seen.first_length {
        None if reader.has(end - 2, &END)? => return Ok(end),
        Some(next) if seen.is_sequential => {
            let in_first = reader.big(header.start + 4, 1)?;
            let is_inside = header.end() + 2 <= next && next <= end - 2;
            if in_first == seen.components.len() as u64
                && is_inside
                && reader.has(next - 2, &END)?
                && reader.has(next, &[0xFF, 0xD8])?
            {
                return Ok(next);
            }
        }
        _ => {}
    }
    search_end(reader, Span::between(header.end(), end))
}

/// Searches data of scans for the marker that ends the image.
fn search_end(reader: &mut Reader, mut rest: Span) -> Result<u64> {
    while rest.length >= 2 {
        let block = rest.first(4 << 10);
        let bytes = reader.bytes(block)?;
        let mut pairs = bytes.windows(2);
        let at = pairs.position(|pair| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xD0..=0xD7));
        let Some(at) = at else {
            rest = rest.skip(block.length - 1);
            continue;
        };
        let marker = bytes[at + 1];
        rest = rest.skip(at as u64);
        match marker {
            0xD9 => return Ok(rest.start + 2),
            0xFF | 0x01 => rest = rest.skip(1),
            _ => {
                reader.count(1)?;
                let (_, segment) = segment(reader, rest)?;
                rest = rest.skip(segment.length);
            }
        }
    }
    damaged("a JPEG image has no end")
}
