//! Which contents lie on which side.

use std::ops::Range;

use crate::tree::{Class, Tree};

/// What is known of a content on a side, outside of trash folders.
#[derive(Clone, Copy, Debug)]
struct OnSide {
    /// Its first name there.
    first: u32,
    /// Files of it that can be told from all others.
    sure: u32,
    /// Files of which this is not known.
    unsure: u32,
    /// The blocks in which all of them lie.
    blocks: Blocks,
}

/// Where files of one content lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocks {
    /// There is no file.
    Nowhere,
    /// All in the blocks of this file.
    Of(u32),
    /// In several places, as far as is known.
    Several,
}

const NOWHERE: OnSide = OnSide {
    first: u32::MAX,
    sure: 0,
    unsure: 0,
    blocks: Blocks::Nowhere,
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

/// How much a copy on another side is worth, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// It is a further name of the same file.
    SameFile,
    /// It lies in the same blocks.
    SameBlocks,
    /// It is a file of its own.
    OwnFile,
}

/// For each set and side what lies there.
pub struct Contents<'t> {
    tree: &'t Tree,
    sides: usize,
    of_sets: Vec<OnSide>,
    /// The set and the side of each file in a trash, in the order of sets.
    in_trash: Vec<(u32, u32)>,
}

impl<'t> Contents<'t> {
    pub fn new(tree: &'t Tree) -> Self {
        let sides = tree.roots().len();
        let mut of_sets = vec![NOWHERE; tree.set_count() as usize * sides];
        let mut in_trash = Vec::new();
        for file in 0..tree.file_count() {
            let Class::Set(set) = tree.class(file) else {
                continue;
            };
            let (mut last, mut last_in_trash) = (None, None);
            for &name in tree.names_of(file) {
                let folder = tree.folder_of(name);
                let side = tree.root_of(folder);
                if tree.is_in_trash(folder) {
                    if last_in_trash.replace(side) != Some(side) {
                        in_trash.push((set, side));
                    }
                    continue;
                }
                let on_side = &mut of_sets[set as usize * sides + side as usize];
                on_side.first = on_side.first.min(name);
                on_side.blocks = match (on_side.blocks, tree.same_blocks(file)) {
                    (Blocks::Nowhere, Some(blocks)) => Blocks::Of(blocks),
                    (Blocks::Of(known), Some(blocks)) if known == blocks => Blocks::Of(known),
                    _ => Blocks::Several,
                };
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
        in_trash.sort_unstable();
        Self {
            tree,
            sides,
            of_sets,
            in_trash,
        }
    }

    /// The number of files in a trash of this side whose content one of the asked sides has as well, and this side has
    /// nowhere else.
    pub fn in_trash(&self, side: u32, asked: &Range<usize>) -> u64 {
        let sets = self.in_trash.chunk_by(|(set, _), (next, _)| set == next);
        let counts = sets.map(|in_trash| {
            let is_in_trash =
                |side: usize| in_trash.iter().any(|&(_, other)| other as usize == side);
            let is_kept = |side: usize| {
                let there = &self.of_sets[in_trash[0].0 as usize * self.sides + side];
                there.sure > 0 || there.unsure > 0
            };
            let here = side as usize;
            let mut others = asked.clone().filter(|&other| other != here);
            if !is_kept(here) && others.any(|other| is_kept(other) || is_in_trash(other)) {
                in_trash.iter().filter(|&&(_, other)| other == side).count() as u64
            } else {
                0
            }
        });
        counts.sum()
    }

    /// The first name of a file on a side.
    pub fn name_on(&self, file: u32, side: u32) -> Option<u32> {
        names_on(self.tree, file, side).next()
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

    /// How much the copies on a side are worth for a file that is held there.
    pub fn worth(&self, file: u32, side: u32) -> Worth {
        if let Held::SameFile(_) = self.held(file, side) {
            return Worth::SameFile;
        }
        let (Class::Set(set), Some(blocks)) = (self.tree.class(file), self.tree.same_blocks(file))
        else {
            return Worth::OwnFile;
        };
        let there = &self.of_sets[set as usize * self.sides + side as usize];
        if there.blocks == Blocks::Of(blocks) {
            Worth::SameBlocks
        } else {
            Worth::OwnFile
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
