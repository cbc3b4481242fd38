//! Directories of TIFF, which EXIF uses too: what they hold, and where.

use std::collections::HashSet;

use super::super::source::{Order, Reader, Result, damaged};
use super::super::span::Span;

/// Tags that point to further directories.
const SUB: u16 = 0x014A;
const EXIF: u16 = 0x8769;
const GPS: u16 = 0x8825;
const INTEROP: u16 = 0xA005;

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
#[derive(Clone, Debug)]
pub struct Directory {
    pub kind: Kind,
    /// Its place among the others: no two have the same, and no directory without payload has a part in it.
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
#[derive(Clone, Debug)]
pub struct Directories {
    pub order: Order,
    /// Offset 0 of all pointers.
    pub base: u64,
    pub all: Vec<Directory>,
    /// The header, the directories, and the values outside of them.
    pub covered: Vec<Span>,
    starts: HashSet<u64>,
}

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

/// The order of the bytes, by the first two of a header.
pub fn order(mark: &[u8]) -> Option<Order> {
    match mark.get(..2)? {
        b"II" => Some(Order::Little),
        b"MM" => Some(Order::Big),
        _ => None,
    }
}

/// Most directories, how deep they point to each other, and how many follow each other below a tag.
const MOST: usize = 4096;
const DEEPEST: usize = 4;
const LONGEST: usize = 64;

/// What an entry counts among the parts of a file: it takes more memory than others.
const WEIGHT: u64 = 16;

/// A directory that is still to be read.
struct Pointer {
    at: u64,
    kind: Kind,
    path: Vec<u8>,
    depth: usize,
}

/// Reads all directories of a TIFF block.
pub fn read(reader: &mut Reader, block: Span) -> Result<Directories> {
    if block.length < 8 {
        return damaged("an EXIF block is too short");
    }
    let Some(order) = order(reader.bytes(Span::new(block.start, 2))?) else {
        return damaged("an EXIF block does not say its byte order");
    };
    let first = reader.number(block.start + 4, 4, order)?;
    let base = block.start;
    let mut found = Directories {
        order,
        base,
        all: Vec::new(),
        covered: vec![Span::new(base, 8)],
        starts: HashSet::new(),
    };
    let kind = Kind::Chain(0);
    let path = vec![b'0', 0, 0];
    let mut pointers = vec![Pointer {
        at: first,
        kind,
        path,
        depth: 0,
    }];
    while let Some(pointer) = pointers.pop() {
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
    let order = found.order;
    let start = block.start.saturating_add(pointer.at);
    let inside = |span: Span| span.length > 0 && block.contains(span);
    if !inside(Span::new(start, 2)) {
        return damaged("a directory lies outside");
    }
    let count = reader.number(start, 2, order)?;
    let table = Span::new(start, 2 + 12 * count);
    let next = Span::new(table.end(), 4);
    if !inside(table) {
        return damaged("a directory ends outside");
    }
    if !found.starts.insert(start) {
        return damaged("directories point to each other");
    }
    reader.count(WEIGHT * (1 + count))?;
    let has_next = inside(next);
    found.covered.push(Span::between(
        start,
        if has_next { next.end() } else { table.end() },
    ));
    let raw = reader.bytes(table)?[2..].to_vec();
    let mut entries = Vec::with_capacity(count as usize);
    for (n, raw) in raw.chunks_exact(12).enumerate() {
        let number = |from: usize, to: usize| order.number(&raw[from..to]);
        let (tag, kind) = (number(0, 2) as u16, number(2, 4) as u16);
        let (count, field) = (number(4, 8) as u32, number(8, 12));
        let length = size_of(kind) * u64::from(count);
        let is_inline = length <= 4;
        let value = match is_inline {
            // A type that does not exist: the field is all there is to know.
            true if size_of(kind) == 0 => Span::new(start + 10 + 12 * n as u64, 4),
            true => Span::new(start + 10 + 12 * n as u64, length),
            false => Span::new(block.start.saturating_add(field), length),
        };
        if value.length > 0 && !inside(value) {
            return damaged("a tag's value lies outside");
        }
        if !is_inline {
            found.covered.push(value);
        }
        let entry = Entry {
            tag,
            kind,
            count,
            value,
        };
        let kinds = match tag {
            SUB => Some(Kind::Sub),
            EXIF => Some(Kind::Exif),
            GPS => Some(Kind::Gps),
            INTEROP => Some(Kind::Interop),
            _ => None,
        };
        let is_pointer = matches!(kind, 4 | 13) && count > 0 && (tag == SUB || count == 1);
        match kinds {
            Some(kind) if is_pointer => point(reader, order, &pointer, entry, kind, pointers)?,
            _ => entries.push(entry),
        }
    }
    entries.sort_by_key(|entry: &Entry| entry.tag);
    let next = if has_next {
        reader.number(next.start, 4, order)?
    } else {
        0
    };
    match pointer.kind {
        Kind::Chain(n) if next != 0 => {
            let (kind, n) = (
                Kind::Chain(n.saturating_add(1)),
                n.saturating_add(1).to_le_bytes(),
            );
            let path = vec![b'0', n[0], n[1]];
            pointers.push(Pointer {
                at: next,
                kind,
                path,
                depth: 0,
            });
        }
        Kind::Sub if next != 0 => {
            let path = [&pointer.path[..], b"n"].concat();
            let depth = pointer.depth + 1;
            if depth > LONGEST {
                return damaged("directories are too deep");
            }
            pointers.push(Pointer {
                at: next,
                kind: Kind::Sub,
                path,
                depth,
            });
        }
        _ => {}
    }
    found.all.push(Directory {
        kind: pointer.kind,
        path: pointer.path,
        entries,
    });
    Ok(())
}

/// Remembers the directories that a tag points to.
fn point(
    reader: &mut Reader,
    order: Order,
    from: &Pointer,
    entry: Entry,
    kind: Kind,
    pointers: &mut Vec<Pointer>,
) -> Result<()> {
    if from.depth >= DEEPEST || entry.count as usize > MOST {
        return damaged("directories are too deep or too many");
    }
    let raw = reader.bytes(entry.value)?.to_vec();
    for (n, raw) in raw.chunks_exact(4).enumerate() {
        let n = (n as u16).to_le_bytes();
        let path = [&from.path[..], &entry.tag.to_le_bytes(), &n].concat();
        pointers.push(Pointer {
            at: order.number(raw),
            kind,
            path,
            depth: from.depth + 1,
        });
    }
    if pointers.len() > MOST {
        return damaged("it has too many directories");
    }
    Ok(())
}

/// The numbers of a value: bytes, short or long ones.
pub fn numbers(reader: &mut Reader, order: Order, entry: Entry) -> Result<Option<Vec<u64>>> {
    let size = size_of(entry.kind);
    if !matches!(entry.kind, 1 | 3 | 4 | 13) {
        return Ok(None);
    }
    reader.count(u64::from(entry.count))?;
    let mut numbers = Vec::with_capacity(entry.count.min(1 << 16) as usize);
    let mut rest = entry.value;
    while rest.length > 0 {
        let now = Span::new(rest.start, rest.length.min(32 << 10));
        let bytes = reader.bytes(now)?;
        numbers.extend(
            bytes
                .chunks_exact(size as usize)
                .map(|raw| order.number(raw)),
        );
        rest = rest.skip(now.length);
    }
    Ok(Some(numbers))
}
