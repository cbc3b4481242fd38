//! Tags of sounds and films: Vorbis comments, ID3, boxes.

use super::super::blocks::boxes::{self, IsoBox};
use super::super::blocks::{comments, id3};
use super::super::fields::Fields;
use super::super::source::{Order, Reader, Result};
use super::super::span::Span;
use super::{Found, LONGEST, text};

pub fn read_comments(reader: &mut Reader, block: Span, found: &mut Found) -> Result<()> {
    for comment in comments::read(reader, block)? {
        let text = text(reader, comment)?;
        found.number += 1;
        if let Some((name, value)) = text.split_once('=') {
            found.put(&name.to_ascii_uppercase(), value);
        }
    }
    Ok(())
}

pub fn read_id3(reader: &mut Reader, block: Span, found: &mut Found) -> Result<()> {
    let version = reader.big(block.start + 3, 1)?;
    // A name and a size, then two bytes of flags.
    let (length, flags) = if version > 2 { (4, 2) } else { (3, 0) };
    let has_more_header = version > 2 && reader.big(block.start + 5, 1)? & 0x40 != 0;
    let mut fields = Fields::new(reader, block.skip(10));
    if has_more_header {
        let size: [u8; 4] = fields.bytes()?;
        // From version 4 on, it counts itself.
        let rest = match version {
            3 => Order::Big.number(&size),
            _ => id3::synchsafe(&size).saturating_sub(4),
        };
        fields.span(rest)?;
    }
    // Zeros fill the rest.
    while fields.rest.length > 10 && !fields.reader.has(fields.rest.start, &[0])? {
        fields.reader.count(1)?;
        let name = fields.span(length)?;
        let name = text(fields.reader, name)?;
        let size = fields.span(length)?;
        let size = match (version, fields.reader.bytes(size)?) {
            (..=3, size) => Order::Big.number(size),
            (_, size) => id3::synchsafe(size),
        };
        fields.span(flags)?;
        let value = fields.span(size)?;
        let value = id3_text(fields.reader, value)?;
        found.number += 1;
        found.put(&name, &value);
    }
    Ok(())
}

/// Text in one of four encodings, which the first byte names.
fn id3_text(reader: &mut Reader, value: Span) -> Result<String> {
    let bytes = reader.bytes(value.first(LONGEST))?;
    let Some((encoding, bytes)) = bytes.split_first() else {
        return Ok(String::new());
    };
    Ok(match encoding {
        0 => bytes.iter().map(|byte| char::from(*byte)).collect(),
        1 | 2 => {
            let is_little = bytes.starts_with(&[0xFF, 0xFE]);
            let order = if is_little { Order::Little } else { Order::Big };
            let units = bytes.chunks_exact(2).map(|unit| order.number(unit) as u16);
            String::from_utf16_lossy(&units.collect::<Vec<u16>>()).replace('\u{FEFF}', "")
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    })
}

pub fn read_film(reader: &mut Reader, moov: Span, found: &mut Found) -> Result<()> {
    for one in boxes::read(reader, moov)? {
        match &one.kind {
            b"udta" => {
                for one in boxes::read(reader, one.body)? {
                    match &one.kind {
                        b"meta" => read_items(reader, one, found)?,
                        // A length and a language come first.
                        [0xA9, name @ ..] => {
                            found.number += 1;
                            let value = text(reader, one.body.skip(4))?;
                            put(found, &String::from_utf8_lossy(name), &value);
                        }
                        _ => {}
                    }
                }
            }
            b"meta" => read_items(reader, one, found)?,
            _ => {}
        }
    }
    Ok(())
}

/// Values of a metadata box, under their own names or under those of a list of keys.
fn read_items(reader: &mut Reader, meta: IsoBox, found: &mut Found) -> Result<()> {
    let children = boxes::read_meta(reader, meta)?;
    let mut names = Vec::new();
    if let Some(keys) = boxes::find(&children, b"keys") {
        for key in boxes::read(reader, keys.body.skip(8))? {
            names.push(text(reader, key.body)?);
        }
    }
    for one in boxes::read(reader, boxes::need(&children, b"ilst")?.body)? {
        let parts = boxes::read(reader, one.body)?;
        let Some(data) = boxes::find(&parts, b"data") else {
            continue;
        };
        let value = text(reader, data.body.skip(8))?;
        found.number += 1;
        let key = (u32::from_be_bytes(one.kind) as usize).checked_sub(1);
        match (&one.kind, key.and_then(|key| names.get(key))) {
            ([0xA9, name @ ..], _) => put(found, &String::from_utf8_lossy(name), &value),
            (_, Some(name)) => put(found, name, &value),
            _ => {}
        }
    }
    Ok(())
}

fn put(found: &mut Found, name: &str, value: &str) {
    match name.strip_prefix("com.apple.quicktime.").unwrap_or(name) {
        "xyz" | "location.ISO6709" => found.place = found.place.or(iso_6709(value)),
        name => found.put(name, value),
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
