//! Tags of pictures: EXIF, XMP, IPTC.

use super::super::blocks::ifd::{self, Directories, Directory, Kind};
use super::super::blocks::xmp;
use super::super::fields::Fields;
use super::super::source::{Reader, Result};
use super::super::span::Span;
use super::{Found, LONGEST, degrees, names, text};

pub fn read_exif(reader: &mut Reader, block: Span, found: &mut Found) -> Result<()> {
    let directories = ifd::read(reader, block)?;
    for directory in &directories.all {
        for entry in &directory.entries {
            found.number += 1;
            let name = format!("{:?}:{:04X}", directory.kind, entry.tag);
            match (entry.kind, entry.count) {
                (2, _) => found.put(&name, &text(reader, entry.value)?),
                (3, 1) => {
                    let number = reader.number(entry.value.start, 2, directories.order)?;
                    found.put(&name, &number.to_string());
                }
                _ if reader.has_in(entry.value, b"Apple iOS\0\0\x01MM")? => {
                    read_apple(reader, entry.value, found)?;
                }
                _ => {}
            }
        }
        if directory.kind == Kind::Gps {
            let latitude = read_degrees(reader, &directories, directory, 1)?;
            let longitude = read_degrees(reader, &directories, directory, 3)?;
            found.place = found.place.or(latitude.zip(longitude));
        }
    }
    Ok(())
}

/// A side, and in the next tag degrees, minutes and seconds, each a fraction.
fn read_degrees(
    reader: &mut Reader,
    directories: &Directories,
    gps: &Directory,
    tag: u16,
) -> Result<Option<f64>> {
    let (Some(side), Some(value)) = (gps.entry(tag), gps.entry(tag + 1)) else {
        return Ok(None);
    };
    if (value.kind, value.count) != (5, 3) {
        return Ok(None);
    }
    let mut fields = Fields::in_order(reader, value.value, directories.order);
    let mut numbers = [0.0; 3];
    for number in &mut numbers {
        let (above, below) = (fields.number(4)?, fields.number(4)?.max(1));
        *number = above as f64 / below as f64;
    }
    let side = text(reader, Span::new(side.value.start, 1))?;
    Ok(Some(degrees(numbers, &side)))
}

/// The maker's note of Apple: a directory after 14 bytes, with offsets from its start.
fn read_apple(reader: &mut Reader, note: Span, found: &mut Found) -> Result<()> {
    let mut fields = Fields::new(reader, note.skip(14));
    for _ in 0..fields.number(2)? {
        // Many tags may have one note.
        fields.reader.count(1)?;
        let (tag, kind) = (fields.number(2)?, fields.number(2)?);
        let (length, at) = (fields.number(4)?, fields.number(4)?);
        if kind == 2 {
            let value = Fields::new(fields.reader, note.skip(at)).span(length)?;
            found.put(&format!("Apple:{tag:04X}"), &text(fields.reader, value)?);
        }
    }
    Ok(())
}

pub fn read_xmp(reader: &mut Reader, block: Span, found: &mut Found) -> Result<()> {
    let text = xmp::text(reader, block)?;
    found.number += xmp::count(&text);
    for name in names().filter(|name| name.contains(':')) {
        for value in xmp::values(&text, name) {
            found.put(name, value);
        }
    }
    let place = |name| {
        let value = *xmp::values(&text, name).first()?;
        let (numbers, side) = value.split_at_checked(value.len().checked_sub(1)?)?;
        let numbers = numbers.split(',').map(|number| number.parse().ok());
        Some(degrees(numbers.collect::<Option<Vec<f64>>>()?, side))
    };
    let place = place("exif:GPSLatitude").zip(place("exif:GPSLongitude"));
    found.place = found.place.or(place);
    let faces = [">Face<", "Type=\"Face\"", "PersonDisplayName"];
    let faces = faces.map(|face| text.matches(face).count());
    found.faces = found.faces.max(faces.into_iter().max().unwrap_or(0));
    Ok(())
}

pub fn read_iptc(reader: &mut Reader, block: Span, found: &mut Found) -> Result<()> {
    let mut fields = Fields::new(reader, block);
    while fields.number(1)? == 0x1C {
        fields.reader.count(1)?;
        let record = fields.number(2)?;
        let length = fields.number(2)?;
        let value = fields.span(length)?;
        found.number += 1;
        found.put(&format!("IPTC:{record:04X}"), &text(fields.reader, value)?);
    }
    Ok(())
}

/// A chunk of text, from its kind on, or a comment, which has no name.
pub fn read_text(reader: &mut Reader, block: Span, found: &mut Found) -> Result<()> {
    found.number += 1;
    let bytes = reader.bytes(block.first(LONGEST))?;
    let (kind, chunk) = bytes.split_at_checked(4).unwrap_or_default();
    let mut fields = chunk.split(|&byte| byte == 0);
    let name = String::from_utf8_lossy(fields.next().unwrap_or_default());
    let value = match kind {
        // In Latin-1.
        b"tEXt" => fields
            .next()
            .map(|value| value.iter().map(|&byte| char::from(byte)).collect()),
        // Not compressed: two zeros, a language, and the name in that language come first.
        b"iTXt" if chunk.get(name.len() + 1) == Some(&0) => fields
            .nth(4)
            .map(|value| String::from_utf8_lossy(value).into_owned()),
        _ => None,
    };
    found.put(&name, &value.unwrap_or_default());
    Ok(())
}
