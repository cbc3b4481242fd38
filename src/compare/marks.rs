//! What one entry is on another side.

use crate::tree::{Class, EntryKind, Other, Tree, Unseen};

use super::contents::{Contents, Held, Twins};

/// What an entry is on another side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The same at the same relative path.
    Same,
    /// The content lies at another path: that of this name.
    Moved(u32),
    /// Something else is at the same path, and the content is nowhere.
    Changed,
    /// It is not there.
    Missing,
    /// It could not be answered; the reason, or none if it may be the very same file.
    Unanswered(Option<Unseen>),
}

impl Mark {
    /// The sign for it.
    pub fn sign(self) -> char {
        match self {
            Self::Same => '=',
            Self::Moved(_) => '>',
            Self::Changed => '*',
            Self::Missing => '-',
            Self::Unanswered(_) => '!',
        }
    }

    /// True if what it stands for is on the other side.
    pub fn is_there(self) -> bool {
        matches!(self, Self::Same | Self::Moved(_))
    }
}

/// What lies at a path.
enum There<'t> {
    Nothing,
    Folder,
    Name(u32),
    Other(&'t EntryKind),
}

/// Answers what entries are on other sides.
pub struct Marks<'a, 't> {
    pub tree: &'t Tree,
    pub twins: &'a Twins<'t>,
    pub contents: &'a Contents<'t>,
}

impl Marks<'_, '_> {
    /// What the file of a name is on another side.
    pub fn of_name(&self, name: u32, side: u32) -> Mark {
        let tree = self.tree;
        let file = tree.file_of(name);
        let there = self.there(tree.folder_of(name), name_at_root(tree, name), side);
        if let Class::Unanswered(unseen) = tree.class(file) {
            return Mark::Unanswered(Some(unseen));
        }
        if tree.size(file) == 0 {
            return match there {
                There::Name(other) if tree.size(tree.file_of(other)) == 0 => {
                    if may_be_one(tree, file, tree.file_of(other)) {
                        Mark::Unanswered(None)
                    } else {
                        Mark::Same
                    }
                }
                There::Other(EntryKind::Unseen(unseen)) => Mark::Unanswered(Some(*unseen)),
                There::Nothing => Mark::Missing,
                _ => Mark::Changed,
            };
        }
        match (self.contents.held(file, side), there) {
            (Held::Yes(_) | Held::SameFile(_), There::Name(other))
                if is_equal(tree, file, tree.file_of(other))
                    && !tree.is_in_trash(tree.folder_of(other)) =>
            {
                Mark::Same
            }
            (Held::Yes(at) | Held::SameFile(at), _) => Mark::Moved(at),
            (Held::Unknown, _) => Mark::Unanswered(None),
            (Held::No, There::Nothing) => Mark::Missing,
            // In a trash on both sides.
            (Held::No, There::Name(other)) if is_equal(tree, file, tree.file_of(other)) => {
                Mark::Missing
            }
            (Held::No, There::Name(other)) => match tree.class(tree.file_of(other)) {
                Class::Unanswered(unseen)
                    if may_be_equal(tree, file, tree.file_of(other), unseen) =>
                {
                    Mark::Unanswered(Some(unseen))
                }
                _ => Mark::Changed,
            },
            (Held::No, There::Other(EntryKind::Unseen(unseen))) => Mark::Unanswered(Some(*unseen)),
            (Held::No, There::Folder | There::Other(_)) => Mark::Changed,
        }
    }

    /// What a link or a special file is on another side.
    pub fn of_other(&self, other: &Other<'_>, side: u32) -> Mark {
        match self.there(other.folder, Some(other.name), side) {
            There::Nothing => Mark::Missing,
            There::Other(kind) if kind == other.kind => Mark::Same,
            There::Other(EntryKind::Unseen(unseen)) => Mark::Unanswered(Some(*unseen)),
            _ => Mark::Changed,
        }
    }

    /// What an empty folder is on another side, where any folder will do.
    pub fn of_empty_folder(&self, folder: u32, side: u32) -> Mark {
        if self.twins.of(folder, side).is_some() {
            return Mark::Same;
        }
        let above = self.tree.parent(folder);
        let there = above.map(|above| self.there(above, Some(self.tree.folder_name(folder)), side));
        match there {
            None | Some(There::Nothing) => Mark::Missing,
            Some(There::Folder) => Mark::Same,
            Some(There::Other(EntryKind::Unseen(unseen))) => Mark::Unanswered(Some(*unseen)),
            Some(_) => Mark::Changed,
        }
    }

    /// The name on another side to which a mark of a name refers.
    pub fn counterpart(&self, name: u32, mark: Mark, side: u32) -> Option<u32> {
        match mark {
            Mark::Moved(to) => Some(to),
            Mark::Same => {
                let folder = self.tree.folder_of(name);
                match self.there(folder, name_at_root(self.tree, name), side) {
                    There::Name(other) => Some(other),
                    _ => None,
                }
            }
            Mark::Changed | Mark::Missing | Mark::Unanswered(_) => None,
        }
    }

    /// True if what another side has at a path is changed on this one.
    pub fn is_changed_at(&self, folder: u32, name: &[u8], other: u32, this: u32) -> bool {
        let name = (!self.tree.compares_files()).then_some(name);
        match self.there(folder, name, other) {
            There::Name(there) => self.of_name(there, this) == Mark::Changed,
            There::Other(kind) => !matches!(kind, EntryKind::Unseen(_)),
            There::Folder | There::Nothing => false,
        }
    }

    /// The file of this name in a folder.
    fn named(&self, folder: u32, name: &[u8]) -> Option<u32> {
        let names = self.tree.names_in(folder);
        let at = partition(names.start, names.end, |at| self.tree.name(at) < name);
        (at < names.end && self.tree.name(at) == name).then_some(at)
    }

    fn there(&self, folder: u32, name: Option<&[u8]>, side: u32) -> There<'_> {
        let tree = self.tree;
        let Some(folder) = self.twins.of(folder, side) else {
            return There::Nothing;
        };
        let Some(name) = name else {
            // Two files were given: their own names do not matter.
            return tree
                .names_in(folder)
                .next()
                .map_or(There::Nothing, There::Name);
        };
        if let Some(at) = self.named(folder, name) {
            return There::Name(at);
        }
        let others = tree.other_numbers_in(folder);
        let at = partition(others.start, others.end, |at| tree.other(at).name < name);
        if at < others.end && tree.other(at).name == name {
            return There::Other(tree.other(at).kind);
        }
        match self.twins.child(folder, name) {
            Some(_) => There::Folder,
            None => There::Nothing,
        }
    }
}

/// The name under which something is looked for on other sides; none for a file among files that were given.
fn name_at_root(tree: &Tree, name: u32) -> Option<&[u8]> {
    (!tree.compares_files()).then(|| tree.name(name))
}

fn is_equal(tree: &Tree, a: u32, b: u32) -> bool {
    a == b || matches!(tree.class(a), Class::Set(_)) && tree.class(a) == tree.class(b)
}

/// True if a file that was answered may be equal to one that was not. Whatever a catalog does not know well enough, a
/// file that could be equal to it is open, too, or has a match elsewhere.
fn may_be_equal(tree: &Tree, file: u32, other: u32, unseen: Unseen) -> bool {
    !unseen.is_of_catalog()
        || tree.size(file) == tree.size(other) && tree.class(file) != Class::Alone
}

/// True if two empty files may be one file.
fn may_be_one(tree: &Tree, a: u32, b: u32) -> bool {
    a != b && tree.is_unidentified(a) && tree.is_unidentified(b)
}

/// The first number of a range for which something does not hold, if it holds for none behind it.
fn partition(mut start: u32, mut end: u32, holds: impl Fn(u32) -> bool) -> u32 {
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}
