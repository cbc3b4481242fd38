//! Tags of sounds and films: Vorbis comments, ID3, boxes.

use super::super::blocks::boxes::{self, Fields};
use super::super::blocks::comments;
use super::super::source::{Order, Reader, Result};
use super::super::span::Span;
use super::{LONGEST, Tags, set, text};

pub fn read_comments(reader: &mut Reader, block: Span, tags: &mut Tags) -> Result<()> {
    for comment in comments::read(reader, block)? {
        let text = text(reader, comment)?;
        let Some((name, value)) = text.split_once('=') else {
            continue;
        };
        let tag = match name.to_ascii_uppercase().as_str() {
            "TITLE" => &mut tags.title,
            "ARTIST" => &mut tags.artist,
            "DATE" => &mut tags.date,
            "RATING" => &mut tags.rating,
            "ENCODER" => &mut tags.software,
            _ => continue,
        };
        set(tag, value.to_owned());
    }
    Ok(())
}

pub fn read_id3(reader: &mut Reader, block: Span, tags: &mut Tags) -> Result<()> {
    let version = reader.big(block.start + 3, 1)?;
    let mut rest = block.skip(10);
    while rest.length > 10 && version > 2 {
        reader.count(1)?;
        let mut name = [0; 4];
        name.copy_from_slice(reader.bytes(Span::new(rest.start, 4))?);
        let size = reader.big(rest.start + 4, 4)?;
        // From the fourth version on, a byte has seven bits.
        let seven =
            size & 0x7F | size >> 1 & 0x3F80 | size >> 2 & 0x1F_C000 | size >> 3 & 0xFE0_0000;
        let size = if version > 3 { seven } else { size };
        let value = Span::new(rest.start + 10, size);
        if name[0] == 0 || size == 0 || !rest.contains(value) {
            break;
        }
        let tag = match &name {
            b"TIT2" => Some(&mut tags.title),
            b"TPE1" => Some(&mut tags.artist),
            b"TDRC" | b"TYER" => Some(&mut tags.date),
            b"TSSE" => Some(&mut tags.software),
            _ => None,
        };
        if let Some(tag) = tag {
            set(tag, id3_text(reader, value)?);
        }
        rest = rest.skip(10 + size);
    }
    Ok(())
}

/// Text in one of four encodings, which the first byte names.
fn id3_text(reader: &mut Reader, value: Span) -> Result<String> {
    let bytes = reader.bytes(Span::new(value.start, value.length.min(LONGEST)))?;
    let (encoding, bytes) = (bytes[0], &bytes[1..]);
    Ok(match encoding {
        0 => bytes.iter().map(|byte| char::from(*byte)).collect(),
        1 | 2 => {
            let is_little = bytes.starts_with(&[0xFF, 0xFE]);
            let order = if is_little { Order::Little } else { Order::Big };
            let units: Vec<u16> = bytes
                .chunks_exact(2)
                .map(|unit| order.number(unit) as u16)
                .collect();
            String::from_utf16_lossy(&units).replace('\u{FEFF}', "")
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    })
}

pub fn read_film(reader: &mut Reader, moov: Span, tags: &mut Tags) -> Result<()> {
    for one in boxes::read(reader, moov)? {
        match &one.kind {
            b"udta" => {
                for one in boxes::read(reader, one.body)? {
                    match &one.kind {
                        b"meta" => read_items(reader, one.body.skip(4), tags)?,
                        // A length and a language come first.
                        [0xA9, name @ ..] => {
                            let value = text(reader, one.body.skip(4))?;
                            set_film(tags, &String::from_utf8_lossy(name), value);
                        }
                        _ => {}
                    }
                }
            }
            b"meta" => read_items(reader, one.body, tags)?,
            _ => {}
        }
    }
    Ok(())
}

/// Values of a metadata box, under their own names or under those of a list of keys.
fn read_items(reader: &mut Reader, meta: Span, tags: &mut Tags) -> Result<()> {
    let children = boxes::read(reader, meta)?;
    let mut names = Vec::new();
    if let Some(keys) = boxes::find(&children, b"keys") {
        for key in boxes::read(reader, keys.body.skip(8))? {
            names.push(text(reader, key.body)?);
        }
    }
    let Some(ilst) = boxes::find(&children, b"ilst") else {
        return Ok(());
    };
    for one in boxes::read(reader, ilst.body)? {
        let Some(data) = boxes::child(reader, one, b"data")? else {
            continue;
        };
        let mut fields = Fields {
            reader,
            rest: data.body,
        };
        fields.span(8)?;
        let value = fields.rest;
        let value = text(reader, value)?;
        match (
            &one.kind,
            names.get((u32::from_be_bytes(one.kind) as usize).wrapping_sub(1)),
        ) {
            ([0xA9, name @ ..], _) => set_film(tags, &String::from_utf8_lossy(name), value),
            (_, Some(name)) => set_film(tags, name, value),
            _ => {}
        }
    }
    Ok(())
}

fn set_film(tags: &mut Tags, name: &str, value: String) {
    match name.strip_prefix("com.apple.quicktime.").unwrap_or(name) {
        "nam" | "title" => set(&mut tags.title, value),
        "ART" | "artist" => set(&mut tags.artist, value),
        "day" | "creationdate" => set(&mut tags.date, value),
        "too" | "swr" | "software" => set(&mut tags.software, value),
        "mod" | "model" => set(&mut tags.camera, value),
        "content.identifier" => set(&mut tags.content_identifier, value),
        "xyz" | "location.ISO6709" => tags.place = tags.place.or(iso_6709(&value)),
        _ => {}
    }
}

/// `+48.1000+011.5000/`.
fn iso_6709(value: &str) -> Option<(f64, f64)> {
    let second = value.get(1..)?.find(['+', '-'])? + 1;
    let (latitude, rest) = value.split_at(second);
    let end = rest
        .get(1..)?
        .find(|c: char| !c.is_ascii_digit() && c != '.');
    let longitude = &rest[..end.map_or(rest.len(), |end| end + 1)];
    Some((latitude.parse().ok()?, longitude.parse().ok()?))
}
