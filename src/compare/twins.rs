//! Folders of one relative path on several sides.

use crate::tree::{RootPlace, Tree};

/// No such folder.
const NONE: u32 = u32::MAX;

/// For each folder the one of the same relative path on each side.
pub struct Twins {
    sides: usize,
    folders: Vec<u32>,
}

impl Twins {
    pub fn new(tree: &Tree) -> Self {
        let sides = tree.roots().len();
        let mut folders = vec![NONE; tree.folder_count() as usize * sides];
        let root = |side: usize| match tree.roots()[side].place {
            RootPlace::Folder(folder) => Some(folder),
            RootPlace::File(name) => Some(tree.folder_of(name)),
            RootPlace::Nothing => None,
        };
        // A folder stands behind the one that holds it.
        for folder in 0..tree.folder_count() {
            for side in 0..sides {
                let twin = match tree.parent(folder) {
                    None => root(side),
                    Some(parent) => match folders[parent as usize * sides + side] {
                        NONE => None,
                        above => child(tree, above, tree.folder_name(folder)),
                    },
                };
                folders[folder as usize * sides + side] = twin.unwrap_or(NONE);
            }
        }
        Self { sides, folders }
    }

    /// The folder on a side that has the relative path of this one.
    pub fn of(&self, folder: u32, side: u32) -> Option<u32> {
        let twin = self.folders[folder as usize * self.sides + side as usize];
        (twin != NONE).then_some(twin)
    }
}

/// The folder of this name right below another one.
fn child(tree: &Tree, above: u32, name: &[u8]) -> Option<u32> {
    tree.children(above)
        .find(|&child| tree.folder_name(child) == name)
}
