//! The entries of all sides, each once.

use std::collections::HashSet;
use std::ops::Range;

use crate::tree::{EntryKind, RootPlace, Tree};

use super::marks::{Mark, Marks};

/// Where an entry is in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPlace {
    /// A name of a file.
    Name(u32),
    /// A link, a special file, or something that was not seen.
    Other(u32),
    /// An empty folder.
    EmptyFolder(u32),
    /// A folder of which all is only on its side: files and bytes below.
    Folder(u32, u64, u64),
}

/// An entry, and what it is on each side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedEntry {
    /// Its side.
    pub side: u32,
    /// Where it is there.
    pub place: EntryPlace,
    /// What it is on the other sides, in their order; on its own it is [`Mark::Same`].
    pub marks: Box<[Mark]>,
}

impl ComparedEntry {
    /// The sign of the line among two sides.
    pub fn sign(&self) -> char {
        match (self.marks[1 - self.side.min(1) as usize], self.side) {
            (Mark::Missing, 1..) => '+',
            (mark, _) => mark.sign(),
        }
    }

    /// True if it is on no other side.
    pub fn is_only_here(&self) -> bool {
        self.others().all(|(_, mark)| mark == Mark::Missing)
    }

    /// The other sides, and what it is there.
    pub fn others(&self) -> impl Iterator<Item = (u32, Mark)> + Clone {
        let marks = (0..).zip(self.marks.iter().copied());
        marks.filter(|&(side, _)| side != self.side)
    }

    /// The name under which its content lies on the first side where it is at another path.
    pub fn moved(&self) -> Option<u32> {
        self.marks.iter().find_map(|mark| match mark {
            Mark::Moved(to) => Some(*to),
            _ => None,
        })
    }

    /// Why it could not be answered.
    pub fn reason(&self) -> Option<&'static str> {
        self.marks.iter().find_map(|mark| match mark {
            Mark::Unanswered(Some(unseen)) => Some(unseen.words()),
            Mark::Unanswered(None) => {
                Some("may be the same file as on the other side, seen through another mount")
            }
            _ => None,
        })
    }
}

/// The folders of a side.
fn folders_of(tree: &Tree, side: u32) -> Range<u32> {
    match tree.roots()[side as usize].place {
        RootPlace::Folder(folder) => tree.below(folder),
        RootPlace::File(name) => {
            let folder = tree.folder_of(name);
            folder..folder + 1
        }
        RootPlace::Nothing => 0..0,
    }
}

/// Makes the lines of one side.
pub struct OfSide<'m, 'a, 't> {
    pub marks: &'m Marks<'a, 't>,
    pub side: u32,
}

impl OfSide<'_, '_, '_> {
    /// All entries, by folder.
    pub fn entries(&self) -> Vec<Vec<ComparedEntry>> {
        let folders = folders_of(self.marks.tree, self.side);
        folders.map(|folder| self.in_folder(folder)).collect()
    }

    /// Adds the entries as lines, but for those that lines of sides before tell. A folder of which all is only here is
    /// one line.
    pub fn push_all(&self, entries: Vec<Vec<ComparedEntry>>, lines: &mut Vec<ComparedEntry>) {
        let tree = self.marks.tree;
        let folders = folders_of(tree, self.side);
        let only_here = self.only_here(&folders, &entries);
        let mut entries = entries.into_iter();
        let mut folder = folders.start;
        while folder < folders.end {
            if only_here[(folder - folders.start) as usize] {
                let end = tree.below(folder).end;
                let (files, bytes) = self.files_in(folder..end);
                lines.push(self.line(EntryPlace::Folder(folder, files, bytes), |_| Mark::Missing));
                let below = (end - folder) as usize;
                entries.by_ref().take(below).for_each(drop);
                folder = end;
                continue;
            }
            let of_folder = entries.next().unwrap_or_default().into_iter();
            lines.extend(of_folder.filter(|line| !self.is_told_before(line)));
            folder += 1;
        }
    }

    /// For each folder whether all below it is only here.
    fn only_here(&self, folders: &Range<u32>, own: &[Vec<ComparedEntry>]) -> Vec<bool> {
        let tree = self.marks.tree;
        let all = |lines: &Vec<ComparedEntry>| lines.iter().all(ComparedEntry::is_only_here);
        let mut only_here: Vec<bool> = own.iter().map(all).collect();
        for folder in folders.clone().rev() {
            let at = |folder: u32| (folder - folders.start) as usize;
            let has_filtered = tree.others_in(folder).any(|entry| match entry.kind {
                EntryKind::Unseen(unseen) => unseen.is_asked_for(),
                _ => false,
            });
            let is_listed = matches!(tree.roots()[self.side as usize].place, RootPlace::Folder(_));
            only_here[at(folder)] &= !has_filtered && is_listed;
            if let Some(parent) = tree.parent(folder) {
                only_here[at(parent)] &= only_here[at(folder)];
            }
        }
        only_here
    }

    /// The files in these folders and their bytes. As in the totals of a side, a file with several names counts once,
    /// and names of empty files count each.
    fn files_in(&self, folders: Range<u32>) -> (u64, u64) {
        let tree = self.marks.tree;
        let mut seen = HashSet::new();
        let (mut files, mut bytes) = (0, 0_u64);
        for name in folders.flat_map(|folder| tree.names_in(folder)) {
            let file = tree.file_of(name);
            let size = tree.size(file);
            if size == 0 || seen.insert(file) {
                files += 1;
                bytes = bytes.saturating_add(size);
            }
        }
        (files, bytes)
    }

    fn in_folder(&self, folder: u32) -> Vec<ComparedEntry> {
        let (tree, marks) = (self.marks.tree, self.marks);
        let mut lines = Vec::new();
        if tree.is_empty_folder(folder) {
            lines.push(self.line(EntryPlace::EmptyFolder(folder), |side| {
                marks.of_empty_folder(folder, side)
            }));
        }
        for name in tree.names_in(folder) {
            lines.push(self.line(EntryPlace::Name(name), |side| marks.of_name(name, side)));
        }
        for at in tree.other_numbers_in(folder) {
            let other = tree.other(at);
            let line = match other.kind {
                EntryKind::Unseen(unseen) if unseen.is_asked_for() => continue,
                EntryKind::Unseen(unseen) => {
                    self.line(EntryPlace::Other(at), |_| Mark::Unanswered(Some(*unseen)))
                }
                _ => self.line(EntryPlace::Other(at), |side| marks.of_other(&other, side)),
            };
            lines.push(line);
        }
        lines
    }

    fn line(&self, place: EntryPlace, mark: impl Fn(u32) -> Mark) -> ComparedEntry {
        let sides = 0..self.marks.tree.roots().len() as u32;
        let marks = sides.map(|side| {
            if side == self.side {
                Mark::Same
            } else {
                mark(side)
            }
        });
        ComparedEntry {
            side: self.side,
            place,
            marks: marks.collect(),
        }
    }

    /// True if a line of a side before says the same.
    fn is_told_before(&self, line: &ComparedEntry) -> bool {
        (0..self.side).any(|before| match line.marks[before as usize] {
            Mark::Same => true,
            // Both sides have something at this path that the other one has nowhere.
            Mark::Changed => self.is_changed_there(line, before),
            Mark::Moved(to) => match (self.marks.of_name(to, self.side), line.place) {
                (Mark::Moved(back), EntryPlace::Name(name)) => back == name,
                _ => false,
            },
            Mark::Missing | Mark::Unanswered(_) => false,
        })
    }

    fn is_changed_there(&self, line: &ComparedEntry, before: u32) -> bool {
        let tree = self.marks.tree;
        let (folder, name) = match line.place {
            EntryPlace::Name(name) => (tree.folder_of(name), tree.name(name)),
            EntryPlace::Other(at) => (tree.other(at).folder, tree.other(at).name),
            EntryPlace::EmptyFolder(folder) | EntryPlace::Folder(folder, ..) => {
                match tree.parent(folder) {
                    Some(parent) => (parent, tree.folder_name(folder)),
                    None => return false,
                }
            }
        };
        self.marks.is_changed_at(folder, name, before, self.side)
    }
}
