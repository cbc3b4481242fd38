//! Tags of TIFF and EXIF: which of them say nothing about the picture, and what the others say.

use super::super::payload::Draft;
use super::super::source::{Reader, Result, if_sound, unsupported};
use super::super::span::Span;
use super::ifd::{self, Directories, Directory, Entry, Kind};
use super::{gaps, irb};

const ORIENTATION: u16 = 0x0112;
const COLOUR_SPACE: u16 = 0xA001;
const MAKER_NOTE: u16 = 0x927C;
const RESOURCES: u16 = 0x8649;
const XMP: u16 = 0x02BC;
const IPTC: u16 = 0x83BB;
const DESCRIPTION: u16 = 0x010E;
const MAKE: u16 = 0x010F;
const DNG_VERSION: u16 = 0xC612;

/// Tags of a picture that say nothing about it: titles, dates, persons, ratings, XMP, IPTC.
const PAGE: [u16; 18] = [
    0x010D, 0x010E, 0x011D, 0x0132, 0x013B, 0x013C, 0x02BC, 0x4746, 0x4749, 0x8298, 0x83BB, 0x9C9B,
    0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F, 0xEA1C, 0xEA1D,
];

/// The same of the directory of EXIF.
const CAMERA: [u16; 18] = [
    0x882A, 0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9101, 0x9286, 0x9290, 0x9291, 0x9292,
    0xA000, 0xA420, 0xA430, 0xA431, 0xEA1C, 0xEA1D,
];

/// Further tags that a decoder of the picture beside them never asks for: of TIFF 6, Windows.
const BESIDE_PAGE: [u16; 29] = [
    0x00FE, 0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x010F, 0x0110, 0x0115, 0x011A, 0x011B, 0x011C,
    0x0128, 0x012D, 0x0131, 0x0142, 0x0143, 0x0211, 0x0212, 0x0213, 0x0214, 0x1000, 0x1001, 0x1002,
    0x882A, 0x9003, 0x9004, 0x9216, 0xC4A5,
];

/// The same of the directory of EXIF 3.0: exposure, dates, lens, camera, scene.
const BESIDE_CAMERA: [u16; 75] = [
    0x0132, 0x829A, 0x829D, 0x8822, 0x8824, 0x8827, 0x8828, 0x882B, 0x8830, 0x8831, 0x8832, 0x8833,
    0x8834, 0x8835, 0x9102, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208, 0x9209,
    0x920A, 0x9214, 0x9400, 0x9401, 0x9402, 0x9403, 0x9404, 0x9405, 0xA002, 0xA003, 0xA004, 0xA20B,
    0xA20C, 0xA20E, 0xA20F, 0xA210, 0xA214, 0xA215, 0xA217, 0xA300, 0xA301, 0xA302, 0xA401, 0xA402,
    0xA403, 0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A, 0xA40B, 0xA40C, 0xA432, 0xA433,
    0xA434, 0xA435, 0xA436, 0xA437, 0xA438, 0xA439, 0xA43A, 0xA43B, 0xA43C, 0xA460, 0xA461, 0xA462,
    0xFDE8, 0xFDE9, 0xFDEA,
];

fn is_harmless(kind: Kind, tag: u16, is_beside: bool) -> bool {
    match kind {
        Kind::Chain(0) => PAGE.contains(&tag) || is_beside && BESIDE_PAGE.contains(&tag),
        // The directory of the thumbnail.
        Kind::Chain(1) if is_beside => true,
        Kind::Chain(_) | Kind::Sub => PAGE.contains(&tag),
        Kind::Exif => CAMERA.contains(&tag) || is_beside && BESIDE_CAMERA.contains(&tag),
        Kind::Gps => tag <= 0x1F,
        Kind::Interop => is_beside && matches!(tag, 0x0002 | 0x1000..=0x1002),
    }
}

/// Takes an EXIF block beside a picture. One that cannot be read belongs to the picture as it is.
pub fn take_beside(reader: &mut Reader, block: Span, draft: &mut Draft) -> Result<()> {
    draft.blocks.exif.push(block);
    match if_sound(ifd::read(reader, block))? {
        Some(found) => take_tags(reader, found, block, draft, true),
        None => {
            draft.parts.picture.put_span(b"exif", block);
            Ok(())
        }
    }
}

/// Takes a TIFF file. Bytes that nothing points to belong to the picture.
pub fn take(reader: &mut Reader, block: Span, draft: &mut Draft) -> Result<()> {
    draft.blocks.exif.push(block);
    let found = ifd::read(reader, block)?;
    draft.parts.picture.put_span(b"header", block.first(4));
    take_tags(reader, found, block, draft, false)
}

fn take_tags(
    reader: &mut Reader,
    mut found: Directories,
    block: Span,
    draft: &mut Draft,
    is_beside: bool,
) -> Result<()> {
    if !is_beside && has_notes(&found) && !is_known_raw(reader, &found)? {
        return unsupported("raw pictures of this maker");
    }
    for directory in std::mem::take(&mut found.all) {
        for entry in &directory.entries {
            take_tag(reader, &mut found, &directory, *entry, draft, is_beside)?;
        }
    }
    let parts = &mut draft.parts;
    let rest = if is_beside {
        &mut parts.notes
    } else {
        &mut parts.picture
    };
    gaps::put(reader, &found.covered, block, rest, is_beside)
}

fn has_notes(found: &Directories) -> bool {
    let mut all = found.all.iter();
    all.any(|directory| directory.entry(MAKER_NOTE).is_some())
}

/// True for raw files whose parts were compared with those that a raw converter sees: DNG, and Sony's.
fn is_known_raw(reader: &mut Reader, found: &Directories) -> Result<bool> {
    let first = &found.all[0];
    let is_sony = match first.entry(MAKE) {
        Some(make) => reader.has(make.value.start, b"SONY")?,
        None => false,
    };
    Ok(is_sony || first.entry(DNG_VERSION).is_some())
}

fn take_tag(
    reader: &mut Reader,
    found: &mut Directories,
    directory: &Directory,
    entry: Entry,
    draft: &mut Draft,
    is_beside: bool,
) -> Result<()> {
    let data = data(reader, found, directory, entry)?;
    found.covered.extend(data.iter().flatten());
    let name = name(found, directory, entry);
    let parts = &mut draft.parts;
    match (directory.kind, entry.tag) {
        (_, DESCRIPTION) if !is_beside && !is_prose(reader, entry.value)? => {
            parts.picture.put_span(&name, entry.value);
        }
        (kind, tag) if is_harmless(kind, tag, is_beside) => match tag {
            XMP => draft.blocks.xmp.push(entry.value),
            IPTC => draft.blocks.iptc.push(entry.value),
            _ => {}
        },
        (Kind::Chain(0), ORIENTATION) => draft.orientation = Some(short(reader, found, entry)?),
        // White point, primaries, profile; colour space, gamma; the name of the colour space.
        (Kind::Chain(_) | Kind::Sub, 0x013E | 0x013F | 0x8773)
        | (Kind::Exif, COLOUR_SPACE | 0xA500)
        | (Kind::Interop, 0x0001) => {
            if !is_usual_colour(reader, found, entry)? {
                parts.colour.put_span(&name, entry.value);
            }
        }
        (Kind::Chain(_) | Kind::Sub, RESOURCES) => irb::take(reader, &[entry.value], draft)?,
        (Kind::Exif, MAKER_NOTE) if is_beside => parts.notes.put_span(&name, entry.value),
        // Offsets in it may count from the start of the file: it is the same only in the same place.
        (Kind::Exif, MAKER_NOTE) => {
            let place = (entry.value.start - found.base).to_le_bytes();
            let name = [&name[..], &place].concat();
            parts.picture.put_span(&name, entry.value);
        }
        (_, tag) => match data {
            // Its type may change with the length of the file, its number of values may not.
            Some(data) => {
                let name = [b"data", &tag.to_le_bytes()[..], &directory.path].concat();
                parts.picture.put_spans(&name, &data);
            }
            None => parts.picture.put_span(&name, entry.value),
        },
    }
    Ok(())
}

/// Tags of offsets of data, each with the tag of its lengths.
const DATA: [(u16, u16); 3] = [(0x0111, 0x0117), (0x0144, 0x0145), (0x0201, 0x0202)];

/// The data that a tag of offsets and one of lengths name together. Nothing if they are meant in another way: then all
/// bytes that nothing else points to are taken anyway.
fn data(
    reader: &mut Reader,
    found: &Directories,
    directory: &Directory,
    offsets: Entry,
) -> Result<Option<Vec<Span>>> {
    let lengths = DATA.iter().find(|(tag, _)| *tag == offsets.tag);
    let lengths = lengths.and_then(|(_, tag)| directory.entry(*tag));
    let is_page = matches!(directory.kind, Kind::Chain(_) | Kind::Sub);
    let Some(lengths) = lengths.filter(|_| is_page) else {
        return Ok(None);
    };
    let (Some(offsets), Some(lengths)) = (
        ifd::numbers(reader, found.order, offsets)?,
        ifd::numbers(reader, found.order, lengths)?,
    ) else {
        return Ok(None);
    };
    let whole = reader.whole();
    let places = offsets.iter().zip(&lengths);
    let spans = places.map(|(start, length)| Span::new(found.base + start, *length));
    let spans: Vec<Span> = spans.collect();
    let total: u64 = lengths.iter().sum();
    let is_sound = offsets.len() == lengths.len()
        && total <= whole.length
        && spans.iter().all(|span| whole.contains(*span));
    Ok(is_sound.then_some(spans))
}

/// False for a description that programs read: of axes and channels in scientific pictures.
fn is_prose(reader: &mut Reader, value: Span) -> Result<bool> {
    let start = reader.bytes(value.first(8))?;
    Ok(!start.starts_with(b"<") && !start.starts_with(b"{") && !start.starts_with(b"ImageJ="))
}

/// True if a tag names no colours other than those of files without the tag: sRGB, or none in particular. Cameras then
/// name Adobe RGB in the directory of interoperability.
fn is_usual_colour(reader: &mut Reader, found: &Directories, entry: Entry) -> Result<bool> {
    Ok(match entry.tag {
        COLOUR_SPACE => matches!(short(reader, found, entry)?, 1 | 0xFFFF),
        0x0001 => !reader.has(entry.value.start, b"R03")?,
        _ => false,
    })
}

/// The first number of a value; the greatest there is for one that is greater.
fn short(reader: &mut Reader, found: &Directories, entry: Entry) -> Result<u16> {
    let most = if entry.kind == 3 { 2 } else { 4 };
    let length = entry.value.length.min(most);
    let number = reader.number(entry.value.start, length, found.order)?;
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
