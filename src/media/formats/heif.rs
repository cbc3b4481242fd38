//! HEIF and AVIF: items, which refer to each other, have properties, and lie in pieces.

use std::collections::{BTreeMap, BTreeSet};

use super::super::blocks::boxes::{self, Fields, IsoBox};
use super::super::blocks::exif;
use super::super::part::Part;
use super::super::payload::{Draft, Format};
use super::super::source::{Reader, Result, damaged, unsupported};
use super::super::span::Span;
use super::Parser;

pub struct Heif;

const BRANDS: [&[u8; 4]; 12] = [
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"mif2", b"msf1", b"avif",
    b"avis", b"miaf",
];

impl Parser for Heif {
    fn format(&self) -> Format {
        Format::Heif
    }

    fn begins(&self, head: &[u8]) -> bool {
        let length = head
            .first_chunk()
            .map_or(0, |length| u32::from_be_bytes(*length) as usize);
        let brands = head.get(8..length.min(head.len())).unwrap_or_default();
        let mut brands = brands.chunks_exact(4);
        head.get(4..8) == Some(b"ftyp")
            && brands.any(|brand| BRANDS.iter().any(|known| *known == brand))
    }

    fn parse(&self, reader: &mut Reader, draft: &mut Draft) -> Result<bool> {
        let whole = reader.whole();
        let top = boxes::read(reader, whole)?;
        let Some(meta) = boxes::find(&top, b"meta") else {
            return Ok(false);
        };
        // A film may be shown in place of the picture.
        let has_film = boxes::find(&top, b"moov").is_some();
        let data: Vec<Span> = top
            .iter()
            .filter(|one| &one.kind == b"mdat")
            .map(|one| one.body)
            .collect();
        for one in &top {
            match &one.kind {
                b"free" | b"skip" | b"mdat" => {}
                b"meta" if one.whole == meta.whole => {}
                b"uuid" if boxes::is_xmp(reader, *one)? => draft.blocks.xmp.push(one.body.skip(16)),
                kind => draft.parts.picture.put_span(kind, one.body),
            }
        }
        let items = Items::read(reader, meta, draft)?;
        items.take(reader, draft)?;
        let rest = if has_film {
            &mut draft.parts.picture
        } else {
            &mut draft.parts.more
        };
        items.put_rest(reader, &data, has_film, rest)?;
        // It is a property of the item; what EXIF says is only for those who take the item out.
        draft.orientation = Some(1);
        Ok(true)
    }
}

/// An item, with what is known about it.
#[derive(Debug, Default)]
struct Item {
    /// Kind, protection and flags; type and encoding of the contents.
    kind: [u8; 4],
    about: Vec<u8>,
    is_xmp: bool,
    /// Properties, each with a mark if it is essential.
    properties: Vec<(IsoBox, bool)>,
    /// Items that it refers to, by kind.
    refers: Vec<([u8; 4], Vec<u32>)>,
    data: Vec<Span>,
    /// A piece of it has no length.
    is_open: bool,
}

struct Items {
    all: BTreeMap<u32, Item>,
    primary: u32,
}

impl Items {
    fn read(reader: &mut Reader, meta: IsoBox, draft: &mut Draft) -> Result<Self> {
        let mut items = Self {
            all: BTreeMap::new(),
            primary: 0,
        };
        let children = boxes::read(reader, meta.body.skip(4))?;
        let Some(list) = boxes::find(&children, b"iinf") else {
            return damaged("a HEIF file lists no items");
        };
        items.read_list(reader, list)?;
        let idat = boxes::find(&children, b"idat");
        let mut seen = BTreeSet::new();
        for child in &children {
            let is_known = matches!(
                &child.kind,
                b"iinf" | b"pitm" | b"iloc" | b"iref" | b"iprp" | b"idat"
            );
            if is_known && !seen.insert(child.kind) {
                return damaged("a HEIF file has two boxes of one kind");
            }
            let mut fields = Fields {
                reader,
                rest: child.body,
            };
            match &child.kind {
                b"iinf" | b"idat" | b"free" | b"skip" => {}
                b"pitm" => {
                    let (version, _) = fields.version()?;
                    items.primary = fields.number(if version == 0 { 2 } else { 4 })? as u32;
                }
                b"iloc" => items.read_places(&mut fields, idat)?,
                b"iref" => items.read_references(&mut fields)?,
                b"iprp" => items.read_properties(reader, *child)?,
                kind => draft
                    .parts
                    .picture
                    .put_span(&[b"meta", &kind[..]].concat(), child.body),
            }
        }
        let primary = items
            .all
            .get(&items.primary)
            .filter(|item| !item.about.is_empty());
        let Some(primary) = primary else {
            return damaged("a HEIF file has no primary item");
        };
        // Which picture is shown then, decoders decide.
        if primary
            .refers
            .iter()
            .any(|(kind, _)| matches!(kind, b"thmb" | b"auxl"))
        {
            return damaged("the primary item belongs to another one");
        }
        Ok(items)
    }

    fn read_list(&mut self, reader: &mut Reader, list: IsoBox) -> Result<()> {
        let mut fields = Fields {
            reader,
            rest: list.body,
        };
        let (version, _) = fields.version()?;
        fields.number(if version == 0 { 2 } else { 4 })?;
        let rest = fields.rest;
        for one in boxes::read(reader, rest)? {
            let mut fields = Fields {
                reader,
                rest: one.body,
            };
            let (version, flags) = fields.version()?;
            if &one.kind != b"infe" || !matches!(version, 2 | 3) {
                return unsupported("items of an old version");
            }
            let id = fields.number(if version == 2 { 2 } else { 4 })? as u32;
            let protection = fields.number(2)?;
            let kind = (fields.number(4)? as u32).to_be_bytes();
            let text = fields.rest;
            if text.length > 4096 {
                return damaged("an item has a long name");
            }
            let text = reader.bytes(text)?;
            // The name is for people.
            let name = text
                .iter()
                .position(|byte| *byte == 0)
                .map_or(text.len(), |end| end + 1);
            let types = text[name..].to_vec();
            let about = [
                &kind[..],
                &(flags as u16).to_le_bytes(),
                &protection.to_le_bytes(),
                &types,
            ]
            .concat();
            let is_xmp = &kind == b"mime" && types.starts_with(b"application/rdf+xml\0");
            let item = Item {
                kind,
                about,
                is_xmp,
                ..Item::default()
            };
            if self.all.insert(id, item).is_some() {
                return damaged("two items have one number");
            }
        }
        Ok(())
    }

    /// An item, or a group of items: these are not listed.
    fn item(&mut self, id: u32) -> &mut Item {
        self.all.entry(id).or_default()
    }

    fn read_places(&mut self, fields: &mut Fields, idat: Option<IsoBox>) -> Result<()> {
        let (version, _) = fields.version()?;
        let sizes = fields.number(2)?;
        let size = |shift: u64| sizes >> shift & 0xF;
        let (offset_size, length_size, base_size) = (size(12), size(8), size(4));
        let index_size = if version == 0 { 0 } else { size(0) };
        if version > 2
            || [offset_size, length_size, base_size, index_size]
                .iter()
                .any(|size| *size > 8)
        {
            return damaged("places of items are not sound");
        }
        let id_size = if version < 2 { 2 } else { 4 };
        for _ in 0..fields.number(id_size)? {
            let id = fields.number(id_size)? as u32;
            let method = if version == 0 {
                0
            } else {
                fields.number(2)? & 0xF
            };
            if fields.number(2)? != 0 || method > 1 {
                return unsupported("items in other files or items");
            }
            let area = match (method, idat) {
                (0, _) => fields.reader.whole(),
                (_, Some(idat)) => idat.body,
                _ => return damaged("an item lies in a box that is not there"),
            };
            let base = fields.number(base_size)?;
            let (mut data, mut is_open) = (Vec::new(), false);
            for _ in 0..fields.number(2)? {
                fields.reader.count(1)?;
                fields.number(index_size)?;
                let (offset, length) = (fields.number(offset_size)?, fields.number(length_size)?);
                let start = base
                    .checked_add(offset)
                    .and_then(|start| start.checked_add(area.start));
                let span = start.map(|start| Span::new(start, length));
                match span.filter(|span| area.contains(*span)) {
                    Some(span) if length > 0 => data.push(span),
                    // It would end with the file. Programs write it for tags that they removed.
                    Some(_) => is_open = true,
                    None => return damaged("an item lies outside"),
                }
            }
            let item = self.item(id);
            (item.data, item.is_open) = (data, is_open);
        }
        Ok(())
    }

    fn read_references(&mut self, fields: &mut Fields) -> Result<()> {
        let (version, _) = fields.version()?;
        let id_size = if version == 0 { 2 } else { 4 };
        for one in boxes::read(fields.reader, fields.rest)? {
            let mut fields = Fields {
                reader: fields.reader,
                rest: one.body,
            };
            let from = fields.number(id_size)? as u32;
            let mut to = Vec::new();
            for _ in 0..fields.number(2)? {
                fields.reader.count(1)?;
                to.push(fields.number(id_size)? as u32);
            }
            self.item(from).refers.push((one.kind, to));
        }
        Ok(())
    }

    fn read_properties(&mut self, reader: &mut Reader, iprp: IsoBox) -> Result<()> {
        let children = boxes::read(reader, iprp.body)?;
        let Some(ipco) = boxes::find(&children, b"ipco") else {
            return damaged("properties are missing");
        };
        let known = boxes::read(reader, ipco.body)?;
        for ipma in children.iter().filter(|one| &one.kind == b"ipma") {
            let mut fields = Fields {
                reader,
                rest: ipma.body,
            };
            let (version, flags) = fields.version()?;
            let index_size = if flags & 1 == 0 { 1 } else { 2 };
            for _ in 0..fields.number(4)? {
                let id = fields.number(if version == 0 { 2 } else { 4 })? as u32;
                for _ in 0..fields.number(1)? {
                    fields.reader.count(4)?;
                    let field = fields.number(index_size)?;
                    let essential = 1 << (8 * index_size - 1);
                    let index = (field & (essential - 1)) as usize;
                    let property = index.checked_sub(1).and_then(|index| known.get(index));
                    match property {
                        Some(property) => {
                            self.item(id)
                                .properties
                                .push((*property, field & essential != 0));
                        }
                        None if index == 0 => {}
                        None => return damaged("a property is not there"),
                    }
                }
            }
        }
        Ok(())
    }

    /// Items that the primary one is made of, and those that make it transparent.
    fn of_picture(&self, reader: &mut Reader) -> Result<BTreeSet<u32>> {
        let mut picture = BTreeSet::new();
        let mut next = vec![self.primary];
        while let Some(id) = next.pop() {
            if !picture.insert(id) {
                continue;
            }
            let refers = self.all.get(&id).into_iter().flat_map(|item| &item.refers);
            let parts =
                refers.filter(|(kind, _)| kind != b"auxl" && kind != b"thmb" && kind != b"cdsc");
            next.extend(parts.flat_map(|(_, to)| to));
            for (other, item) in &self.all {
                let mut refers = item.refers.iter();
                let is_auxiliary = refers.any(|(kind, to)| kind == b"auxl" && to.contains(&id));
                if is_auxiliary && is_alpha(reader, item)? {
                    next.push(*other);
                }
            }
            reader.count(self.all.len() as u64)?;
        }
        Ok(picture)
    }

    fn take(&self, reader: &mut Reader, draft: &mut Draft) -> Result<()> {
        let picture = self.of_picture(reader)?;
        draft
            .parts
            .picture
            .put(b"primary", &self.primary.to_le_bytes());
        for (id, item) in &self.all {
            let is_thumbnail = item.refers.iter().any(|(kind, _)| kind == b"thmb");
            match picture.contains(id) {
                true => {
                    let parts = &mut draft.parts;
                    item.put(
                        *id,
                        reader,
                        &mut parts.picture,
                        Some((&mut parts.orientation, &mut parts.colour)),
                    )?;
                }
                false if &item.kind == b"Exif" => item.take_exif(reader, draft)?,
                false if item.is_xmp => draft.blocks.xmp.extend(item.data.first()),
                false if is_thumbnail => {}
                false => item.put(*id, reader, &mut draft.parts.more, None)?,
            }
        }
        Ok(())
    }

    /// Puts bytes of the data that are in no item, but for zeros.
    fn put_rest(
        &self,
        reader: &mut Reader,
        data: &[Span],
        has_place: bool,
        part: &mut Part,
    ) -> Result<()> {
        let mut covered: Vec<Span> = self
            .all
            .values()
            .flat_map(|item| item.data.clone())
            .collect();
        covered.sort_unstable();
        for data in data {
            let mut end = data.start;
            let ends = covered.iter().copied().filter(|span| data.contains(*span));
            for span in ends.chain([Span::new(data.end(), 0)]) {
                let gap = Span::between(end, span.start);
                end = end.max(span.end());
                let is_short = gap.length <= 64 << 10;
                if gap.length > 0 && !(is_short && reader.is_zero(gap)?) {
                    let place = if has_place { gap.start } else { 0 };
                    part.put_span(&[b"gap", &place.to_le_bytes()[..]].concat(), gap);
                }
            }
        }
        Ok(())
    }
}

fn is_alpha(reader: &mut Reader, item: &Item) -> Result<bool> {
    for (property, _) in &item.properties {
        let name = property.body.skip(4);
        if &property.kind == b"auxC"
            && (reader.has(name.start, b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")?
                || reader.has(name.start, b"urn:mpeg:hevc:2015:auxid:1")?)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Item {
    /// Puts the item into a part; how it is turned, and its colours, into others.
    fn put(
        &self,
        id: u32,
        reader: &mut Reader,
        part: &mut Part,
        mut others: Option<(&mut Part, &mut Part)>,
    ) -> Result<()> {
        if self.is_open {
            return unsupported("items without a length");
        }
        part.put(b"item", &id.to_le_bytes());
        part.put(b"about", &self.about);
        for (property, is_essential) in &self.properties {
            let is_icc = &property.kind == b"colr"
                && (reader.has(property.body.start, b"prof")?
                    || reader.has(property.body.start, b"rICC")?);
            let of = match (&property.kind, &mut others) {
                (b"irot" | b"imir", Some((orientation, _))) => &mut **orientation,
                (_, Some((_, colour))) if is_icc => &mut **colour,
                _ => &mut *part,
            };
            let name = [
                &property.kind[..],
                &id.to_le_bytes(),
                &[u8::from(*is_essential)],
            ]
            .concat();
            of.put_span(&name, property.body);
        }
        for (kind, to) in &self.refers {
            let to: Vec<u8> = to.iter().flat_map(|id| id.to_le_bytes()).collect();
            part.put(&[b"refers", &kind[..]].concat(), &to);
        }
        part.put_spans(b"data", &self.data);
        Ok(())
    }

    /// The block begins after its own offset, which counts from after itself.
    fn take_exif(&self, reader: &mut Reader, draft: &mut Draft) -> Result<()> {
        let [data] = self.data[..] else {
            if !self.data.is_empty() {
                draft.parts.more.put_spans(b"exif", &self.data);
            }
            return Ok(());
        };
        let offset = if data.length < 4 {
            0
        } else {
            reader.big(data.start, 4)?
        };
        exif::take(reader, data.skip(4).skip(offset), draft)
    }
}
