//! HEIF and AVIF: items, which refer to each other, have properties, and lie in pieces.

use std::collections::{BTreeMap, HashSet};

use super::super::blocks::boxes::{self, IsoBox, Rules};
use super::super::blocks::{exif, gaps};
use super::super::fields::Fields;
use super::super::payload::Draft;
use super::super::source::{Order, Reader, Result, damaged, unsupported};
use super::super::span::Span;

const BRANDS: [&[u8; 4]; 12] = [
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"mif2", b"msf1", b"avif",
    b"avis", b"miaf",
];

const FILE: Rules = Rules {
    name: b"top",
    once: &[b"meta"],
    skipped: &[b"mdat"],
};

const META: Rules = Rules {
    name: b"meta",
    once: &[b"iinf", b"pitm", b"iloc", b"iref", b"iprp", b"idat"],
    skipped: &[],
};

pub fn begins(head: &[u8]) -> bool {
    let length = Order::Big.number(head.get(..4).unwrap_or_default()) as usize;
    let brands = head.get(8..length.min(head.len())).unwrap_or_default();
    let mut brands = brands.as_chunks().0.iter();
    head.get(4..8) == Some(b"ftyp") && brands.any(|brand| BRANDS.contains(&brand))
}

pub fn parse(reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
    let whole = reader.whole();
    let (picture, xmp) = (&mut draft.parts.picture, &mut draft.blocks.xmp);
    let top = boxes::take(reader, whole, &FILE, picture, xmp)?;
    let Some(meta) = boxes::find(&top, b"meta") else {
        return Ok(false);
    };
    let items = Items::read(reader, meta, draft)?;
    items.take(reader, draft)?;
    let items = items.all.values();
    let covered: Vec<Span> = items.flat_map(|item| &item.data).copied().collect();
    // A film may be shown in place of the picture: then all data is shown.
    let has_film = top.iter().any(|one| &one.kind == b"moov");
    for mdat in top.iter().filter(|one| &one.kind == b"mdat") {
        match has_film {
            true => draft.parts.picture.put_span(b"mdat", mdat.body),
            false => gaps::put(reader, &covered, mdat.body, &mut draft.parts.more, true)?,
        }
    }
    // It is a property of the item; what EXIF says is only for those who take the item out.
    draft.orientation = Some(1);
    Ok(true)
}

/// An item, with what is known about it. A group of items is one that is not listed.
#[derive(Debug, Default)]
struct Item {
    /// Kind, flags and protection; type and encoding of the contents.
    about: Vec<u8>,
    /// Properties, each with a mark if it is essential.
    properties: Vec<(IsoBox, bool)>,
    /// Items that it refers to, by kind.
    refers: Vec<([u8; 4], Vec<u64>)>,
    data: Vec<Span>,
    /// A piece of it has no length.
    is_open: bool,
}

struct Items {
    all: BTreeMap<u64, Item>,
    primary: u64,
}

impl Items {
    fn read(reader: &mut Reader, meta: IsoBox, draft: &mut Draft) -> Result<Self> {
        let (picture, xmp) = (&mut draft.parts.picture, &mut draft.blocks.xmp);
        let children = boxes::take(reader, meta.body.skip(4), &META, picture, xmp)?;
        let pitm = boxes::need(&children, b"pitm")?;
        let mut fields = Fields::new(reader, pitm.body);
        let version = fields.version()?.0;
        let primary = fields.number(if version == 0 { 2 } else { 4 })?;
        picture.put_numbers(b"primary", &[primary]);
        let mut items = Self {
            all: BTreeMap::new(),
            primary,
        };
        items.read_list(reader, boxes::need(&children, b"iinf")?)?;
        let idat = boxes::find(&children, b"idat");
        items.read_places(reader, boxes::need(&children, b"iloc")?, idat)?;
        if let Some(iref) = boxes::find(&children, b"iref") {
            items.read_references(reader, iref)?;
        }
        items.read_properties(reader, boxes::need(&children, b"iprp")?)?;
        // Which picture is shown then, decoders decide.
        match items.all.get(&primary) {
            Some(item) if !item.about.is_empty() && !item.is(b"thmb") && !item.is(b"auxl") => {
                Ok(items)
            }
            _ => damaged("the primary item is none, or belongs to another one"),
        }
    }

    fn read_list(&mut self, reader: &mut Reader, iinf: IsoBox) -> Result<()> {
        let mut fields = Fields::new(reader, iinf.body);
        let version = fields.version()?.0;
        fields.span(if version == 0 { 2 } else { 4 })?;
        for one in boxes::read(fields.reader, fields.rest)? {
            let mut fields = Fields::new(reader, one.body);
            let (version, flags) = fields.version()?;
            if &one.kind != b"infe" || !matches!(version, 2 | 3) {
                return unsupported("items of an old version");
            }
            let id = fields.number(if version == 2 { 2 } else { 4 })?;
            let (protection, kind): ([u8; 2], [u8; 4]) = (fields.bytes()?, fields.bytes()?);
            let text = fields.rest;
            let text = fields.reader.bytes(text)?;
            // The name is for people.
            let name = text.iter().position(|byte| *byte == 0);
            let types = &text[name.map_or(text.len(), |end| end + 1)..];
            let about = [&kind[..], &flags.to_le_bytes(), &protection, types].concat();
            let before = std::mem::replace(&mut self.item(id).about, about);
            if !before.is_empty() {
                return damaged("two items have one number");
            }
        }
        Ok(())
    }

    fn item(&mut self, id: u64) -> &mut Item {
        self.all.entry(id).or_default()
    }

    fn read_places(
        &mut self,
        reader: &mut Reader,
        iloc: IsoBox,
        idat: Option<IsoBox>,
    ) -> Result<()> {
        let mut fields = Fields::new(reader, iloc.body);
        let version = fields.version()?.0;
        let sizes = fields.number(2)?;
        let [of_offset, of_length, of_base, of_index] =
            [12, 8, 4, 0].map(|shift| sizes >> shift & 0xF);
        let of_index = if version == 0 { 0 } else { of_index };
        if version > 2
            || [of_offset, of_length, of_base, of_index]
                .iter()
                .any(|size| *size > 8)
        {
            return damaged("places of items are not sound");
        }
        let of_id = if version < 2 { 2 } else { 4 };
        for _ in 0..fields.number(of_id)? {
            let id = fields.number(of_id)?;
            let method = if version == 0 {
                0
            } else {
                fields.number(2)? & 0xF
            };
            let area = match (method, idat) {
                (0, _) => fields.reader.whole(),
                (1, Some(idat)) => idat.body,
                _ => return unsupported("items within items"),
            };
            if fields.number(2)? != 0 {
                return unsupported("items in other files");
            }
            let base = fields.number(of_base)?;
            let item = self.item(id);
            for _ in 0..fields.number(2)? {
                fields.reader.count(1)?;
                fields.number(of_index)?;
                let (offset, length) = (fields.number(of_offset)?, fields.number(of_length)?);
                let area = area.skip(base).skip(offset);
                match length {
                    // It would end with the file. Programs write it for tags that they removed.
                    0 => item.is_open = true,
                    _ => item
                        .data
                        .push(Fields::new(fields.reader, area).span(length)?),
                }
            }
        }
        Ok(())
    }

    fn read_references(&mut self, reader: &mut Reader, iref: IsoBox) -> Result<()> {
        let mut fields = Fields::new(reader, iref.body);
        let of_id = if fields.version()?.0 == 0 { 2 } else { 4 };
        for one in boxes::read(fields.reader, fields.rest)? {
            let mut fields = Fields::new(reader, one.body);
            let from = fields.number(of_id)?;
            let mut to = Vec::new();
            for _ in 0..fields.number(2)? {
                fields.reader.count(1)?;
                to.push(fields.number(of_id)?);
            }
            self.item(from).refers.push((one.kind, to));
        }
        Ok(())
    }

    fn read_properties(&mut self, reader: &mut Reader, iprp: IsoBox) -> Result<()> {
        let children = boxes::read(reader, iprp.body)?;
        let ipco = boxes::need(&children, b"ipco")?;
        let known = boxes::read(reader, ipco.body)?;
        for ipma in children.iter().filter(|one| &one.kind == b"ipma") {
            let mut fields = Fields::new(reader, ipma.body);
            let (version, flags) = fields.version()?;
            let (of_index, essential) = if flags & 1 == 0 {
                (1, 0x80)
            } else {
                (2, 0x8000)
            };
            for _ in 0..fields.number(4)? {
                let id = fields.number(if version == 0 { 2 } else { 4 })?;
                for _ in 0..fields.number(1)? {
                    fields.reader.count(4)?;
                    let field = fields.number(of_index)?;
                    let Some(index) = (field & (essential - 1)).checked_sub(1) else {
                        continue;
                    };
                    let Some(property) = known.get(index as usize) else {
                        return damaged("a property is not there");
                    };
                    let property = (*property, field & essential != 0);
                    self.item(id).properties.push(property);
                }
            }
        }
        Ok(())
    }

    /// Puts all items but tags and thumbnails.
    fn take(&self, reader: &mut Reader, draft: &mut Draft) -> Result<()> {
        let refers = self.all.values().flat_map(|item| &item.refers);
        let mut shown: HashSet<u64> = refers.flat_map(|(_, to)| to).copied().collect();
        shown.insert(self.primary);
        for (id, item) in &self.all {
            let types = item.about.get(10..).unwrap_or_default();
            let is_xmp = types.starts_with(b"application/rdf+xml\0");
            match item.about.first_chunk() {
                _ if shown.contains(id) => item.put(*id, reader, draft)?,
                Some(b"Exif") => item.take_exif(reader, draft)?,
                Some(b"mime") if is_xmp => draft.blocks.xmp.extend(item.data.first()),
                _ if item.is(b"thmb") => {}
                _ => item.put(*id, reader, draft)?,
            }
        }
        Ok(())
    }
}

impl Item {
    /// True if a reference of this kind goes from it to another item.
    fn is(&self, kind: &[u8; 4]) -> bool {
        self.refers.iter().any(|(of, _)| of == kind)
    }

    /// Puts the item into the picture; how it is turned, and its colours, into others.
    fn put(&self, id: u64, reader: &mut Reader, draft: &mut Draft) -> Result<()> {
        if self.is_open {
            return unsupported("items without a length");
        }
        let parts = &mut draft.parts;
        parts.picture.put_numbers(b"item", &[id]);
        parts.picture.put(b"about", &self.about);
        for (property, is_essential) in &self.properties {
            let is_icc =
                reader.has_in(property.body, b"prof")? || reader.has_in(property.body, b"rICC")?;
            let part = match &property.kind {
                b"irot" | b"imir" => &mut parts.orientation,
                b"colr" if is_icc => &mut parts.colour,
                _ => &mut parts.picture,
            };
            let name = [
                &property.kind[..],
                &id.to_le_bytes(),
                &[u8::from(*is_essential)],
            ];
            part.put_span(&name.concat(), property.body);
        }
        for (kind, to) in &self.refers {
            let name = [b"refers", &kind[..]].concat();
            parts.picture.put_numbers(&name, to);
        }
        parts.picture.put_spans(b"data", &self.data);
        Ok(())
    }

    /// The block begins after its own offset, which counts from after itself.
    fn take_exif(&self, reader: &mut Reader, draft: &mut Draft) -> Result<()> {
        match self.data[..] {
            [data] if data.length > 4 => {
                let offset = reader.big(data.start, 4)?;
                exif::take_beside(reader, data.skip(4).skip(offset), draft)?;
            }
            [] => {}
            _ => draft.parts.more.put_spans(b"exif", &self.data),
        }
        Ok(())
    }
}
