//! Directories of TIFF, which EXIF uses too: what they hold, and where.

use std::collections::HashSet;

use super::super::fields::Fields;
use super::super::source::{Order, Reader, Result, damaged};
use super::super::span::Span;

/// What a directory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The n-th of the chain that the header points to.
    Chain(u16),
    /// One that a tag of a picture's directory points to.
    Sub,
    Exif,
    Gps,
    Interop,
}

/// A tag with its value.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub tag: u16,
    pub kind: u16,
    pub count: u32,
    /// The value, in the file.
    pub value: Span,
}

/// A directory.
#[derive(Debug)]
pub struct Directory {
    pub kind: Kind,
    /// The tags and indices that lead to it from the first one: no two directories have the same.
    pub path: Vec<u8>,
    /// Sorted by tag; pointers to directories are left out.
    pub entries: Vec<Entry>,
}

impl Directory {
    pub fn entry(&self, tag: u16) -> Option<Entry> {
        self.entries.iter().copied().find(|entry| entry.tag == tag)
    }
}

/// All directories that a header leads to.
#[derive(Debug)]
pub struct Directories {
    pub order: Order,
    /// Offset 0 of all pointers.
    pub base: u64,
    pub all: Vec<Directory>,
    /// The header, the directories, and the values outside of them.
    pub covered: Vec<Span>,
}

/// The tag that may point to several directories, and all that point to any.
const SUB: u16 = 0x014A;
const POINTERS: [(u16, Kind); 4] = [
    (SUB, Kind::Sub),
    (0x8769, Kind::Exif),
    (0x8825, Kind::Gps),
    (0xA005, Kind::Interop),
];

/// Bytes of one value of a type; 0 for a type that does not exist.
fn size_of(kind: u16) -> u64 {
    match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 => 8,
        _ => 0,
    }
}

/// Most directories that wait.
const MOST: usize = 4096;

/// The longest path: four bytes for each directory that points to the next.
const LONGEST: usize = 20;

/// A directory that is still to be read.
struct Pointer {
    at: u64,
    kind: Kind,
    path: Vec<u8>,
}

/// Reads all directories of a TIFF block.
pub fn read(reader: &mut Reader, block: Span) -> Result<Directories> {
    let order = match &Fields::new(reader, block).bytes()? {
        b"II" => Order::Little,
        b"MM" => Order::Big,
        _ => return damaged("an EXIF block does not say its byte order"),
    };
    let mut fields = Fields::in_order(reader, block, order);
    fields.span(4)?;
    // ExifTool's mark in WebP is a part of the header.
    let is_marked = fields.reader.has(block.start + 8, b"ExifMeta")?;
    let header = if is_marked { 16 } else { 8 };
    let mut found = Directories {
        order,
        base: block.start,
        all: Vec::new(),
        covered: vec![Span::new(block.start, header)],
    };
    let mut pointers = vec![Pointer {
        at: fields.number(4)?,
        kind: Kind::Chain(0),
        path: vec![b'0', 0, 0, 0],
    }];
    let mut starts = HashSet::new();
    while let Some(pointer) = pointers.pop() {
        if !starts.insert(pointer.at) {
            return damaged("directories point to each other");
        }
        read_one(reader, block, pointer, &mut found, &mut pointers)?;
    }
    Ok(found)
}

fn read_one(
    reader: &mut Reader,
    block: Span,
    pointer: Pointer,
    found: &mut Directories,
    pointers: &mut Vec<Pointer>,
) -> Result<()> {
    let table = block.skip(pointer.at);
    let mut fields = Fields::in_order(reader, table, found.order);
    let count = fields.number(2)?;
    fields.reader.count_kept(1 + count)?;
    let mut entries = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let (tag, kind) = (fields.number(2)? as u16, fields.number(2)? as u16);
        let count = fields.number(4)?;
        let length = size_of(kind) * count;
        let mut value = fields.span(4)?;
        match length {
            // A type that does not exist: the field is all there is to know.
            _ if size_of(kind) == 0 => {}
            0..=4 => value.length = length,
            _ => {
                let at = fields.reader.number(value.start, 4, found.order)?;
                value = Fields::new(fields.reader, block.skip(at)).span(length)?;
                found.covered.push(value);
            }
        }
        let count = count as u32;
        let entry = Entry {
            tag,
            kind,
            count,
            value,
        };
        let is_pointer = matches!(kind, 4 | 9 | 13) && count > 0 && (tag == SUB || count == 1);
        let mut known = POINTERS.iter();
        let Some((_, kind)) = known.find(|(known, _)| is_pointer && *known == tag) else {
            entries.push(entry);
            continue;
        };
        if pointer.path.len() >= LONGEST || pointers.len() + count as usize > MOST {
            return damaged("directories are too deep or too many");
        }
        let to = numbers(fields.reader, found.order, entry)?.unwrap_or_default();
        pointers.extend((0_u16..).zip(to).map(|(n, at)| Pointer {
            at,
            kind: *kind,
            path: [&pointer.path[..], &tag.to_le_bytes(), &n.to_le_bytes()].concat(),
        }));
    }
    entries.sort_by_key(|entry: &Entry| entry.tag);
    // Some programs leave it out.
    let next = if fields.rest.length < 4 {
        0
    } else {
        fields.number(4)?
    };
    found
        .covered
        .push(Span::between(table.start, fields.rest.start));
    match pointer.kind {
        Kind::Chain(n) if next != 0 => {
            let n = n.saturating_add(1);
            let [low, high] = n.to_le_bytes();
            pointers.push(Pointer {
                at: next,
                kind: Kind::Chain(n),
                path: vec![b'0', 0, low, high],
            });
        }
        Kind::Sub if next != 0 => {
            return damaged("a directory within a picture has another after it");
        }
        _ => {}
    }
    let Pointer { kind, path, .. } = pointer;
    found.all.push(Directory {
        kind,
        path,
        entries,
    });
    Ok(())
}

/// The numbers of a value: bytes, short or long ones.
pub fn numbers(reader: &mut Reader, order: Order, entry: Entry) -> Result<Option<Vec<u64>>> {
    if !matches!(entry.kind, 1 | 3 | 4 | 9 | 13) {
        return Ok(None);
    }
    reader.count(u64::from(entry.count))?;
    let mut fields = Fields::in_order(reader, entry.value, order);
    let numbers = (0..entry.count).map(|_| fields.number(size_of(entry.kind)));
    Ok(Some(numbers.collect::<Result<_>>()?))
}
