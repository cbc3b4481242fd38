//! MP4, MOV and M4A: tracks, whatever their order, their chunks and their tags are.

use super::super::blocks::boxes::{self, IsoBox, Rules};
use super::super::fields::Fields;
use super::super::part::Part;
use super::super::payload::Draft;
use super::super::source::{Reader, Result, unsupported};
use super::super::span::Span;
use super::{codec, samples, times};

const FILE: Rules = Rules {
    name: b"top",
    once: &[b"moov"],
    skipped: &[b"ftyp", b"mdat"],
};

const MOVIE: Rules = Rules {
    name: b"moov",
    once: &[b"mvhd"],
    skipped: &[b"trak", b"udta", b"iods", b"meta"],
};

/// References to other tracks are skipped: these have other numbers in a copy.
const TRACK: Rules = Rules {
    name: b"trak",
    once: &[b"tkhd", b"mdia", b"edts"],
    skipped: &[b"udta", b"meta", b"tref"],
};

const MEDIA: Rules = Rules {
    name: b"mdia",
    once: &[b"mdhd", b"hdlr", b"minf"],
    skipped: &[b"elng"],
};

const INFORMATION: Rules = Rules {
    name: b"minf",
    once: &[b"dinf", b"stbl"],
    skipped: &[b"vmhd", b"smhd", b"hmhd", b"nmhd", b"gmhd", b"hdlr"],
};

/// Tables that say where to begin when a part is skipped are harmless.
const TABLES: Rules = Rules {
    name: b"stbl",
    once: &[
        b"stsd", b"stts", b"ctts", b"stsc", b"stsz", b"stco", b"co64",
    ],
    skipped: &[b"stss", b"stps", b"sdtp", b"cslg"],
};

/// Tags of 3GPP and QuickTime.
const USER_DATA: [&[u8; 4]; 19] = [
    b"free", b"skip", b"hnti", b"loci", b"titl", b"dscp", b"cprt", b"perf", b"auth", b"gnre",
    b"rtng", b"clsf", b"kywd", b"yrrc", b"albm", b"date", b"name", b"coll", b"tagc",
];

pub fn begins(head: &[u8]) -> bool {
    // CR3 is a film whose samples are raw pictures.
    let is_raw = head.get(8..12) == Some(b"crx ");
    let kind = head.get(4..8).unwrap_or_default();
    !is_raw && [&b"ftyp"[..], b"moov", b"mdat", b"wide", b"free", b"skip"].contains(&kind)
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let whole = reader.whole();
    let (picture, xmp) = (&mut draft.parts.picture, &mut draft.blocks.xmp);
    let top = boxes::take(reader, whole, &FILE, picture, xmp)?;
    let Some(moov) = boxes::find(&top, b"moov") else {
        return Ok(false);
    };
    if reader.has(4, b"ftypqt  ")? {
        picture.put(b"qt", b"");
    }
    draft.blocks.film.push(moov.body);
    take_movie(reader, moov, draft)?;
    // What XMP says of it turns no film.
    draft.orientation = Some(1);
    Ok(true)
}

fn take_movie(reader: &mut Reader, moov: IsoBox, draft: &mut Draft) -> Result<()> {
    let (picture, xmp) = (&mut draft.parts.picture, &mut draft.blocks.xmp);
    let children = boxes::take(reader, moov.body, &MOVIE, picture, xmp)?;
    let ticks = take_header(reader, boxes::need(&children, b"mvhd")?, draft)?;
    let mut tracks = Vec::new();
    for one in children {
        match &one.kind {
            b"trak" => tracks.push(take_track(reader, one, ticks, draft)?),
            b"udta" => take_user_data(reader, one, draft)?,
            _ => {}
        }
    }
    let mut is_shown = false;
    for wanted in [b"vide", b"soun"] {
        if let Some(first) = tracks.iter().position(|(kind, _)| kind == wanted) {
            draft.parts.picture.append(tracks.remove(first).1);
            is_shown = true;
        }
    }
    if !is_shown {
        return unsupported("a film without picture and sound");
    }
    for (_, part) in tracks {
        draft.parts.more.append(part);
    }
    Ok(())
}

/// A matrix that turns nothing.
const UPRIGHT: &[u8; 36] =
    b"\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0@\0\0\0";

fn put_matrix(name: &[u8], span: Span, reader: &mut Reader, part: &mut Part) -> Result<()> {
    if !reader.has(span.start, UPRIGHT)? {
        part.put_span(name, span);
    }
    Ok(())
}

/// Takes the header of the film; returns the ticks of its clock in a second.
fn take_header(reader: &mut Reader, mvhd: IsoBox, draft: &mut Draft) -> Result<u64> {
    let mut fields = Fields::new(reader, mvhd.body);
    let size = if fields.version()?.0 == 0 { 4 } else { 8 };
    fields.span(2 * size)?;
    let ticks = fields.number(4)?;
    fields.span(size)?;
    let speed = fields.span(6)?;
    fields.span(10)?;
    let matrix = fields.span(36)?;
    // As it was taken, at full volume.
    if !reader.has(speed.start, &[0, 1, 0, 0, 1, 0])? {
        draft.parts.picture.put_span(b"speed", speed);
    }
    put_matrix(b"movie", matrix, reader, &mut draft.parts.orientation)?;
    Ok(ticks)
}

/// Tags, as text or in boxes. What cameras add of their own is kept apart.
fn take_user_data(reader: &mut Reader, udta: IsoBox, draft: &mut Draft) -> Result<()> {
    for one in boxes::read(reader, udta.body)? {
        match &one.kind {
            [0xA9, ..] => {}
            b"XMP_" => draft.blocks.xmp.push(one.body),
            b"meta" => take_gapless(reader, one, draft)?,
            kind if USER_DATA.contains(&kind) => {}
            kind => draft.parts.notes.put_span(kind, one.body),
        }
    }
    Ok(())
}

/// One tag of iTunes is not harmless: how much of the sound is padding.
fn take_gapless(reader: &mut Reader, meta: IsoBox, draft: &mut Draft) -> Result<()> {
    let children = boxes::read_meta(reader, meta)?;
    let Some(ilst) = boxes::find(&children, b"ilst") else {
        return Ok(());
    };
    for one in boxes::read(reader, ilst.body)? {
        let mut names = reader.bytes(one.body.first(256))?.windows(8);
        if &one.kind == b"----" && names.any(|name| name == b"iTunSMPB") {
            draft.parts.picture.put_span(b"gapless", one.body);
        }
    }
    Ok(())
}

/// What a track shows or plays, and which of both it does.
fn take_track(
    reader: &mut Reader,
    trak: IsoBox,
    movie: u64,
    draft: &mut Draft,
) -> Result<([u8; 4], Part)> {
    let (mut part, xmp) = (Part::default(), &mut draft.blocks.xmp);
    let children = boxes::take(reader, trak.body, &TRACK, &mut part, xmp)?;
    let mdia = boxes::need(&children, b"mdia")?;
    let media = boxes::take(reader, mdia.body, &MEDIA, &mut part, xmp)?;
    let minf = boxes::need(&media, b"minf")?;
    let inner = boxes::take(reader, minf.body, &INFORMATION, &mut part, xmp)?;
    let stbl = boxes::need(&inner, b"stbl")?;
    let tables = boxes::take(reader, stbl.body, &TABLES, &mut part, xmp)?;
    require_own_data(reader, boxes::need(&inner, b"dinf")?)?;

    let hdlr = boxes::need(&media, b"hdlr")?;
    let kind = Fields::new(reader, hdlr.body.skip(8)).bytes()?;
    part.put(b"track", &kind);
    let tkhd = boxes::need(&children, b"tkhd")?;
    take_track_header(reader, tkhd, &mut part, draft)?;
    for udta in children.iter().filter(|one| &one.kind == b"udta") {
        take_user_data(reader, *udta, draft)?;
    }
    let stsd = boxes::need(&tables, b"stsd")?;
    codec::take(reader, stsd, &kind, &mut part, &mut draft.parts.colour)?;
    let samples = samples::take(reader, &tables, &mut part)?;

    let mdhd = boxes::need(&media, b"mdhd")?;
    let mut fields = Fields::new(reader, mdhd.body);
    let is_short = fields.version()?.0 == 0;
    fields.span(if is_short { 8 } else { 16 })?;
    let track = fields.number(4)?;
    let edits = match boxes::find(&children, b"edts") {
        Some(edts) => Some(boxes::need(&boxes::read(reader, edts.body)?, b"elst")?),
        None => None,
    };
    let clock = times::Clock { movie, track };
    times::take(reader, &tables, samples, clock, edits, &mut part)?;
    Ok((kind, part))
}

/// Is it played, how loud, how large, how turned. Its number, times and language are harmless.
fn take_track_header(
    reader: &mut Reader,
    tkhd: IsoBox,
    part: &mut Part,
    draft: &mut Draft,
) -> Result<()> {
    let mut fields = Fields::new(reader, tkhd.body);
    let (version, flags) = fields.version()?;
    fields.span(if version == 0 { 32 } else { 44 })?;
    let volume = fields.span(2)?;
    fields.span(2)?;
    let matrix = fields.span(36)?;
    let size = fields.span(8)?;
    part.put(b"is shown", &[flags as u8 & 1]);
    part.put_spans(b"header", &[volume, size]);
    put_matrix(b"track", matrix, reader, &mut draft.parts.orientation)
}

/// Refuses films whose samples are in other files.
fn require_own_data(reader: &mut Reader, dinf: IsoBox) -> Result<()> {
    let dref = boxes::need(&boxes::read(reader, dinf.body)?, b"dref")?;
    for one in boxes::read(reader, dref.body.skip(8))? {
        if Fields::new(reader, one.body).number(4)? & 1 == 0 {
            return unsupported("data in other files");
        }
    }
    Ok(())
}
