//! Sets of files.

use crate::file::FileIndex;

/// A set of files: one bit for each number up to the highest one in it. Files are numbered in the order of their
/// arrival, so a set takes at most an eighth of a byte for each file that was found.
#[derive(Debug, Default)]
pub struct FileSet(Vec<u64>);

impl FileSet {
    /// Adds a file.
    pub fn insert(&mut self, file: FileIndex) {
        let (word, bit) = place(file);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// True if the file is in the set.
    pub fn contains(&self, file: FileIndex) -> bool {
        let (word, bit) = place(file);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// The word and the bit of a file.
fn place(file: FileIndex) -> (usize, u64) {
    let FileIndex(number) = file;
    ((number / u64::BITS) as usize, 1 << (number % u64::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_files_that_were_added_and_no_others() {
        let added = [0, 1, 63, 64, 1000, 63];
        let mut set = FileSet::default();
        added
            .into_iter()
            .for_each(|number| set.insert(FileIndex(number)));
        let found = (0..2000).filter(|&number| set.contains(FileIndex(number)));
        assert_eq!(found.collect::<Vec<_>>(), [0, 1, 63, 64, 1000]);
    }
}
