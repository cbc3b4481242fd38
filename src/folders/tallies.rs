//! How much each folder holds, and how much of it lies nowhere else: one pass for all folders.

use super::tree::{Content, Folder, Tree};

/// The counts of everything below a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Contents and pairs, each counted once.
    pub contents: u32,
    /// Those of which all copies lie below this folder.
    pub only_here: u32,
    /// Bytes of the contents, each counted once.
    pub bytes: u64,
    /// Bytes of those contents that lie nowhere else.
    pub only_here_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

impl Tally {
    /// Numbers may pass below zero on the way; the sums never do.
    fn add(&mut self, other: Self) {
        self.contents = self.contents.wrapping_add(other.contents);
        self.only_here = self.only_here.wrapping_add(other.only_here);
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.only_here_bytes = self.only_here_bytes.wrapping_add(other.only_here_bytes);
        self.total_bytes = self.total_bytes.wrapping_add(other.total_bytes);
    }
}

/// The tally of every folder.
#[derive(Debug)]
pub struct Tallies(Vec<Tally>);

impl Tallies {
    /// Counts.
    pub fn of(tree: &Tree) -> Self {
        let mut tallies = vec![Tally::default(); tree.len()];
        for content in (0..tree.content_count() as u32).map(Content) {
            count(tree, content, &mut tallies);
        }
        for folder in tree.folders().rev() {
            let below = tallies[folder.at()];
            tallies[tree.parent(folder).at()].add(below);
        }
        Self(tallies)
    }

    /// The counts of everything below one folder.
    pub fn get(&self, folder: Folder) -> Tally {
        self.0[folder.at()]
    }
}

/// Adds one for each copy, and takes one away where two neighbouring copies meet: so each folder above them counts one.
fn count(tree: &Tree, content: Content, tallies: &mut [Tally]) {
    let (copies, size) = (tree.copies(content), tree.size(content));
    let (Some(&first), Some(&last)) = (copies.first(), copies.last()) else {
        return;
    };
    for &at in copies {
        let tally = &mut tallies[at as usize];
        tally.contents = tally.contents.wrapping_add(1);
        tally.bytes = tally.bytes.wrapping_add(size);
        tally.total_bytes = tally.total_bytes.wrapping_add(size);
    }
    for pair in copies.windows(2) {
        let meeting = tree.common(Folder(pair[0]), Folder(pair[1]));
        let tally = &mut tallies[meeting.at()];
        tally.contents = tally.contents.wrapping_sub(1);
        tally.bytes = tally.bytes.wrapping_sub(size);
    }
    let home = &mut tallies[tree.common(Folder(first), Folder(last)).at()];
    home.only_here = home.only_here.wrapping_add(1);
    home.only_here_bytes = home.only_here_bytes.wrapping_add(size);
}
