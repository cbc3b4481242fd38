//! MP4, MOV and M4A: tracks, whatever their order, their chunks and their tags are.

use super::super::blocks::boxes::{self, Fields, IsoBox};
use super::super::part::Part;
use super::super::payload::{Draft, Format};
use super::super::source::{Reader, Result, damaged, unsupported};
use super::super::span::Span;
use super::{Parser, codec, samples};

pub struct Film;

impl Parser for Film {
    fn format(&self) -> Format {
        Format::Film
    }

    fn begins(&self, head: &[u8]) -> bool {
        // CR3 is a film whose samples are raw pictures.
        if head.get(8..12) == Some(b"crx ") {
            return false;
        }
        let kind = head.get(4..8).unwrap_or_default();
        [&b"ftyp"[..], b"moov", b"mdat", b"wide", b"free", b"skip"].contains(&kind)
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let whole = reader.whole();
        let top = boxes::read(reader, whole)?;
        let Some(moov) = boxes::find(&top, b"moov") else {
            return Ok(false);
        };
        for one in top {
            match &one.kind {
                b"mdat" | b"free" | b"skip" | b"wide" => {}
                b"moov" if one.whole == moov.whole => {}
                b"moof" => return unsupported("films in fragments"),
                b"uuid" if boxes::is_xmp(reader, one)? => draft.blocks.xmp.push(one.body.skip(16)),
                b"ftyp" if reader.has(one.body.start, b"qt  ")? => {
                    draft.parts.picture.put(b"qt", b"")
                }
                b"ftyp" => {}
                kind => draft
                    .parts
                    .picture
                    .put_span(&[b"top", &kind[..]].concat(), one.body),
            }
        }
        draft.blocks.film.push(moov.body);
        take_movie(reader, moov, draft)?;
        // What XMP says of it turns no film.
        draft.orientation = Some(1);
        Ok(true)
    }
}

fn take_movie(reader: &mut Reader, moov: IsoBox, draft: &mut Draft) -> Result<()> {
    let children = boxes::read(reader, moov.body)?;
    let Some(mvhd) = boxes::find(&children, b"mvhd") else {
        return damaged("a film has no header");
    };
    let ticks = take_header(reader, mvhd, draft)?;
    let mut tracks = Vec::new();
    for one in children {
        match &one.kind {
            b"mvhd" | b"iods" | b"free" | b"skip" | b"meta" => {}
            b"trak" => tracks.push(Track::read(reader, one)?),
            b"udta" => take_user_data(reader, one, draft)?,
            b"mvex" => return unsupported("films in fragments"),
            b"cmov" => return unsupported("a compressed header"),
            b"uuid" if boxes::is_xmp(reader, one)? => draft.blocks.xmp.push(one.body.skip(16)),
            kind => draft
                .parts
                .picture
                .put_span(&[b"moov", &kind[..]].concat(), one.body),
        }
    }
    for kind in [b"vide", b"soun"] {
        let Some(n) = tracks.iter().position(|track| &track.kind == kind) else {
            continue;
        };
        let track = tracks.remove(n);
        let mut part = std::mem::take(&mut draft.parts.picture);
        track.take(reader, ticks, &mut part, draft)?;
        draft.parts.picture = part;
    }
    if draft.parts.picture.from_file() == 0 {
        return unsupported("a film without picture and sound");
    }
    let mut part = Part::default();
    for track in tracks {
        track.take(reader, ticks, &mut part, draft)?;
    }
    draft.parts.more.append(&part);
    Ok(())
}

/// A matrix that turns nothing.
const UPRIGHT: [u8; 36] = {
    let mut matrix = [0; 36];
    (matrix[1], matrix[17], matrix[32]) = (1, 1, 0x40);
    matrix
};

fn put_matrix(name: &[u8], span: Span, reader: &mut Reader, part: &mut Part) -> Result<()> {
    if !reader.has(span.start, &UPRIGHT)? {
        part.put_span(name, span);
    }
    Ok(())
}

/// Takes the header of the film; returns the ticks of its clock in a second.
fn take_header(reader: &mut Reader, mvhd: IsoBox, draft: &mut Draft) -> Result<u64> {
    let mut fields = Fields {
        reader,
        rest: mvhd.body,
    };
    let (version, _) = fields.version()?;
    let size = if version == 0 { 4 } else { 8 };
    fields.span(2 * size)?;
    let ticks = fields.number(4)?;
    fields.span(size)?;
    let (rate, volume) = (fields.number(4)?, fields.number(2)?);
    fields.span(10)?;
    let matrix = fields.span(36)?;
    if (rate, volume) != (0x10000, 0x100) {
        let speed = [rate.to_le_bytes(), volume.to_le_bytes()].concat();
        draft.parts.picture.put(b"speed", &speed);
    }
    put_matrix(b"movie", matrix, reader, &mut draft.parts.orientation)?;
    Ok(ticks)
}

/// Tags, as text or in boxes. What cameras add of their own is kept apart.
fn take_user_data(reader: &mut Reader, udta: IsoBox, draft: &mut Draft) -> Result<()> {
    for one in boxes::read(reader, udta.body)? {
        match &one.kind {
            [0xA9, ..]
            | b"free"
            | b"skip"
            | b"hnti"
            | b"loci"
            | b"titl"
            | b"dscp"
            | b"cprt"
            | b"perf"
            | b"auth"
            | b"gnre"
            | b"rtng"
            | b"clsf"
            | b"kywd"
            | b"yrrc"
            | b"albm"
            | b"date"
            | b"name"
            | b"coll"
            | b"tagc" => {}
            b"XMP_" => draft.blocks.xmp.push(one.body),
            b"meta" => take_gapless(reader, one, draft)?,
            kind => draft.parts.notes.put_span(kind, one.body),
        }
    }
    Ok(())
}

/// One tag of iTunes is not harmless: how much of the sound is padding.
fn take_gapless(reader: &mut Reader, meta: IsoBox, draft: &mut Draft) -> Result<()> {
    // QuickTime writes no version.
    let has_version = !reader.has(meta.body.start + 4, b"hdlr")?;
    let children = boxes::read(reader, meta.body.skip(if has_version { 4 } else { 0 }))?;
    let Some(ilst) = boxes::find(&children, b"ilst") else {
        return Ok(());
    };
    for one in boxes::read(reader, ilst.body)? {
        if &one.kind != b"----" {
            continue;
        }
        let parts = boxes::read(reader, one.body)?;
        let name = boxes::find(&parts, b"name").map_or(0, |name| name.body.start + 4);
        let data = boxes::find(&parts, b"data");
        if let Some(data) = data.filter(|_| name > 0)
            && reader.has(name, b"iTunSMPB")?
        {
            draft.parts.picture.put_span(b"gapless", data.body);
        }
    }
    Ok(())
}

/// A track, with its boxes.
struct Track {
    kind: [u8; 4],
    tkhd: IsoBox,
    mdhd: IsoBox,
    children: Vec<IsoBox>,
    media: Vec<IsoBox>,
}

impl Track {
    fn read(reader: &mut Reader, trak: IsoBox) -> Result<Self> {
        let children = boxes::read(reader, trak.body)?;
        let Some(mdia) = boxes::find(&children, b"mdia") else {
            return damaged("a track has no media");
        };
        let media = boxes::read(reader, mdia.body)?;
        let found = (
            boxes::find(&children, b"tkhd"),
            boxes::find(&media, b"mdhd"),
            boxes::find(&media, b"hdlr"),
        );
        let (Some(tkhd), Some(mdhd), Some(hdlr)) = found else {
            return damaged("a track has no header");
        };
        let mut fields = Fields {
            reader,
            rest: hdlr.body,
        };
        fields.span(8)?;
        let kind = (fields.number(4)? as u32).to_be_bytes();
        Ok(Self {
            kind,
            tkhd,
            mdhd,
            children,
            media,
        })
    }

    fn take(
        self,
        reader: &mut Reader,
        movie: u64,
        part: &mut Part,
        draft: &mut Draft,
    ) -> Result<()> {
        part.put(b"track", &self.kind);
        self.take_header(reader, part, draft)?;
        let mut edits = None;
        for one in self.children {
            match &one.kind {
                b"tkhd" | b"mdia" | b"meta" | b"free" | b"skip" => {}
                b"udta" => take_user_data(reader, one, draft)?,
                b"edts" => edits = boxes::child(reader, one, b"elst")?,
                // References to other tracks, which have other numbers in a copy.
                b"tref" => draft.parts.more.put_span(b"tref", one.body),
                kind => part.put_span(&[b"trak", &kind[..]].concat(), one.body),
            }
        }
        let mut fields = Fields {
            reader,
            rest: self.mdhd.body,
        };
        let (version, _) = fields.version()?;
        fields.span(if version == 0 { 8 } else { 16 })?;
        let clock = samples::Clock {
            movie,
            track: fields.number(4)?,
        };
        for one in self.media {
            match &one.kind {
                b"mdhd" | b"hdlr" | b"elng" | b"free" | b"skip" => {}
                b"minf" => {
                    for one in boxes::read(reader, one.body)? {
                        take_information(reader, one, &self.kind, clock, edits, part, draft)?;
                    }
                }
                kind => part.put_span(&[b"mdia", &kind[..]].concat(), one.body),
            }
        }
        Ok(())
    }

    /// Is it played, how loud, how large, how turned. Its number, times and language are harmless.
    fn take_header(&self, reader: &mut Reader, part: &mut Part, draft: &mut Draft) -> Result<()> {
        let mut fields = Fields {
            reader,
            rest: self.tkhd.body,
        };
        let (version, flags) = fields.version()?;
        fields.span(if version == 0 { 20 } else { 32 })?;
        fields.span(12)?;
        let volume = fields.number(2)?;
        fields.span(2)?;
        let matrix = fields.span(36)?;
        let (width, height) = (fields.number(4)?, fields.number(4)?);
        let numbers = [u64::from(flags & 1), volume, width, height];
        part.put(b"header", &numbers.map(u64::to_le_bytes).concat());
        put_matrix(b"track", matrix, reader, &mut draft.parts.orientation)
    }
}

fn take_information(
    reader: &mut Reader,
    one: IsoBox,
    kind: &[u8; 4],
    clock: samples::Clock,
    edits: Option<IsoBox>,
    part: &mut Part,
    draft: &mut Draft,
) -> Result<()> {
    match &one.kind {
        b"vmhd" | b"smhd" | b"hmhd" | b"nmhd" | b"gmhd" | b"hdlr" | b"free" | b"skip" => {}
        b"dinf" => return require_own_data(reader, one),
        b"stbl" => {
            let tables = boxes::read(reader, one.body)?;
            if let Some(stsd) = boxes::find(&tables, b"stsd") {
                codec::take(reader, stsd, kind, part, &mut draft.parts.colour)?;
            }
            samples::take(reader, &tables, clock, edits, part)?;
        }
        kind => part.put_span(&[b"minf", &kind[..]].concat(), one.body),
    }
    Ok(())
}

/// Refuses films whose samples are in other files.
fn require_own_data(reader: &mut Reader, dinf: IsoBox) -> Result<()> {
    let Some(dref) = boxes::child(reader, dinf, b"dref")? else {
        return damaged("a track does not say where its data is");
    };
    for one in boxes::read(reader, dref.body.skip(8))? {
        if one.body.length < 4 || reader.big(one.body.start, 4)? & 1 == 0 {
            return unsupported("data in other files");
        }
    }
    Ok(())
}
