//! Checks what a catalog says of its own sizes, before anything is allocated for it.
//!
//! The decoder believes the sizes in page headers: 16 bytes can ask for 2 GiB, and a page of a few kilobytes can hold
//! them. And it follows the schema as deep as it goes. So footer and page headers are walked here first. Both are in
//! Thrift's compact protocol, of which numbers and the lengths of lists are enough.

/// Levels of structures in a footer: the file, a row group, a column, its statistics, and what may come.
const DEEPEST: usize = 12;

/// Bytes in Thrift's compact protocol.
struct Thrift<'b> {
    bytes: &'b [u8],
    /// The numbers of the fields that lead to the present one.
    path: Vec<i16>,
}

/// Walks a structure, and tells each number, and the length of each list, with the numbers of the fields that lead
/// there. Returns the length of the structure in bytes; `None` if it is damaged.
fn walk(bytes: &[u8], each: &mut dyn FnMut(&[i16], i64)) -> Option<usize> {
    let mut thrift = Thrift {
        bytes,
        path: Vec::new(),
    };
    thrift.structure(each)?;
    Some(bytes.len() - thrift.bytes.len())
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn skip(&mut self, len: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(len).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let folded = self.varint()?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    fn structure(&mut self, each: &mut dyn FnMut(&[i16], i64)) -> Option<()> {
        if self.path.len() >= DEEPEST {
            return None;
        }
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            let (step, kind) = (head >> 4, head & 0x0f);
            if kind == 0 {
                return Some(());
            }
            field = match step {
                0 => i16::try_from(self.number()?).ok()?,
                step => field.checked_add(step.into())?,
            };
            self.path.push(field);
            // The kind of a field says what a truth value is; in a list it takes a byte.
            if kind > 2 {
                self.value(kind, each)?;
            }
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, each: &mut dyn FnMut(&[i16], i64)) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let number = self.number()?;
                each(&self.path, number);
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let len = self.varint()?;
                self.skip(len)
            }
            9 | 10 => {
                let head = self.byte()?;
                let len = match head >> 4 {
                    15 => self.varint()?,
                    len => len.into(),
                };
                // An item takes a byte at least.
                if len > self.bytes.len() as u64 {
                    return None;
                }
                each(&self.path, len as i64);
                (0..len).try_for_each(|_| self.value(head & 0x0f, each))
            }
            12 => self.structure(each),
            _ => None,
        }
    }
}

/// True if a footer has a flat schema of at most this many columns.
pub fn is_flat(footer: &[u8], columns: usize) -> bool {
    let mut groups = 0;
    let mut is_small = true;
    let walked = walk(footer, &mut |path, value| match path {
        [2] => is_small &= value <= columns as i64 + 1,
        // The number of children: the file is the only group.
        [2, 5] if value != 0 => groups += 1,
        _ => {}
    });
    walked.is_some() && is_small && groups <= 1
}

/// Encodings of values whose decoder allocates no more than it is asked for.
const ENCODINGS: [i64; 5] = [
    0, // plain
    2, // dictionary of old
    3, // runs
    5, // packed differences
    8, // dictionary
];

/// Bytes that the values of a column chunk take once they are decompressed, if each of its pages holds at most this
/// many values; `None` if it is damaged or asks for more than `most` bytes.
pub fn decompressed(mut chunk: &[u8], values: u64, most: u64) -> Option<u64> {
    let mut total = 0_u64;
    while !chunk.is_empty() {
        let (mut compressed, mut is_right) = (None, true);
        let head = walk(chunk, &mut |path, value| match path {
            // Of version 1, or a dictionary.
            [1] => is_right &= [0, 2].contains(&value),
            [2] => match u64::try_from(value) {
                Ok(size) => total = total.saturating_add(size),
                Err(_) => is_right = false,
            },
            [3] => {
                is_right &= compressed.is_none();
                compressed = usize::try_from(value).ok();
            }
            [5 | 7, 1] => is_right &= u64::try_from(value).is_ok_and(|count| count <= values),
            [5 | 7, 2] => is_right &= ENCODINGS.contains(&value),
            _ => {}
        })?;
        if !is_right || total > most {
            return None;
        }
        chunk = chunk.get(head..)?.get(compressed?..)?;
    }
    Some(total)
}
