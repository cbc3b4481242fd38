//! How much of a side is on the others, and which metadata of its files differ there.

use std::collections::HashMap;

use serde::Serialize;

use crate::tree::{EntryKind, Tree, Unseen};

use super::contents::Held;
use super::lines::{ComparedEntry, EntryPlace};
use super::marks::{Mark, Marks};

/// Files and their bytes. A file with several names counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Side {
    /// Files that take part.
    pub files: Sum,
    /// Of these, what is also on another side.
    pub elsewhere: Sum,
    /// Of these, what is only here.
    pub only: Sum,
    /// Of what is only here, files that other sides have in trash folders.
    pub in_trash: u64,
    /// Links, special files and empty folders that are also at the same path of another side.
    pub others: u64,
    /// Links, special files and empty folders that are only here.
    pub others_only: u64,
    /// Files and places that could not be answered.
    pub unanswered: u64,
    /// Of these, what changed during the run or may be the same file as one of another side.
    pub doubtful: u64,
    /// Of these, files of which a catalog knows too little.
    pub of_catalogs: u64,
    /// Files that are on the others only as further names of themselves.
    pub one_copy: u64,
}

impl Side {
    /// True if all of it is also on another side.
    pub fn is_elsewhere(&self) -> bool {
        self.only.count == 0 && self.others_only == 0 && self.unanswered == 0
    }

    fn add_other(&mut self, is_there: bool) {
        if is_there {
            self.others += 1;
        } else {
            self.others_only += 1;
        }
    }

    fn add_unanswered(&mut self, mut reasons: impl Iterator<Item = Option<Unseen>> + Clone) {
        let is_of_catalog = |reason: Option<Unseen>| reason.is_some_and(Unseen::is_of_catalog);
        self.unanswered += 1;
        self.of_catalogs += u64::from(reasons.clone().all(is_of_catalog));
        self.doubtful += u64::from(reasons.any(is_doubtful));
    }
}

/// Sums up a side, of which these are all entries.
pub fn of(marks: &Marks<'_, '_>, entries: &[Vec<ComparedEntry>]) -> Side {
    let tree = marks.tree;
    let mut sums = Side::default();
    for entry in entries.iter().flatten() {
        let is_there = entry.others().any(|(_, mark)| mark.is_there());
        match entry.place {
            EntryPlace::Name(name) => add_name(&mut sums, marks, entry, name),
            EntryPlace::Other(at) => match tree.other(at).kind {
                EntryKind::Unseen(unseen) => sums.add_unanswered([Some(*unseen)].into_iter()),
                _ => sums.add_other(is_there),
            },
            EntryPlace::EmptyFolder(_) | EntryPlace::Folder(..) => sums.add_other(is_there),
        }
    }
    sums
}

fn add_name(sums: &mut Side, marks: &Marks<'_, '_>, entry: &ComparedEntry, name: u32) {
    let file = marks.tree.file_of(name);
    let size = marks.tree.size(file);
    // Names of an empty file are compared one by one.
    if size > 0 && marks.contents.name_on(file, entry.side) != Some(name) {
        return;
    }
    sums.files.add(size);
    let open = entry.others().filter_map(|(_, mark)| match mark {
        Mark::Unanswered(reason) => Some(reason),
        _ => None,
    });
    let mut there = entry.others().filter(|(_, mark)| mark.is_there());
    let is_one_file = |(side, _)| matches!(marks.contents.held(file, side), Held::SameFile(_));
    if there.clone().next().is_some() {
        sums.elsewhere.add(size);
        sums.one_copy += u64::from(size > 0 && there.all(is_one_file));
    } else if open.clone().next().is_none() {
        sums.only.add(size);
        sums.in_trash += u64::from(marks.contents.is_in_trash_of_others(file, entry.side));
    } else {
        sums.add_unanswered(open);
    }
}

fn is_doubtful(reason: Option<Unseen>) -> bool {
    !reason.is_some_and(Unseen::hides_only_itself)
}

/// By name the metadata that copies on other sides have otherwise; nothing if the run did not ask for metadata.
pub fn differing(
    marks: &Marks<'_, '_>,
    lines: &[ComparedEntry],
) -> HashMap<u32, Vec<&'static str>> {
    let mut all = HashMap::new();
    if !marks.tree.has_metadata() {
        return all;
    }
    for line in lines {
        let EntryPlace::Name(name) = line.place else {
            continue;
        };
        let mut differing = Vec::new();
        for (side, &mark) in (0..).zip(&line.marks) {
            let other = (side != line.side).then(|| marks.counterpart(name, mark, side));
            if let Some(other) = other.flatten() {
                add_differing(marks.tree, name, other, &mut differing);
            }
        }
        if !differing.is_empty() {
            differing.sort_unstable();
            differing.dedup();
            all.insert(name, differing);
        }
    }
    all
}

fn add_differing(tree: &Tree, name: u32, other: u32, differing: &mut Vec<&'static str>) {
    let (file, other) = (tree.file_of(name), tree.file_of(other));
    if file == other {
        return;
    }
    let (Some(own), Some(other)) = (tree.metadata(file), tree.metadata(other)) else {
        return differing.push("unknown");
    };
    let all = [
        (own.mode != other.mode, "mode"),
        (own.owner != other.owner, "owner"),
        (own.modified_ns != other.modified_ns, "mtime"),
        (own.extended != other.extended, "xattrs"),
    ];
    differing.extend(
        all.iter()
            .filter(|(differs, _)| *differs)
            .map(|(_, word)| word),
    );
}
