//! Folders that have another name on another side.

use std::collections::HashMap;

use crate::tree::Tree;

/// For each folder and each other side the folder there that most of its files moved to.
#[derive(Default)]
pub struct Renamed {
    folders: HashMap<(u32, u32), u32>,
}

impl Renamed {
    /// Looks where the files of each folder are that kept their names. `moved` says where a file is on a side, if it is
    /// at another path there.
    pub fn new(tree: &Tree, moved: impl Fn(u32, u32) -> Option<u32>) -> Self {
        let mut votes: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
        for name in 0..tree.name_count() {
            let folder = tree.folder_of(name);
            let own = tree.root_of(folder);
            for side in (0..tree.roots().len() as u32).filter(|&side| side != own) {
                let Some(to) = moved(name, side) else {
                    continue;
                };
                // Every folder on the way up that the file moved with gets a vote.
                let (mut is_same, mut here, mut there) =
                    (tree.name(to) == tree.name(name), folder, tree.folder_of(to));
                while is_same {
                    vote(&mut votes, (here, side), there);
                    // The other way round, another copy may come first.
                    vote(&mut votes, (there, own), here);
                    is_same = tree.folder_name(here) == tree.folder_name(there);
                    match (tree.parent(here), tree.parent(there)) {
                        (Some(above), Some(above_there)) => (here, there) = (above, above_there),
                        _ => break,
                    }
                }
            }
        }
        let folders = votes.into_iter();
        Self {
            folders: folders.map(|(of, (there, _))| (of, there)).collect(),
        }
    }

    /// The folder on a side that has another name there.
    pub fn of(&self, folder: u32, side: u32) -> Option<u32> {
        self.folders.get(&(folder, side)).copied()
    }
}

/// Finds the majority, if there is one.
fn vote(votes: &mut HashMap<(u32, u32), (u32, u32)>, of: (u32, u32), there: u32) {
    let (first, count) = votes.entry(of).or_insert((there, 0));
    match (*first == there, *count) {
        (true, _) => *count += 1,
        (false, 0) => (*first, *count) = (there, 1),
        (false, _) => *count -= 1,
    }
}
