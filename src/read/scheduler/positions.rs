//! Positions of files on disks with a head. Each is queried once and kept for all stages.

use crate::file::FileIndex;

/// Maximum position that is kept: up to 256 TiB, or an inode number of that size.
const MOST: u64 = (1 << 48) - 1;

const IN_ONE: u64 = 1 << 62;

const IS_KNOWN: u64 = 1 << 63;

/// Positions of the first bytes of files, eight bytes for each file up to the last one whose position was queried.
#[derive(Debug, Default)]
pub(super) struct Positions(Vec<u64>);

impl Positions {
    /// Stores the position of the first byte of a file, and whether the file is known to be in one piece.
    pub fn keep(&mut self, file: FileIndex, position: u64, in_one: bool) {
        if position > MOST {
            return;
        }
        let at = file.0 as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = IS_KNOWN | if in_one { IN_ONE } else { 0 } | position;
    }

    /// The position of the byte at this offset of a file, if it is known: for a file in several pieces, only that of
    /// the first byte is.
    pub fn of(&self, file: FileIndex, offset: u64) -> Option<u64> {
        let entry = *self.0.get(file.0 as usize)?;
        let is_known = entry & IS_KNOWN != 0 && (offset == 0 || entry & IN_ONE != 0);
        is_known.then(|| (entry & MOST).saturating_add(offset))
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
            (70_000, 1 << 40, true),
        ];
        for (file, position, in_one) in all {
            assert_eq!(positions.of(FileIndex(file), 0), None);
            positions.keep(FileIndex(file), position, in_one);
            assert_eq!(positions.of(FileIndex(file), 0), Some(position));
            let behind = in_one.then_some(position + 5_000);
            assert_eq!(positions.of(FileIndex(file), 5_000), behind);
        }
        assert_eq!(positions.of(FileIndex(2), 0), None);
        assert_eq!(positions.of(FileIndex(u32::MAX), 0), None);
        // A position too high to keep is queried again.
        positions.keep(FileIndex(2), MOST + 1, false);
        assert_eq!(positions.of(FileIndex(2), 0), None);
    }
}
