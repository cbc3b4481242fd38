//! How much of a side is on the others.

use crate::tree::{EntryKind, Unseen};

use super::contents::Worth;
use super::lines::folders_of;
use super::marks::{Mark, Marks};

/// Files and their bytes. A file with several names counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Files.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Sum {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// How much of a side is on the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// Files that take part.
    pub files: Sum,
    /// Of these, what is also on another side.
    pub elsewhere: Sum,
    /// Of these, what is only here.
    pub only: Sum,
    /// Links, special files and empty folders that are also at the same path of another side.
    pub others: u64,
    /// Links, special files and empty folders that are only here.
    pub others_only: u64,
    /// Files and places that could not be answered.
    pub unanswered: u64,
    /// Of these, what changed during the run or may be the same file as one of another side.
    pub doubtful: u64,
    /// Files that are on the others only as further names of themselves.
    pub one_copy: u64,
    /// Files that are on the others only in the blocks in which they lie themselves.
    pub same_blocks: u64,
    /// Entries that filters left out.
    pub left_out: u64,
}

impl Side {
    /// True if all of it is also on another side.
    pub fn is_elsewhere(&self) -> bool {
        self.only.count == 0 && self.others_only == 0 && self.unanswered == 0
    }

    fn add_unanswered(&mut self, is_doubtful: bool) {
        self.unanswered += 1;
        self.doubtful += u64::from(is_doubtful);
    }
}

/// Sums up a side.
pub fn of(marks: &Marks<'_, '_>, side: u32) -> Side {
    let tree = marks.tree;
    let mut sums = Side::default();
    let others: Vec<u32> = (0..tree.roots().len() as u32)
        .filter(|&other| other != side)
        .collect();
    let is_there = |mark: &dyn Fn(u32) -> Mark| others.iter().any(|&other| mark(other).is_there());
    let open = |mark: &dyn Fn(u32) -> Mark| {
        let reasons = others.iter().filter_map(|&other| match mark(other) {
            Mark::Unanswered(reason) => Some(reason),
            _ => None,
        });
        reasons.collect::<Vec<Option<Unseen>>>()
    };
    let is_doubtful = |reason: &Option<Unseen>| !reason.is_some_and(Unseen::hides_only_itself);
    for folder in folders_of(tree, side) {
        for name in tree.names_in(folder) {
            let file = tree.file_of(name);
            let is_first = marks.contents.name_on(file, side) == Some(name);
            let size = tree.size(file);
            let mark = |other| marks.of_name(name, other);
            // Names of an empty file are compared one by one.
            if !is_first && size > 0 {
                continue;
            }
            sums.files.add(size);
            let reasons = open(&mark);
            if is_there(&mark) {
                sums.elsewhere.add(size);
                let held = others.iter().filter(|&&other| mark(other).is_there());
                let worth = held.map(|&other| marks.contents.worth(file, other)).max();
                let worth = worth.filter(|_| size > 0);
                sums.one_copy += u64::from(worth == Some(Worth::SameFile));
                sums.same_blocks += u64::from(worth == Some(Worth::SameBlocks));
            } else if reasons.is_empty() {
                sums.only.add(size);
            } else {
                sums.add_unanswered(reasons.iter().any(is_doubtful));
            }
        }
        if tree.is_empty_folder(folder) {
            count_other(
                &mut sums,
                is_there(&|other| marks.of_empty_folder(folder, other)),
            );
        }
        for entry in tree.others_in(folder) {
            match entry.kind {
                EntryKind::Unseen(unseen) if unseen.is_asked_for() => sums.left_out += 1,
                EntryKind::Unseen(unseen) => sums.add_unanswered(is_doubtful(&Some(*unseen))),
                EntryKind::Link(_) | EntryKind::Special(_) => {
                    count_other(&mut sums, is_there(&|other| marks.of_other(&entry, other)));
                }
            }
        }
    }
    sums
}

fn count_other(sums: &mut Side, is_there: bool) {
    match is_there {
        true => sums.others += 1,
        false => sums.others_only += 1,
    }
}
