//! The names of the files of a plan, and the groups that they belong to.

use crate::action::keep::Named;
use crate::action::reason::Code;
use crate::action::ways::folder_entry::{bare, is_temporary};
use crate::file::{Preference, RowNumber};

/// One name of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedName {
    /// The path, and behind it the name as it was listed, unless the path ends in it.
    pub(super) text: Box<[u8]>,
    /// Where the path ends, and where the listed name begins.
    pub(super) bounds: [u32; 2],
    /// The given path that it lies below, counted from 0, if it is known.
    pub root: Option<u32>,
    /// The place of that path among the given ones, if all given files have one place.
    pub given: u32,
    /// Marks of a copy on the name, among the names of the set.
    pub marks: u8,
    /// The reason why it must not be touched.
    pub hold: Option<Code>,
    /// The user marked it to stay, against all rules.
    pub marked: bool,
    /// It lies in a trash that the user gave.
    pub in_trash: bool,
    /// It lies in a hidden folder, or in a folder that a program manages.
    pub managed: Option<RowNumber>,
    /// The files that it belongs together with.
    pub group: Option<Box<Group>>,
}

/// The group of a name: the files of its folder with the same stem, which have at least two roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// A hash of the folder and the stem.
    pub(super) key: u64,
    /// Number of its files. A group is preferred to others with fewer files.
    pub(super) richness: u32,
    /// The real path of its main file. Rules compare this file instead of each other file of the group, so that the
    /// sets of its files keep the same group.
    pub(super) main: Vec<u8>,
    /// The main file as it would be listed.
    pub(super) listed: Vec<u8>,
    /// Time of last modification of the main file, and number of its names.
    pub(super) facts: (i64, u32),
    /// The name is that of a sidecar.
    pub(super) is_sidecar: bool,
    /// A file may be put beside it.
    pub(super) lets_file_come: bool,
}

/// The preference for a name as one that stays, before any rule. The first is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Nothing speaks against it.
    Normal,
    /// It lies in a trash: it is lost when the trash is emptied.
    InTrash,
    /// A killed run left it behind: undo may remove it.
    Leftover,
}

impl Rank {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Normal, Self::InTrash, Self::Leftover];
}

impl PlannedName {
    /// A name with this real absolute path, as it was listed.
    pub fn new(path: &[u8], listed: &[u8]) -> Self {
        let (text, begin) = match path.strip_suffix(listed) {
            Some(before) => (path.into(), before.len()),
            None => ([path, listed].concat(), path.len()),
        };
        Self {
            text: text.into(),
            bounds: [path.len() as u32, begin as u32],
            ..Self::default()
        }
    }

    /// The real absolute path: no folder in it is a symbolic link.
    pub fn path(&self) -> &[u8] {
        &self.text[..self.bounds[0] as usize]
    }

    /// The name as it was listed.
    pub fn listed(&self) -> &[u8] {
        &self.text[self.bounds[1] as usize..]
    }

    /// The preference for it.
    pub fn rank(&self) -> Rank {
        if is_temporary(self.bare()) {
            Rank::Leftover
        } else if self.in_trash {
            Rank::InTrash
        } else {
            Rank::Normal
        }
    }

    /// A file of a richer group is preferred.
    pub(super) fn richness(&self) -> u32 {
        self.group.as_ref().map_or(1, |group| group.richness)
    }

    /// True if other files may go because it stays.
    pub fn is_relied_on(&self) -> bool {
        self.rank() == Rank::Normal || self.marked || self.hold == Some(Code::Reference)
    }

    /// The part behind the last slash.
    pub fn bare(&self) -> &[u8] {
        bare(self.path())
    }

    /// What rules compare, of a file that was modified at this time.
    pub(super) fn compared_by_rules(&self, mtime_ns: i64) -> Named<'_> {
        let group = self.group.as_deref();
        Named {
            path: group.map_or(self.path(), |group| &group.main),
            listed: group.map_or(self.listed(), |group| &group.listed),
            root: self.root,
            preference: Preference {
                in_trash: self.in_trash,
                is_managed: self.managed.is_some(),
                given: self.given,
                marks: self.marks,
                mtime_ns,
            },
        }
    }

    /// The bare name that rules compare.
    pub(super) fn compared(&self) -> &[u8] {
        bare(self.group.as_ref().map_or(self.path(), |group| &group.main))
    }
}
