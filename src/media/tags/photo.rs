//! Tags of pictures: EXIF, XMP, IPTC.

use super::super::blocks::ifd::{self, Directories, Entry, Kind};
use super::super::blocks::xmp;
use super::super::source::{Reader, Result};
use super::super::span::Span;
use super::{MOST, Tags, set, text};

pub fn read_exif(reader: &mut Reader, block: Span, tags: &mut Tags) -> Result<()> {
    let found = ifd::read(reader, block)?;
    let (mut make, mut model, mut changed) = (None, None, None);
    for directory in &found.all {
        for entry in &directory.entries {
            let tag = match (directory.kind, entry.tag) {
                (Kind::Chain(0), 0x010E) => &mut tags.title,
                (Kind::Chain(0), 0x010F) => &mut make,
                (Kind::Chain(0), 0x0110) => &mut model,
                (Kind::Chain(0), 0x0131) => &mut tags.software,
                (Kind::Chain(0), 0x0132) => &mut changed,
                (Kind::Chain(0), 0x013B) => &mut tags.artist,
                (Kind::Exif, 0x9003) => &mut tags.date,
                (Kind::Chain(0), 0x4746) if entry.kind == 3 => {
                    let rating = reader.number(entry.value.start, 2, found.order)?;
                    set(&mut tags.rating, rating.to_string());
                    continue;
                }
                (Kind::Exif, 0x927C)
                    if reader.has(entry.value.start, b"Apple iOS\0\0\x01MM")? =>
                {
                    read_apple(reader, entry.value, tags)?;
                    continue;
                }
                _ => continue,
            };
            if entry.kind == 2 {
                set(tag, text(reader, entry.value)?);
            }
        }
        if directory.kind == Kind::Gps {
            let latitude = degrees(reader, &found, directory.entry(1), directory.entry(2))?;
            let longitude = degrees(reader, &found, directory.entry(3), directory.entry(4))?;
            tags.place = tags.place.or(latitude.zip(longitude));
        }
    }
    set(&mut tags.date, changed.unwrap_or_default());
    let (make, model) = (make.unwrap_or_default(), model.unwrap_or_default());
    let is_named = model.starts_with(&make);
    set(
        &mut tags.camera,
        if is_named {
            model
        } else {
            format!("{make} {model}")
        },
    );
    Ok(())
}

/// Degrees, minutes and seconds, each a fraction.
fn degrees(
    reader: &mut Reader,
    found: &Directories,
    side: Option<Entry>,
    value: Option<Entry>,
) -> Result<Option<f64>> {
    let (Some(side), Some(value)) = (side, value) else {
        return Ok(None);
    };
    if (value.kind, value.count) != (5, 3) {
        return Ok(None);
    }
    let mut degrees = 0.0;
    for (n, unit) in (0..).zip([1.0, 60.0, 3600.0]) {
        let above = reader.number(value.value.start + 8 * n, 4, found.order)? as f64;
        let below = reader.number(value.value.start + 8 * n + 4, 4, found.order)? as f64;
        degrees += if below == 0.0 {
            0.0
        } else {
            above / below / unit
        };
    }
    let is_negative = matches!(reader.big(side.value.start, 1)? as u8, b'S' | b'W');
    Ok(Some(if is_negative { -degrees } else { degrees }))
}

/// The maker's note of Apple: a directory after 14 bytes, with offsets from its start.
fn read_apple(reader: &mut Reader, note: Span, tags: &mut Tags) -> Result<()> {
    const IDENTIFIER: u64 = 0x0011;
    let count = reader.big(note.start + 14, 2)?.min(200);
    for n in 0..count {
        let entry = note.skip(16 + 12 * n);
        if entry.length >= 12 && reader.big(entry.start, 2)? == IDENTIFIER {
            let length = reader.big(entry.start + 4, 4)?;
            let value = Span::new(note.start + reader.big(entry.start + 8, 4)?, length);
            if note.contains(value) {
                set(&mut tags.content_identifier, text(reader, value)?);
            }
        }
    }
    Ok(())
}

pub fn read_xmp(reader: &mut Reader, block: Span, tags: &mut Tags) -> Result<()> {
    let text = xmp::text(reader, block)?;
    let value = |name| xmp::value(&text, name).unwrap_or_default().to_owned();
    for date in [
        "exif:DateTimeOriginal",
        "photoshop:DateCreated",
        "xmp:CreateDate",
    ] {
        set(&mut tags.date, value(date));
    }
    set(&mut tags.rating, value("xmp:Rating"));
    set(&mut tags.software, value("xmp:CreatorTool"));
    set(&mut tags.camera, value("tiff:Model"));
    let place = |name| {
        let value = xmp::value(&text, name)?;
        let (numbers, side) = value.split_at_checked(value.len().checked_sub(1)?)?;
        let numbers = numbers.split(',').zip([1.0, 60.0, 3600.0]);
        let degrees: Option<f64> = numbers
            .map(|(number, unit)| Some(number.parse::<f64>().ok()? / unit))
            .sum();
        degrees.map(|degrees| {
            if matches!(side, "S" | "W") {
                -degrees
            } else {
                degrees
            }
        })
    };
    tags.place = tags
        .place
        .or(place("exif:GPSLatitude").zip(place("exif:GPSLongitude")));
    tags.keywords
        .extend(list(&text, "dc:subject").take(MOST).map(str::to_owned));
    set(
        &mut tags.title,
        list(&text, "dc:title")
            .next()
            .unwrap_or_default()
            .to_owned(),
    );
    set(
        &mut tags.artist,
        list(&text, "dc:creator")
            .next()
            .unwrap_or_default()
            .to_owned(),
    );
    let faces = [">Face<", "Type=\"Face\"", "PersonDisplayName"];
    let faces = faces.map(|face| text.matches(face).count());
    tags.faces = tags.faces.max(faces.into_iter().max().unwrap_or(0));
    Ok(())
}

/// The items of a list that a property has.
fn list<'a>(text: &'a str, property: &str) -> impl Iterator<Item = &'a str> {
    let start = text.find(&format!("<{property}>")).unwrap_or(text.len());
    let end = text[start..]
        .find(&format!("</{property}>"))
        .map_or(text.len(), |end| start + end);
    let items = text[start..end].split("<rdf:li").skip(1);
    items.filter_map(|item| {
        item.split_once('>')?
            .1
            .split_once('<')
            .map(|(value, _)| value.trim())
    })
}

pub fn read_iptc(reader: &mut Reader, block: Span, tags: &mut Tags) -> Result<()> {
    let mut rest = block;
    while rest.length >= 5 && reader.has(rest.start, &[0x1C])? {
        let (record, length) = (
            reader.big(rest.start + 1, 2)?,
            reader.big(rest.start + 3, 2)?,
        );
        let value = Span::new(rest.start + 5, length);
        if !rest.contains(value) {
            break;
        }
        reader.count(1)?;
        match record {
            0x0205 => set(&mut tags.title, text(reader, value)?),
            0x0219 if tags.keywords.len() < MOST => tags.keywords.push(text(reader, value)?),
            0x0237 => set(&mut tags.date, text(reader, value)?),
            0x0250 => set(&mut tags.artist, text(reader, value)?),
            _ => {}
        }
        rest = rest.skip(5 + length);
    }
    Ok(())
}
