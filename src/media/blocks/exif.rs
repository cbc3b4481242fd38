//! EXIF beside a picture: which of its tags say nothing about the picture, and what the others say.

use super::super::part::Part;
use super::super::payload::Draft;
use super::super::source::{LookError, Reader, Result};
use super::super::span::Span;
use super::ifd::{self, Directories, Directory, Entry, Kind};

pub const ORIENTATION: u16 = 0x0112;
const MAKER_NOTE: u16 = 0x927C;
const XMP: u16 = 0x02BC;
const IPTC: u16 = 0x83BB;

/// What a tag beside a picture is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Harmless,
    Orientation,
    Colour,
    Notes,
    /// Not known: it belongs to the picture.
    Unknown,
}

/// Tags of the first directory that a decoder of the picture beside it never asks for: of TIFF 6, XMP, Windows.
const FIRST: [u16; 45] = [
    0x00FE, 0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x010D, 0x010E, 0x010F, 0x0110, 0x0115, 0x011A,
    0x011B, 0x011C, 0x011D, 0x0128, 0x012D, 0x0131, 0x0132, 0x013B, 0x013C, 0x0211, 0x0212, 0x0213,
    0x0214, 0x02BC, 0x1000, 0x1001, 0x1002, 0x4746, 0x4749, 0x8298, 0x83BB, 0x882A, 0x9003, 0x9004,
    0x9216, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F, 0xC4A5, 0xEA1C, 0xEA1D,
];

/// The same of the directory of EXIF 3.0: exposure, dates, lens, camera, scene.
const CAMERA: [u16; 93] = [
    0x0132, 0x829A, 0x829D, 0x8822, 0x8824, 0x8827, 0x8828, 0x882A, 0x882B, 0x8830, 0x8831, 0x8832,
    0x8833, 0x8834, 0x8835, 0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9101, 0x9102, 0x9201,
    0x9202, 0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208, 0x9209, 0x920A, 0x9214, 0x9286, 0x9290,
    0x9291, 0x9292, 0x9400, 0x9401, 0x9402, 0x9403, 0x9404, 0x9405, 0xA000, 0xA002, 0xA003, 0xA004,
    0xA20B, 0xA20C, 0xA20E, 0xA20F, 0xA210, 0xA214, 0xA215, 0xA217, 0xA300, 0xA301, 0xA302, 0xA401,
    0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A, 0xA40B, 0xA40C, 0xA420,
    0xA430, 0xA431, 0xA432, 0xA433, 0xA434, 0xA435, 0xA436, 0xA437, 0xA438, 0xA439, 0xA43A, 0xA43B,
    0xA43C, 0xA460, 0xA461, 0xA462, 0xEA1C, 0xEA1D, 0xFDE8, 0xFDE9, 0xFDEA,
];

fn about(kind: Kind, tag: u16) -> About {
    let is_harmless = match (kind, tag) {
        (Kind::Chain(0), ORIENTATION) => return About::Orientation,
        // White point, primaries, colour space, gamma; the name of the colour space.
        (Kind::Chain(0), 0x013E | 0x013F)
        | (Kind::Exif, COLOUR_SPACE | 0xA500)
        | (Kind::Interop, 0x0001) => {
            return About::Colour;
        }
        (Kind::Exif, MAKER_NOTE) => return About::Notes,
        (Kind::Chain(0), tag) => FIRST.contains(&tag),
        // The directory of the thumbnail.
        (Kind::Chain(1), _) => true,
        (Kind::Exif, tag) => CAMERA.contains(&tag),
        (Kind::Gps, tag) => tag <= 0x1F,
        (Kind::Interop, tag) => matches!(tag, 0x0002 | 0x1000..=0x1002),
        (Kind::Sub | Kind::Chain(_), _) => false,
    };
    if is_harmless {
        About::Harmless
    } else {
        About::Unknown
    }
}

/// Takes an EXIF block beside a picture. One that cannot be read belongs to the picture as it is.
pub fn take(reader: &mut Reader, block: Span, draft: &mut Draft) -> Result<()> {
    draft.blocks.exif.push(block);
    let found = match ifd::read(reader, block) {
        Ok(found) => found,
        Err(LookError::Io(error)) => return Err(error.into()),
        Err(_) => {
            draft.parts.picture.put_span(b"exif", block);
            return Ok(());
        }
    };
    for directory in &found.all {
        for entry in &directory.entries {
            let part = match about(directory.kind, entry.tag) {
                About::Harmless => {
                    note_block(*entry, draft);
                    continue;
                }
                About::Orientation => {
                    draft.orientation = Some(short(reader, &found, *entry)?);
                    continue;
                }
                About::Colour if is_usual_colour(reader, &found, *entry)? => continue,
                About::Colour => &mut draft.parts.colour,
                About::Notes => &mut draft.parts.notes,
                About::Unknown => &mut draft.parts.picture,
            };
            put(part, &found, directory, *entry);
        }
    }
    put_gaps(reader, &found, block, &mut draft.parts.notes, true)
}

const COLOUR_SPACE: u16 = 0xA001;

/// True if a tag names no colours other than those of files without the tag: sRGB, or none in particular. Cameras then
/// name Adobe RGB in the directory of interoperability.
pub fn is_usual_colour(reader: &mut Reader, found: &Directories, entry: Entry) -> Result<bool> {
    Ok(match entry.tag {
        COLOUR_SPACE => matches!(short(reader, found, entry)?, 1 | 0xFFFF),
        0x0001 => !reader.has(entry.value.start, b"R03")?,
        _ => false,
    })
}

/// Remembers where further tags are.
pub fn note_block(entry: Entry, draft: &mut Draft) {
    match entry.tag {
        XMP => draft.blocks.xmp.push(entry.value),
        IPTC => draft.blocks.iptc.push(entry.value),
        _ => {}
    }
}

/// The first number of a value, if it is a short one.
pub fn short(reader: &mut Reader, found: &Directories, entry: Entry) -> Result<u16> {
    if entry.value.length < 2 {
        return Ok(0);
    }
    let at = entry.value.start;
    let length = if entry.kind == 3 {
        2
    } else {
        entry.value.length.min(4)
    };
    let number = reader.number(at, length, found.order)?;
    Ok(u16::try_from(number).unwrap_or(u16::MAX))
}

/// The name of an item for a tag: where it is, its number, type and count, and the byte order of its value.
pub fn name(found: &Directories, directory: &Directory, entry: Entry) -> Vec<u8> {
    let mut name = vec![b't', found.order as u8];
    name.extend(entry.tag.to_le_bytes());
    name.extend(entry.kind.to_le_bytes());
    name.extend(entry.count.to_le_bytes());
    name.extend(&directory.path);
    name
}

/// Puts a tag with its value.
pub fn put(part: &mut Part, found: &Directories, directory: &Directory, entry: Entry) {
    part.put_span(&name(found, directory, entry), entry.value);
}

/// Gaps of so few bytes only align what follows them.
const ALIGNMENT: u64 = 3;

/// Gaps up to this length are no part of anything if they are all zero. A guess: longer ones are not looked at.
const LONGEST_PADDING: u64 = 64 << 10;

/// Puts the bytes of a block that nothing known points to: something unknown may, so each has its place, unless the
/// block may be moved.
pub fn put_gaps(
    reader: &mut Reader,
    found: &Directories,
    block: Span,
    part: &mut Part,
    is_movable: bool,
) -> Result<()> {
    let mut covered = found.covered.clone();
    covered.sort_unstable();
    covered.push(Span::new(block.end(), 0));
    let mut end = block.start;
    for span in covered {
        let gap = Span::between(end, span.start);
        end = end.max(span.end());
        if gap.length <= ALIGNMENT || gap.length <= LONGEST_PADDING && reader.is_zero(gap)? {
            continue;
        }
        let place = if is_movable {
            0
        } else {
            gap.start - found.base
        };
        part.put_span(&[b"gap", &place.to_le_bytes()[..]].concat(), gap);
    }
    Ok(())
}
