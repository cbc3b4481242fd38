//! Positions of files on disks with a head. Each is queried once and kept for all stages.

use crate::file::FileIndex;

/// Files that share one allocation: files that the scan met together wait together.
const PAGE: usize = 512;

/// Maximum position that is kept: up to 256 TiB, or an inode number of that size.
const MOST: u64 = (1 << 48) - 1;

const IN_ONE: u64 = 1 << 62;
const IS_KNOWN: u64 = 1 << 63;

/// Positions of the first bytes of files, eight bytes a file.
///
/// Pages are allocated for files that lie on such a disk and whose position was queried.
#[derive(Debug, Default)]
pub(super) struct Positions {
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

impl Positions {
    /// Stores the position of the first byte of a file, and whether the file is known to be in one piece.
    pub fn keep(&mut self, file: FileIndex, position: u64, in_one: bool) {
        if position > MOST {
            return;
        }
        let (page, at) = (file.0 as usize / PAGE, file.0 as usize % PAGE);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let in_one = if in_one { IN_ONE } else { 0 };
        let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
        page[at] = IS_KNOWN | in_one | position;
    }

    /// The position of the byte at this offset of a file, if it is known: for a file in several pieces, only that of
    /// the first byte is.
    pub fn of(&self, file: FileIndex, offset: u64) -> Option<u64> {
        let entry = self.entry(file)?;
        let position = entry & MOST;
        if offset == 0 {
            return Some(position);
        }
        (entry & IN_ONE != 0).then(|| position.saturating_add(offset))
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
    fn what_is_kept_is_known_and_as_a_whole_if_it_is_one_piece() {
        let mut positions = Positions::default();
        let all = [
            (0, 0, false),
            (1, 4096, true),
            (511, MOST, true),
            (512, 5, false),
            (70_000, 1 << 40, true),
        ];
        for (file, position, in_one) in all {
            assert_eq!(positions.of(FileIndex(file), 0), None);
            positions.keep(FileIndex(file), position, in_one);
        }
        for (file, position, in_one) in all {
            assert_eq!(positions.of(FileIndex(file), 0), Some(position));
            let behind = in_one.then_some(position + 5_000);
            assert_eq!(positions.of(FileIndex(file), 5_000), behind);
        }
        assert_eq!(positions.of(FileIndex(2), 0), None);
        assert_eq!(positions.of(FileIndex(u32::MAX), 0), None);
        let pages = positions.pages.iter().flatten().count();
        assert_eq!(pages, 3, "nothing is taken for files elsewhere");
    }

    #[test]
    fn a_position_too_high_to_keep_is_asked_for_again() {
        let mut positions = Positions::default();
        positions.keep(FileIndex(0), MOST + 1, false);
        assert_eq!(positions.of(FileIndex(0), 0), None);
    }
}
