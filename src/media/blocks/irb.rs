//! Photoshop's image resources, which carry IPTC in JPEG and TIFF.

use super::super::fields::Fields;
use super::super::part::Part;
use super::super::payload::Draft;
use super::super::source::{Reader, Result, damaged, if_sound};
use super::super::span::Span;

/// Photoshop's, and those of programs that write the same.
const MARKS: [&[u8; 4]; 4] = [b"8BIM", b"AgHg", b"DCSR", b"PHUT"];

const IPTC: u16 = 0x0404;

/// Resources that say nothing about the picture: resolution, IPTC and its checksum, thumbnails, copyright, addresses,
/// EXIF, XMP, version.
const HARMLESS: [u16; 10] = [
    0x03ED, IPTC, 0x0409, 0x040A, 0x040B, 0x040C, 0x041E, 0x0421, 0x0424, 0x0425,
];

/// Takes the blocks of resources of a file. If one cannot be read, a resource may go on in the next block: then all belong
/// to the picture as they are.
pub fn take(reader: &mut Reader, blocks: &[Span], draft: &mut Draft) -> Result<()> {
    let read = blocks.iter().map(|block| if_sound(read(reader, *block)));
    match read.collect::<Result<Option<Vec<_>>>>()? {
        Some(read) => {
            for (part, iptc) in read {
                draft.parts.picture.append(part);
                draft.blocks.iptc.extend(iptc);
            }
        }
        None => draft.parts.picture.put_spans(b"irb", blocks),
    }
    Ok(())
}

/// What belongs to the picture, and IPTC.
fn read(reader: &mut Reader, block: Span) -> Result<(Part, Vec<Span>)> {
    let (mut part, mut iptc) = (Part::default(), Vec::new());
    let mut fields = Fields::new(reader, block);
    while fields.rest.length > 0 {
        fields.reader.count_kept(1)?;
        let mark = fields.bytes()?;
        if !MARKS.contains(&&mark) {
            return damaged("an image resource has no mark");
        }
        let number = fields.number(2)? as u16;
        // The name begins with its length, and both together are even.
        let name = 1 + fields.reader.big(fields.rest.start, 1)?;
        let name = fields.span(name + name % 2)?;
        let length = fields.number(4)?;
        let data = fields.span(length)?;
        fields.rest = fields.rest.skip(length % 2);
        if number == IPTC {
            iptc.push(data);
        }
        if !HARMLESS.contains(&number) {
            let of = [b"irb", &mark[..], &number.to_be_bytes()].concat();
            part.put_spans(&of, &[name, data]);
        }
    }
    Ok((part, iptc))
}
