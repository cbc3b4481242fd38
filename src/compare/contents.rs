//! Which contents lie on which side, and which folders have one relative path on several sides.

use crate::tree::{Class, Grouped, RootPlace, Tree};

/// What is known of a content on a side, outside of trash folders.
#[derive(Clone, Copy, Debug)]
struct OnSide {
    /// Its first name there.
    first: u32,
    /// Files of it that can be told from all others.
    sure: u32,
    /// Files of which this is not known.
    unsure: u32,
    /// One of its names is in a trash folder there.
    in_trash: bool,
}

const NOWHERE: OnSide = OnSide {
    first: u32::MAX,
    sure: 0,
    unsure: 0,
    in_trash: false,
};

/// Whether a side holds the content of a file of another one, in a way that outlives that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It does, under this name.
    Yes(u32),
    /// Only as a further name of the same file.
    SameFile(u32),
    /// It does not.
    No,
    /// It has such a file, which may be the very same one.
    Unknown,
}

/// For each set and side what lies there.
pub struct Contents<'t> {
    tree: &'t Tree,
    sides: usize,
    of_sets: Vec<OnSide>,
}

impl<'t> Contents<'t> {
    pub fn new(tree: &'t Tree) -> Self {
        let sides = tree.roots().len();
        let mut of_sets = vec![NOWHERE; tree.set_count() as usize * sides];
        for file in 0..tree.file_count() {
            let Class::Set(set) = tree.class(file) else {
                continue;
            };
            let mut last = None;
            for &name in tree.names_of(file) {
                let folder = tree.folder_of(name);
                let side = tree.root_of(folder);
                let on_side = &mut of_sets[set as usize * sides + side as usize];
                if tree.is_in_trash(folder) {
                    on_side.in_trash = true;
                    continue;
                }
                on_side.first = on_side.first.min(name);
                // Names of a file come side by side.
                if last.replace(side) != Some(side) {
                    if tree.is_unidentified(file) {
                        on_side.unsure += 1;
                    } else {
                        on_side.sure += 1;
                    }
                }
            }
        }
        Self {
            tree,
            sides,
            of_sets,
        }
    }

    /// The first name of a file on a side.
    pub fn name_on(&self, file: u32, side: u32) -> Option<u32> {
        names_on(self.tree, file, side).next()
    }

    /// True if a trash folder of another side has the content of a file.
    pub fn is_in_trash_of_others(&self, file: u32, side: u32) -> bool {
        let Class::Set(set) = self.tree.class(file) else {
            return false;
        };
        let of_set = &self.of_sets[set as usize * self.sides..][..self.sides];
        let mut others = (0..).zip(of_set).filter(|&(other, _)| other != side);
        others.any(|(_, there)| there.in_trash)
    }

    /// Whether a side holds the content of a file that was answered. Files in a trash do not count: they are lost when
    /// it is emptied.
    pub fn held(&self, file: u32, side: u32) -> Held {
        let own = kept_name_on(self.tree, file, side);
        let Class::Set(set) = self.tree.class(file) else {
            return own.map_or(Held::No, Held::SameFile);
        };
        let there = &self.of_sets[set as usize * self.sides + side as usize];
        let (mut sure, mut unsure) = (there.sure, there.unsure);
        let is_unsure = self.tree.is_unidentified(file);
        match (own.is_some(), is_unsure) {
            (true, true) => unsure -= 1,
            (true, false) => sure -= 1,
            (false, _) => {}
        }
        if sure > 0 || unsure > 0 && !is_unsure {
            Held::Yes(own.unwrap_or(there.first))
        } else if let Some(own) = own {
            Held::SameFile(own)
        } else if unsure > 0 {
            Held::Unknown
        } else {
            Held::No
        }
    }
}

/// The first name of a file on a side outside of trash folders.
fn kept_name_on(tree: &Tree, file: u32, side: u32) -> Option<u32> {
    names_on(tree, file, side).find(|&name| !tree.is_in_trash(tree.folder_of(name)))
}

fn names_on(tree: &Tree, file: u32, side: u32) -> impl Iterator<Item = u32> {
    // Names stand in the order of their sides.
    let names = tree.names_of(file);
    let side_of = |name: u32| tree.root_of(tree.folder_of(name));
    let first = names.partition_point(|&name| side_of(name) < side);
    let names = names[first..].iter().copied();
    names.take_while(move |&name| side_of(name) == side)
}

/// No such folder.
const NONE: u32 = u32::MAX;

/// For each folder the one of the same relative path on each side.
pub struct Twins<'t> {
    tree: &'t Tree,
    sides: usize,
    twins: Vec<u32>,
    /// The folders in each folder, by name.
    children: Grouped,
}

impl<'t> Twins<'t> {
    pub fn new(tree: &'t Tree) -> Self {
        let (sides, count) = (tree.roots().len(), tree.folder_count());
        let pairs = (0..count).filter_map(|folder| Some((tree.parent(folder)?, folder)));
        let mut twins = Self {
            tree,
            sides,
            twins: vec![NONE; count as usize * sides],
            children: Grouped::of(count as usize, pairs),
        };
        // A folder stands behind the one that holds it.
        for folder in 0..count {
            for side in 0..sides as u32 {
                let twin = match tree.parent(folder) {
                    None => root(tree, side),
                    Some(parent) => twins
                        .of(parent, side)
                        .and_then(|above| twins.child(above, tree.folder_name(folder))),
                };
                twins.twins[folder as usize * sides + side as usize] = twin.unwrap_or(NONE);
            }
        }
        twins
    }

    /// The folder on a side that has the relative path of this one.
    pub fn of(&self, folder: u32, side: u32) -> Option<u32> {
        let twin = self.twins[folder as usize * self.sides + side as usize];
        (twin != NONE).then_some(twin)
    }

    /// The folder of this name right below another one.
    pub fn child(&self, above: u32, name: &[u8]) -> Option<u32> {
        let children = self.children.get(above);
        let at = children.binary_search_by(|&child| self.tree.folder_name(child).cmp(name));
        at.ok().map(|at| children[at])
    }
}

fn root(tree: &Tree, side: u32) -> Option<u32> {
    match tree.roots()[side as usize].place {
        RootPlace::Folder(folder) => Some(folder),
        RootPlace::File(name) => Some(tree.folder_of(name)),
        RootPlace::Nothing => None,
    }
}
