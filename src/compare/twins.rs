//! Folders of one relative path on several sides.

use crate::tree::{Grouped, RootPlace, Tree};

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
