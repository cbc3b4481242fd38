//! The digests that catalogs have of their files.

use std::ops::Range;

use crate::cache::Row;
use crate::file::FileIndex;
use crate::hash::{ContentDigest, SampleDigest};

/// Files whose digests are in one block of memory, which is given back alone: most blocks are larger than what the C
/// library maps on its own.
const BLOCK: usize = 1 << 13;

/// Files of which the place of the first one's digests is recorded.
const GROUP: usize = 1 << 6;

/// What is known of a file: the digests that are here, and whether the content was [let go](RowDigests::let_go).
const SAMPLES: u8 = 1;
const CONTENT: u8 = 2;
const GONE: u8 = 4;

/// Digests of many files: a byte for a file, and the digests that it has.
#[derive(Default)]
pub struct RowDigests {
    kinds: Vec<u8>,
    /// Where those of a group begin in their block.
    starts: Vec<u16>,
    blocks: Vec<Vec<[u8; 16]>>,
}

impl RowDigests {
    /// Number of files.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Adds those of the next file: head and tail if both are known, and content.
    pub fn push(&mut self, row: &Row) {
        if self.len().is_multiple_of(BLOCK) {
            self.blocks.push(Vec::new());
        }
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        if self.kinds.len().is_multiple_of(GROUP) {
            self.starts.push(block.len() as u16);
        }
        let mut kind = 0;
        if let Some((head, tail)) = row.head.zip(row.tail) {
            kind |= SAMPLES;
            block.extend([*head.as_bytes(), *tail.as_bytes()]);
        }
        if let Some(content) = row.content {
            kind |= CONTENT;
            block.extend(content.as_bytes().as_chunks().0);
        }
        self.kinds.push(kind);
    }

    /// What is here of a file; `None` if it is not one of these.
    pub fn get(&self, file: FileIndex) -> Option<Row> {
        let at = file.0 as usize;
        let kind = *self.kinds.get(at)?;
        let before = &self.kinds[at - at % GROUP..at];
        let start = usize::from(self.starts[at / GROUP])
            + before.iter().map(|&it| parts_of(it)).sum::<usize>();
        let mut parts = self.blocks[at / BLOCK][start..].iter().copied();
        let mut next = || parts.next().unwrap_or_default();
        let mut row = Row::default();
        if kind & SAMPLES > 0 {
            row.head = Some(SampleDigest::from_bytes(next()));
            row.tail = Some(SampleDigest::from_bytes(next()));
        }
        if kind & CONTENT > 0 {
            let mut whole = [0; 32];
            whole[..16].copy_from_slice(&next());
            whole[16..].copy_from_slice(&next());
            row.content = Some(ContentDigest::from_bytes(whole));
        }
        Some(row)
    }

    /// True if a file is one of these, and the digest of its content was never here.
    pub fn lacks_content(&self, file: FileIndex) -> bool {
        let kind = self.kinds.get(file.0 as usize);
        kind.is_some_and(|kind| kind & (CONTENT | GONE) == 0)
    }

    /// The numbers of the files of each block.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let len = self.len();
        (0..len)
            .step_by(BLOCK)
            .map(move |start| start..len.min(start + BLOCK))
    }

    /// Gives back the memory of the digests of files in a block whose content is known elsewhere by now.
    pub fn let_go(&mut self, block: Range<usize>, is_known: impl Fn(FileIndex) -> bool) {
        let parts = &mut self.blocks[block.start / BLOCK];
        let (mut from, mut to) = (0, 0);
        for at in block {
            if at.is_multiple_of(GROUP) {
                self.starts[at / GROUP] = to as u16;
            }
            let kind = &mut self.kinds[at];
            let len = parts_of(*kind);
            if is_known(FileIndex(at as u32)) {
                *kind = GONE;
            } else {
                parts.copy_within(from..from + len, to);
                to += len;
            }
            from += len;
        }
        parts.truncate(to);
        parts.shrink_to_fit();
    }
}

/// Parts that the digests of a file take.
fn parts_of(kind: u8) -> usize {
    2 * (kind & (SAMPLES | CONTENT)).count_ones() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: usize) -> Row {
        let bytes = [(number % 251) as u8; 16];
        let sample = SampleDigest::from_bytes(bytes);
        let content = ContentDigest::from_bytes([(number % 241) as u8; 32]);
        let sample = number.is_multiple_of(3).then_some(sample);
        Row {
            head: sample,
            tail: sample,
            content: (!number.is_multiple_of(5)).then_some(content),
            ..Row::default()
        }
    }

    #[test]
    fn what_is_let_go_takes_nothing_from_the_others() {
        let files = 2 * BLOCK + GROUP + 1;
        let mut digests = RowDigests::default();
        (0..files).for_each(|number| digests.push(&of(number)));
        let is_known = |file: FileIndex| file.0 % 7 == 1 && of(file.0 as usize).content.is_some();
        let blocks: Vec<_> = digests.blocks().collect();
        assert_eq!(blocks.len(), 3);
        for block in blocks {
            digests.let_go(block, is_known);
        }
        for number in 0..files {
            let file = FileIndex(number as u32);
            let is_gone = is_known(file);
            let left = if is_gone { Row::default() } else { of(number) };
            assert_eq!(digests.get(file), Some(left), "{number}");
            assert_eq!(digests.lacks_content(file), of(number).content.is_none());
        }
        assert_eq!(digests.get(FileIndex(files as u32)), None);
        let kept: usize = digests.blocks.iter().map(Vec::len).sum();
        let all: usize = (0..files)
            .map(of)
            .map(|it| 2 * (usize::from(it.head.is_some()) + usize::from(it.content.is_some())))
            .sum();
        assert!(kept < all, "their memory is given back");
    }
}
