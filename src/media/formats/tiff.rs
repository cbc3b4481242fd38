//! TIFF, DNG and ARW: all that is in the file but for tags that say nothing about the picture.

use super::super::blocks::{exif, ifd, irb};
use super::super::payload::{Draft, Format};
use super::super::source::{Reader, Result, unsupported};
use super::super::span::Span;
use super::Parser;
use ifd::{Directories, Directory, Entry, Kind};

pub struct Tiff;

impl Parser for Tiff {
    fn format(&self) -> Format {
        Format::Tiff
    }

    fn begins(&self, head: &[u8]) -> bool {
        head.starts_with(b"II*\0") || head.starts_with(b"MM\0*")
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let whole = reader.whole();
        draft.blocks.exif.push(whole);
        take(reader, whole, draft)?;
        Ok(true)
    }
}

/// Takes a block of TIFF in which unknown tags, and bytes that nothing points to, belong to the picture.
pub fn take(reader: &mut Reader, block: Span, draft: &mut Draft) -> Result<()> {
    let mut found = ifd::read(reader, block)?;
    let mark = Span::new(block.start, 4);
    draft.parts.picture.put_span(b"header", mark);
    for n in 0..found.all.len() {
        let directory = found.all[n].clone();
        for entry in &directory.entries {
            take_tag(reader, &mut found, &directory, *entry, draft)?;
        }
    }
    exif::put_gaps(reader, &found, block, &mut draft.parts.picture, false)
}

/// Tags of a picture that say nothing about it: titles, dates, persons, ratings.
const PAGE: [u16; 18] = [
    0x010D, 0x010E, 0x011D, 0x0132, 0x013B, 0x013C, 0x02BC, 0x4746, 0x4749, 0x8298, 0x83BB, 0x9C9B,
    0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F, 0xEA1C, 0xEA1D,
];

/// The same of the directory of EXIF.
const CAMERA: [u16; 18] = [
    0x882A, 0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9101, 0x9286, 0x9290, 0x9291, 0x9292,
    0xA000, 0xA420, 0xA430, 0xA431, 0xEA1C, 0xEA1D,
];

fn is_harmless(kind: Kind, tag: u16) -> bool {
    match kind {
        Kind::Chain(_) | Kind::Sub => PAGE.contains(&tag),
        Kind::Exif => CAMERA.contains(&tag),
        Kind::Gps => tag <= 0x1F,
        Kind::Interop => false,
    }
}

/// Tags of offsets of data, each with the tag of its lengths.
const DATA: [(u16, u16); 3] = [(0x0111, 0x0117), (0x0144, 0x0145), (0x0201, 0x0202)];

const DESCRIPTION: u16 = 0x010E;
const RESOURCES: u16 = 0x8649;
const COLOUR_SPACE: u16 = 0xA001;
const ICC: u16 = 0x8773;
const MAKER_NOTE: u16 = 0x927C;
const MAKE: u16 = 0x010F;
const DNG_VERSION: u16 = 0xC612;

fn take_tag(
    reader: &mut Reader,
    found: &mut Directories,
    directory: &Directory,
    entry: Entry,
    draft: &mut Draft,
) -> Result<()> {
    let is_page = matches!(directory.kind, Kind::Chain(_) | Kind::Sub);
    let name = exif::name(found, directory, entry);
    let parts = &mut draft.parts;
    match entry.tag {
        exif::ORIENTATION if directory.kind == Kind::Chain(0) => {
            draft.orientation = Some(exif::short(reader, found, entry)?);
        }
        exif::ORIENTATION if is_page => parts.orientation.put_span(&name, entry.value),
        ICC if is_page => parts.colour.put_span(&name, entry.value),
        COLOUR_SPACE if directory.kind == Kind::Exif => {
            if !exif::is_usual_colour(reader, found, entry)? {
                parts.colour.put_span(&name, entry.value);
            }
        }
        RESOURCES if is_page => irb::take(reader, entry.value, draft)?,
        DESCRIPTION if !is_prose(reader, entry.value)? => {
            parts.picture.put_span(&name, entry.value);
        }
        tag if is_harmless(directory.kind, tag) => exif::note_block(entry, draft),
        MAKER_NOTE if !is_known_raw(reader, found)? => {
            return unsupported("raw pictures of this maker");
        }
        // Offsets in it may count from the start of the file: it is the same only in the same place.
        MAKER_NOTE => {
            let place = (entry.value.start - found.base).to_le_bytes();
            parts
                .picture
                .put_span(&[&name[..], &place].concat(), entry.value);
        }
        tag => {
            let lengths = DATA.iter().find(|(offsets, _)| *offsets == tag && is_page);
            let lengths = lengths.and_then(|(_, lengths)| directory.entry(*lengths));
            let data = match lengths {
                Some(lengths) => data(reader, found, entry, lengths)?,
                None => None,
            };
            match data {
                Some(data) => {
                    // Its type may change with the length of the file, its number of values may not.
                    let name = [b"data", &tag.to_le_bytes()[..], &directory.path].concat();
                    parts.picture.put_spans(&name, &data);
                    found.covered.extend(data);
                }
                None => parts.picture.put_span(&name, entry.value),
            }
        }
    }
    Ok(())
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

/// False for a description that programs read: of axes and channels in scientific pictures.
fn is_prose(reader: &mut Reader, value: Span) -> Result<bool> {
    let start = Span::new(value.start, value.length.min(8));
    let start = reader.bytes(start)?;
    Ok(!start.starts_with(b"<") && !start.starts_with(b"{") && !start.starts_with(b"ImageJ="))
}

/// The data that offsets and lengths name together. Nothing if they are meant in another way: then all bytes that
/// nothing else points to belong to the picture anyway.
fn data(
    reader: &mut Reader,
    found: &Directories,
    offsets: Entry,
    lengths: Entry,
) -> Result<Option<Vec<Span>>> {
    let whole = reader.whole();
    let (Some(offsets), Some(lengths)) = (
        ifd::numbers(reader, found.order, offsets)?,
        ifd::numbers(reader, found.order, lengths)?,
    ) else {
        return Ok(None);
    };
    if offsets.len() != lengths.len() {
        return Ok(None);
    }
    let places = offsets.into_iter().zip(lengths);
    let spans: Vec<Span> = places
        .map(|(start, length)| Span::new(found.base + start, length))
        .collect();
    let total: u64 = spans.iter().map(|span| span.length).sum();
    let is_sound = spans.iter().all(|span| whole.contains(*span)) && total <= whole.length;
    Ok(is_sound.then_some(spans))
}
