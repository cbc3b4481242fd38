//! How the samples of a track are to be decoded: what a decoder asks for, without what a copy writes anew.

use super::super::blocks::boxes::{self, IsoBox};
use super::super::fields::Fields;
use super::super::part::Part;
use super::super::source::{Reader, Result, if_sound, unsupported};
use super::super::span::Span;
use super::is_square;

/// Takes the descriptions of samples.
pub fn take(
    reader: &mut Reader,
    stsd: IsoBox,
    kind: &[u8; 4],
    part: &mut Part,
    colour: &mut Part,
) -> Result<()> {
    for entry in boxes::read(reader, stsd.body.skip(8))? {
        part.put(b"codec", &entry.kind);
        let further = match kind {
            b"vide" => take_picture(reader, entry, part)?,
            b"soun" => take_sound(reader, entry, part)?,
            _ => {
                part.put_span(b"entry", entry.body);
                continue;
            }
        };
        for one in further {
            match &one.kind {
                // Bit rates, padding, the end of a list; of QuickTime, the name of the codec once more.
                b"btrt" | b"free" | b"skip" | b"frma" | [0, 0, 0, 0] => {}
                b"pasp" if one.body.length == 8 && is_square(reader, one.body, 4)? => {}
                // Whole frames.
                b"fiel" if reader.has_in(one.body, &[1])? => {}
                kind @ (b"colr" | b"gama") => colour.put_span(kind, one.body),
                b"esds" => take_stream(reader, one, part)?,
                kind => part.put_span(kind, one.body),
            }
        }
    }
    Ok(())
}

/// Width, height, depth and colour table; returns the boxes. Names of compressors and resolutions are harmless.
fn take_picture(reader: &mut Reader, entry: IsoBox, part: &mut Part) -> Result<Vec<IsoBox>> {
    let mut fields = Fields::new(reader, entry.body);
    fields.span(24)?;
    let size = fields.span(4)?;
    fields.span(46)?;
    let depth = fields.span(4)?;
    part.put_spans(b"size", &[size, depth]);
    boxes::read(fields.reader, fields.rest)
}

/// Channels, bits and rate, unless the codec has its own; returns the boxes.
fn take_sound(reader: &mut Reader, entry: IsoBox, part: &mut Part) -> Result<Vec<IsoBox>> {
    let mut fields = Fields::new(reader, entry.body);
    fields.span(8)?;
    let version = fields.number(2)?;
    fields.span(6)?;
    let format = fields.span(12)?;
    let further = match version {
        0 => fields.span(0)?,
        1 => fields.span(16)?,
        2 => fields.span(36)?,
        _ => return unsupported("sound of a new version"),
    };
    let rest = fields.rest;
    let mut children = boxes::read(reader, rest)?;
    if let Some(wave) = boxes::find(&children, b"wave") {
        children.retain(|one| &one.kind != b"wave");
        let in_wave = boxes::read(reader, wave.body)?.into_iter();
        children.extend(in_wave.filter(|one| &one.kind != b"mp4a"));
    }
    let has_own = &entry.kind == b"mp4a" && boxes::find(&children, b"esds").is_some();
    if !has_own {
        part.put_spans(b"format", &[format, further]);
    }
    Ok(children)
}

/// The type and the configuration of an MPEG-4 stream. Its number and bit rates are harmless.
fn take_stream(reader: &mut Reader, esds: IsoBox, part: &mut Part) -> Result<()> {
    match if_sound(stream(reader, esds))? {
        Some((kind, configuration)) => {
            part.put_numbers(b"stream", &[kind]);
            part.put_span(b"config", configuration);
        }
        None => part.put_span(b"esds", esds.body),
    }
    Ok(())
}

fn stream(reader: &mut Reader, esds: IsoBox) -> Result<(u64, Span)> {
    let mut fields = Fields::new(reader, esds.body.skip(4));
    fields.rest = descriptor(&mut fields, 3)?;
    fields.number(2)?;
    if fields.number(1)? & 0xE0 != 0 {
        return unsupported("streams that depend on others");
    }
    fields.rest = descriptor(&mut fields, 4)?;
    let kind = fields.number(2)?;
    fields.span(11)?;
    match fields.rest.length {
        0 => Ok((kind, fields.rest)),
        _ => Ok((kind, descriptor(&mut fields, 5)?)),
    }
}

/// The body of the next descriptor, which has this tag.
fn descriptor(fields: &mut Fields, tag: u64) -> Result<Span> {
    if fields.number(1)? != tag {
        return unsupported("other descriptors");
    }
    let mut length = 0;
    for _ in 0..4 {
        let byte = fields.number(1)?;
        length = length << 7 | byte & 0x7F;
        if byte & 0x80 == 0 {
            break;
        }
    }
    fields.span(length)
}
