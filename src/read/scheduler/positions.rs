//! Positions of files on disks with a head. Each is queried once and kept for all stages.

use crate::file::FileIndex;
use crate::sys::extents::Pieces;

/// Files that share one allocation: files that the scan met together wait together.
const PAGE: usize = 512;

/// Maximum position that is kept: up to 256 TiB, or an inode number of that size.
const MOST: u64 = (1 << 48) - 1;

const PIECES_SHIFT: u32 = 48;
const OR_MORE: u64 = 1 << 56;
const HAS_PIECES: u64 = 1 << 57;
const IS_KNOWN: u64 = 1 << 63;

/// Positions of the first bytes of files, eight bytes a file, and the numbers of pieces of the files.
///
/// Pages are allocated for files that lie on such a disk and whose position was queried.
#[derive(Debug, Default)]
pub(super) struct Positions {
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

impl Positions {
    /// Stores the position of the first byte of a file, and the number of its pieces if it is known.
    pub fn keep(&mut self, file: FileIndex, position: u64, pieces: Option<Pieces>) {
        if position > MOST {
            return;
        }
        let (page, at) = (file.0 as usize / PAGE, file.0 as usize % PAGE);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let pieces = pieces.map_or(0, |pieces| {
            let or_more = if pieces.or_more { OR_MORE } else { 0 };
            HAS_PIECES | or_more | u64::from(pieces.seen) << PIECES_SHIFT
        });
        let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
        page[at] = IS_KNOWN | pieces | position;
    }

    /// The position of the byte at this offset of a file, if it is known: for a file in several pieces, only that of
    /// the first byte is.
    pub fn of(&self, file: FileIndex, offset: u64) -> Option<u64> {
        let position = self.entry(file)? & MOST;
        let one = Pieces {
            seen: 1,
            or_more: false,
        };
        match offset {
            0 => Some(position),
            _ => (self.pieces(file) == Some(one)).then(|| position.saturating_add(offset)),
        }
    }

    /// The number of pieces of a file, if it is known.
    pub fn pieces(&self, file: FileIndex) -> Option<Pieces> {
        let entry = self.entry(file).filter(|entry| entry & HAS_PIECES != 0)?;
        Some(Pieces {
            seen: (entry >> PIECES_SHIFT) as u8,
            or_more: entry & OR_MORE != 0,
        })
    }

    fn entry(&self, file: FileIndex) -> Option<u64> {
        let page = self.pages.get(file.0 as usize / PAGE)?.as_ref()?;
        let entry = page[file.0 as usize % PAGE];
        (entry & IS_KNOWN != 0).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_known() {
        let mut positions = Positions::default();
        let pieces = |seen, or_more| Some(Pieces { seen, or_more });
        let all = [
            (0, 0, None),
            (1, 4096, pieces(1, false)),
            (511, MOST, pieces(1, false)),
            (512, 5, pieces(7, false)),
            (70_000, 1 << 40, pieces(64, true)),
            (70_001, 9, pieces(0, false)),
        ];
        for (file, position, pieces) in all {
            assert_eq!(positions.of(FileIndex(file), 0), None);
            positions.keep(FileIndex(file), position, pieces);
        }
        for (file, position, pieces) in all {
            assert_eq!(positions.of(FileIndex(file), 0), Some(position));
            assert_eq!(positions.pieces(FileIndex(file)), pieces);
        }
        assert_eq!(positions.of(FileIndex(2), 0), None);
        assert_eq!(positions.of(FileIndex(u32::MAX), 0), None);
        let pages = positions.pages.iter().flatten().count();
        assert_eq!(pages, 3, "nothing is taken for files elsewhere");
    }

    #[test]
    fn only_a_file_in_one_piece_is_known_as_a_whole() {
        let mut positions = Positions::default();
        for (file, seen, or_more, expected) in [
            (0, 1, false, Some(1_005_000)),
            (1, 2, false, None),
            (2, 1, true, None),
            (3, 0, false, None),
        ] {
            let pieces = Some(Pieces { seen, or_more });
            positions.keep(FileIndex(file), 1_000_000, pieces);
            assert_eq!(positions.of(FileIndex(file), 5_000), expected, "{file}");
        }
        positions.keep(FileIndex(4), 1_000_000, None);
        assert_eq!(positions.of(FileIndex(4), 1), None);
    }

    #[test]
    fn a_position_too_high_to_keep_is_asked_for_again() {
        let mut positions = Positions::default();
        positions.keep(FileIndex(0), MOST + 1, None);
        assert_eq!(positions.of(FileIndex(0), 0), None);
    }
}
