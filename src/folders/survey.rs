//! A tree with all that the search for verdicts asks again and again: how much each folder holds, how much of it lies
//! nowhere else, and which folders are the same.

use super::forms::Forms;
use super::seen::{Content, Seen};
use super::verdict::FolderVerdict;

/// A share of bytes, from 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(pub u8);

impl Percent {
    /// True if a part is at least this much of all.
    pub fn is_met(self, part: u64, all: u64) -> bool {
        u128::from(part) * 100 >= u128::from(all) * u128::from(self.0)
    }
}

/// The requested verdicts.
pub struct Wanted<'a> {
    /// Folders of fewer bytes are passed over, with all below them.
    pub min_bytes: u64,
    /// How much of a folder has to be in another one.
    pub min_overlap: Percent,
    /// Which names of folders get a line.
    pub is_wanted: &'a dyn Fn(&[u8]) -> bool,
}

/// A folder of which something can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The folder.
    pub folder: u32,
    /// The verdict.
    pub verdict: FolderVerdict,
}

/// The tree, its counts, and the question.
pub struct Survey<'s> {
    pub seen: &'s Seen<'s>,
    pub tallies: Tallies,
    pub forms: Forms,
    pub wanted: &'s Wanted<'s>,
}

impl Survey<'_> {
    /// True if a folder may get a line.
    pub fn is_wanted(&self, folder: u32) -> bool {
        // A root is named by the path that was given.
        let path = self.seen.run().folder_name(folder);
        let mut parts = path.rsplit(|&byte| byte == b'/');
        let name = parts.find(|part| !part.is_empty()).unwrap_or_default();
        self.seen.is_listed(folder) && (self.wanted.is_wanted)(name)
    }

    /// True if a folder is too small to get a line, and so are all in it.
    pub fn is_small(&self, folder: u32) -> bool {
        let tally = self.tallies.get(folder);
        tally.contents == 0 || tally.total_bytes < self.wanted.min_bytes
    }
}

/// The counts of everything below a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Contents, each counted once.
    pub contents: u32,
    /// Bytes of the contents, each counted once.
    pub bytes: u64,
    /// Bytes of those contents of which all copies lie below this folder.
    pub only_here_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

impl Tally {
    /// Numbers may pass below zero on the way; the sums never do.
    fn add(&mut self, other: Self) {
        self.contents = self.contents.wrapping_add(other.contents);
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
    pub fn of(seen: &Seen<'_>) -> Self {
        let run = seen.run();
        let mut tallies = vec![Tally::default(); run.folder_count() as usize];
        for content in seen.all_contents() {
            count(seen, content, &mut tallies);
        }
        for folder in (0..run.folder_count()).rev() {
            if let Some(parent) = run.parent(folder) {
                let below = tallies[folder as usize];
                tallies[parent as usize].add(below);
            }
        }
        Self(tallies)
    }

    /// The counts of everything below one folder.
    pub fn get(&self, folder: u32) -> Tally {
        self.0[folder as usize]
    }
}

/// Adds one for each copy, and takes one away where two neighbouring copies meet: so each folder above them counts one.
fn count(seen: &Seen<'_>, content: Content, tallies: &mut [Tally]) {
    let (run, copies, size) = (seen.run(), seen.copies(content), seen.size(content));
    for &at in copies {
        let tally = &mut tallies[at as usize];
        tally.contents = tally.contents.wrapping_add(1);
        tally.bytes = tally.bytes.wrapping_add(size);
        tally.total_bytes = tally.total_bytes.wrapping_add(size);
    }
    for pair in copies.windows(2) {
        if let Some(meeting) = run.common(pair[0], pair[1]) {
            let tally = &mut tallies[meeting as usize];
            tally.contents = tally.contents.wrapping_sub(1);
            tally.bytes = tally.bytes.wrapping_sub(size);
        }
    }
    if let (Some(&first), Some(&last)) = (copies.first(), copies.last())
        && let Some(home) = run.common(first, last)
    {
        let bytes = &mut tallies[home as usize].only_here_bytes;
        *bytes = bytes.wrapping_add(size);
    }
}
