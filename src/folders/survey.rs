//! A tree with all that the search for verdicts asks again and again.

use super::forms::Forms;
use super::seen::Seen;
use super::tallies::Tallies;
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
