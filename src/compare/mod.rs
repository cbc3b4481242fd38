//! Is what is on one side also on the others? Verdicts about sides, from the classes of their files.
//!
//! It asks no disk: everything is in the [`Tree`]. A side is a root. Files are compared by content, wherever they lie;
//! what has no content (empty files, empty folders, symbolic links, special files) is compared by relative path.

mod contents;
mod lines;
mod marks;
mod totals;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::tree::{Class, Disks, EntryKind, Tree, Unseen};

use contents::{Contents, Twins};
use lines::OfSide;

pub use lines::{ComparedEntry, EntryPlace};
pub use marks::Mark;
pub use totals::{Side, Sum};

/// What is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Only the first side is asked about.
    pub one_way: bool,
    /// A whole disk may lie on the same physical disk as another side.
    pub same_disk: bool,
}

impl Question {
    /// The sides that are asked about, of this many.
    fn asked(self, sides: usize) -> Range<usize> {
        if self.one_way {
            0..sides.min(1)
        } else {
            0..sides
        }
    }
}

/// The answer to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparisonAnswer {
    /// Each regular file has a match on another side, which was read and would remain if its own side were deleted.
    /// All other entries are there, too.
    Yes,
    /// Something is on one side only.
    No,
    /// The answer is unknown: an entry was not seen, may be the same file as its match, or is on one disk with a side
    /// that is a whole file system.
    Unknown,
}

/// What keeps the question from being answered in full, or what somebody who deletes by the answer should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A side could not be seen as a whole.
    Side(u32, Unseen),
    /// No file of a side takes part.
    NoFiles(u32),
    /// So many files or places of a side have the sign `!`.
    Unanswered(u32, u64),
    /// Two sides lie on these disks.
    OneDisk(u32, u32, String),
    /// A side is a whole file system, and the disk of one of the two is not known.
    UnknownDisk(u32, u32),
    /// So many files of a side are on the others only as further names of the same files: one physical copy.
    OneCopy(u32, u64),
    /// So many entries have copies with other metadata.
    Metadata(u64),
}

/// Everything that is to be said about some sides.
#[derive(Debug)]
pub struct Comparison<'t> {
    tree: &'t Tree,
    question: Question,
    /// The sides, in the order of the roots.
    pub sides: Vec<Side>,
    /// What keeps the question from being answered in full.
    pub obstacles: Vec<Remark>,
    /// What does not change the answer.
    pub notes: Vec<Remark>,
    /// The entries, each once, also where they are the same on several sides.
    pub lines: Vec<ComparedEntry>,
    /// By name the metadata that its copies have otherwise.
    differing: HashMap<u32, Vec<&'static str>>,
}

impl<'t> Comparison<'t> {
    /// Compares the roots of a tree.
    pub fn new(tree: &'t Tree, question: Question) -> Self {
        let twins = Twins::new(tree);
        let contents = Contents::new(tree);
        let marks = marks::Marks {
            tree,
            twins: &twins,
            contents: &contents,
        };
        let (mut sides, mut lines) = (Vec::new(), Vec::new());
        for side in 0..tree.roots().len() {
            let of_side = OfSide {
                marks: &marks,
                side: side as u32,
            };
            let entries = of_side.entries();
            sides.push(totals::of(&marks, &entries));
            if question.asked(tree.roots().len()).contains(&side) {
                of_side.push_all(entries, &mut lines);
            }
        }
        let differing = totals::differing(&marks, &lines);
        let (mut obstacles, mut notes) = on_one_disk(tree, question);
        // Whatever else lies on the other sides, each match was read.
        let is_found = question.one_way && sides.first().is_some_and(Side::is_elsewhere);
        for &(side, unseen) in tree.root_gaps() {
            if unseen.is_asked_for() {
                continue;
            }
            if is_found && side > 0 && unseen.hides_only_itself() {
                notes.push(Remark::Side(side, unseen));
            } else {
                obstacles.push(Remark::Side(side, unseen));
            }
        }
        // What a catalog may have of the first side is open there, unless another side has it in a trash folder.
        let is_told = |first: &Side| first.unanswered == 0 && first.in_trash == 0;
        let is_told = question.one_way && sides.first().is_some_and(is_told);
        for (number, side) in (0..).zip(&sides) {
            if side.files.count == 0 {
                if is_found && number > 0 {
                    notes.push(Remark::NoFiles(number));
                } else {
                    obstacles.push(Remark::NoFiles(number));
                }
            }
            if side.unanswered > 0 {
                let is_seen = is_found && side.doubtful == 0;
                if number > 0 && (is_seen || is_told && side.of_catalogs == side.unanswered) {
                    notes.push(Remark::Unanswered(number, side.unanswered));
                } else {
                    obstacles.push(Remark::Unanswered(number, side.unanswered));
                }
            }
            if side.one_copy > 0 {
                notes.push(Remark::OneCopy(number, side.one_copy));
            }
        }
        if !differing.is_empty() {
            notes.push(Remark::Metadata(differing.len() as u64));
        }
        Self {
            tree,
            question,
            sides,
            obstacles,
            notes,
            lines,
            differing,
        }
    }

    /// The tree that was compared.
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// The path of a line, relative to its side; nothing for the side itself. A file that was given has its own name.
    pub fn path(&self, line: &ComparedEntry) -> Vec<u8> {
        let mut path = Vec::new();
        match line.place {
            EntryPlace::Name(name) => path = self.tree.path_of_name(name),
            EntryPlace::Other(at) => {
                let other = self.tree.other(at);
                let (folder, name) = (other.folder, other.name);
                self.tree.relative_path_of(folder, name, &mut path);
            }
            EntryPlace::EmptyFolder(folder) | EntryPlace::Folder(folder, ..) => {
                self.tree.relative_path(folder, &mut path);
            }
        }
        path
    }

    /// The metadata of a line's file that its copies on other sides have otherwise.
    pub fn differing(&self, line: &ComparedEntry) -> &[&'static str] {
        match line.place {
            EntryPlace::Name(name) => self.differing.get(&name).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// The side on which something is the reason that a line could not be answered.
    pub fn unanswered_on(&self, line: &ComparedEntry) -> Option<u32> {
        let tree = self.tree;
        let answers = |unseen: &Unseen| *unseen != Unseen::OtherUnanswered;
        let is_there = match line.place {
            EntryPlace::Name(name) => match tree.class(tree.file_of(name)) {
                Class::Unanswered(unseen) => Some(unseen),
                _ => None,
            },
            EntryPlace::Other(at) => match tree.other(at).kind {
                EntryKind::Unseen(unseen) => Some(*unseen),
                _ => None,
            },
            EntryPlace::EmptyFolder(_) | EntryPlace::Folder(..) => None,
        };
        match is_there {
            Some(unseen) => Some(line.side).filter(|_| answers(&unseen)),
            None => (0..).zip(&line.marks).find_map(|(side, mark)| match mark {
                Mark::Unanswered(Some(unseen)) => Some(side).filter(|_| answers(unseen)),
                _ => None,
            }),
        }
    }

    /// What was asked.
    pub fn question(&self) -> Question {
        self.question
    }

    /// The answer. It is [`ComparisonAnswer::Yes`] only if nothing was left open.
    pub fn answer(&self) -> ComparisonAnswer {
        let mut sides = self.sides[self.question.asked(self.sides.len())].iter();
        if !self.obstacles.is_empty() || self.sides.len() < 2 {
            ComparisonAnswer::Unknown
        } else if sides.any(|side| side.only.count > 0 || side.others_only > 0) {
            ComparisonAnswer::No
        } else {
            ComparisonAnswer::Yes
        }
    }
}

/// The disks of a side.
#[derive(Default)]
struct DisksOfSide {
    known: BTreeSet<String>,
    /// The disk of some of its files is not known.
    is_unknown: bool,
}

/// What keeps an answer from holding for whole disks, and what is worth a note.
fn on_one_disk(tree: &Tree, question: Question) -> (Vec<Remark>, Vec<Remark>) {
    let mut sides: Vec<DisksOfSide> = tree
        .roots()
        .iter()
        .map(|_| DisksOfSide::default())
        .collect();
    for name in 0..tree.name_count() {
        let side = &mut sides[tree.root_of(tree.folder_of(name)) as usize];
        match tree.disks_of(tree.file_of(name)) {
            Disks::Known(disks) => {
                for disk in disks {
                    if !side.known.contains(disk) {
                        side.known.insert(disk.clone());
                    }
                }
            }
            Disks::Unknown => side.is_unknown = true,
            Disks::Memory | Disks::Remote => {}
        }
    }
    let (mut obstacles, mut notes) = (Vec::new(), Vec::new());
    for (a, of_a) in (0_u32..).zip(&sides) {
        for (b, of_b) in (0_u32..).zip(&sides).skip(a as usize + 1) {
            let is_whole = |side: u32| tree.roots()[side as usize].is_mount_root;
            let asks_about_disk = (is_whole(a) || is_whole(b)) && !question.same_disk;
            let common: Vec<&str> = of_a
                .known
                .intersection(&of_b.known)
                .map(String::as_str)
                .collect();
            match common[..] {
                [] if asks_about_disk && (of_a.is_unknown || of_b.is_unknown) => {
                    obstacles.push(Remark::UnknownDisk(a, b));
                }
                [] => {}
                _ if asks_about_disk => obstacles.push(Remark::OneDisk(a, b, common.join(", "))),
                _ => notes.push(Remark::OneDisk(a, b, common.join(", "))),
            }
        }
    }
    (obstacles, notes)
}
