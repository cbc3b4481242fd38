//! How the samples of a track are to be decoded: what a decoder asks for, without what a copy writes anew.

use super::super::blocks::boxes::{self, Fields, IsoBox};
use super::super::part::Part;
use super::super::source::{LookError, Reader, Result, unsupported};
use super::super::span::Span;

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
        match kind {
            b"vide" => take_picture(reader, entry, part, colour)?,
            b"soun" => take_sound(reader, entry, part)?,
            _ => part.put_span(b"entry", entry.body),
        }
    }
    Ok(())
}

/// Width, height, depth and colour table; then boxes. Names of compressors and resolutions are harmless.
fn take_picture(
    reader: &mut Reader,
    entry: IsoBox,
    part: &mut Part,
    colour: &mut Part,
) -> Result<()> {
    let mut fields = Fields {
        reader,
        rest: entry.body,
    };
    fields.span(24)?;
    let size = fields.span(4)?;
    fields.span(46)?;
    let depth = fields.span(4)?;
    let rest = fields.rest;
    part.put_spans(b"size", &[size, depth]);
    for one in boxes::read(reader, rest)? {
        match &one.kind {
            b"btrt" | b"free" | b"skip" => {}
            b"pasp" if one.body.length == 8 => {
                let (x, y) = (
                    reader.big(one.body.start, 4)?,
                    reader.big(one.body.start + 4, 4)?,
                );
                if x != y {
                    part.put_span(b"pasp", one.body);
                }
            }
            // Whole frames.
            b"fiel" if reader.has(one.body.start, &[1])? => {}
            b"colr" => take_colour(reader, one, colour)?,
            b"gama" => colour.put_span(b"gama", one.body),
            b"esds" => take_stream(reader, one, part)?,
            kind => part.put_span(kind, one.body),
        }
    }
    Ok(())
}

/// Primaries, transfer function, matrix and range, in either spelling; or a profile.
fn take_colour(reader: &mut Reader, colr: IsoBox, colour: &mut Part) -> Result<()> {
    let mut fields = Fields {
        reader,
        rest: colr.body,
    };
    let kind = (fields.number(4)? as u32).to_be_bytes();
    if !matches!(&kind, b"nclx" | b"nclc") {
        colour.put_span(b"colr", colr.body);
        return Ok(());
    }
    let numbers = [fields.number(2)?, fields.number(2)?, fields.number(2)?];
    let range = if &kind == b"nclx" {
        fields.number(1)?
    } else {
        0
    };
    colour.put(
        b"nclx",
        &[numbers[0], numbers[1], numbers[2], range]
            .map(u64::to_le_bytes)
            .concat(),
    );
    Ok(())
}

/// Channels, bits and rate, unless the codec has its own; then boxes.
fn take_sound(reader: &mut Reader, entry: IsoBox, part: &mut Part) -> Result<()> {
    let mut fields = Fields {
        reader,
        rest: entry.body,
    };
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
        // The name of the codec once more.
        children.extend(in_wave.filter(|one| !matches!(&one.kind, b"frma" | b"mp4a")));
    }
    let has_own = &entry.kind == b"mp4a" && boxes::find(&children, b"esds").is_some();
    if !has_own {
        part.put_spans(b"format", &[format, further]);
    }
    for one in children {
        match &one.kind {
            b"btrt" | b"free" | b"skip" | [0, 0, 0, 0] => {}
            b"esds" => take_stream(reader, one, part)?,
            kind => part.put_span(kind, one.body),
        }
    }
    Ok(())
}

/// The type and the configuration of an MPEG-4 stream. Its number and bit rates are harmless.
fn take_stream(reader: &mut Reader, esds: IsoBox, part: &mut Part) -> Result<()> {
    match stream(reader, esds) {
        Ok((kind, configuration)) => {
            part.put(b"stream", &kind.to_le_bytes());
            part.put_spans(b"config", configuration.as_slice());
        }
        Err(LookError::Io(error)) => return Err(error.into()),
        Err(_) => part.put_span(b"esds", esds.body),
    }
    Ok(())
}

fn stream(reader: &mut Reader, esds: IsoBox) -> Result<(u64, Option<Span>)> {
    let mut fields = Fields {
        reader,
        rest: esds.body.skip(4),
    };
    fields.rest = descriptor(&mut fields, 3)?;
    fields.number(2)?;
    if fields.number(1)? & 0xE0 != 0 {
        return unsupported("streams that depend on others");
    }
    fields.rest = descriptor(&mut fields, 4)?;
    let kind = fields.number(2)?;
    fields.span(11)?;
    if fields.rest.length == 0 {
        return Ok((kind, None));
    }
    Ok((kind, Some(descriptor(&mut fields, 5)?)))
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
