//! Puts a tree together from what was found in any order.

use std::collections::HashMap;
use std::ops::Range;

use super::{
    Class, Disks, EntryKind, Files, Folders, Grouped, Metadata, Others, Root, RootPlace, Starts,
    Tree, Unseen,
};

/// The parts of a tree. Folders are numbered in the order in which they were met.
#[derive(Debug, Default)]
pub struct Draft<'a> {
    /// The places that were given; [`Draft::build`] says what they are.
    pub roots: Vec<Root>,
    /// The roots that could not be seen as a whole.
    pub root_gaps: Vec<(u32, Unseen)>,
    /// For each folder the one that holds it, its root, and its name. Two folders of one name in one folder are one.
    pub folders: Vec<(Option<u32>, u32, &'a [u8])>,
    /// Folders that were not listed: only files in them were given.
    pub unlisted: Vec<u32>,
    /// Trash folders below the roots.
    pub trash: Vec<u32>,
    /// The files.
    pub files: Vec<DraftFile>,
    /// Names of files: folder, name, file.
    pub names: Vec<(u32, &'a [u8], u32)>,
    /// Other entries: folder, name, kind.
    pub others: Vec<(u32, Box<[u8]>, EntryKind)>,
    /// By number of volume.
    pub disks: Vec<Disks>,
    /// By file, where it was asked for.
    pub metadata: Option<HashMap<u32, Metadata>>,
}

/// No number: a file without a name.
const NONE: u32 = u32::MAX;

/// A file as it was found.
#[derive(Clone, Copy, Debug)]
pub struct DraftFile {
    /// Length, bytes.
    pub size: u64,
    /// The class of its content. Sets have any numbers here.
    pub class: Class,
    /// Its volume.
    pub volume: u16,
    /// Names, inside and outside the roots.
    pub links: u32,
    /// It may be one with another file of its set.
    pub unidentified: bool,
}

impl Draft<'_> {
    /// Numbers everything in its order.
    pub fn build(mut self) -> Tree {
        let (mut folders, numbers) = self.number_folders();
        folders.trash = places(
            &folders.ends,
            self.trash.iter().map(|&f| numbers[f as usize]),
        );
        let mut roots = std::mem::take(&mut self.roots);
        for (&number, &(parent, root, _)) in numbers.iter().zip(&self.folders) {
            if parent.is_none()
                && let Some(root) = roots.get_mut(root as usize)
            {
                root.place = RootPlace::Folder(number);
            }
        }
        let mut unlisted: Vec<u32> = self.unlisted.iter().map(|&f| numbers[f as usize]).collect();
        unlisted.sort_unstable();
        self.names
            .iter_mut()
            .for_each(|name| name.0 = numbers[name.0 as usize]);
        self.names.sort_unstable();
        // One name cannot lead to two files: one of them was there before the other.
        for twice in self.names.windows(2) {
            if (twice[0].0, twice[0].1) == (twice[1].0, twice[1].1) {
                for &(_, _, file) in twice {
                    self.files[file as usize].class = Class::Unanswered(Unseen::Changed);
                }
            }
        }
        let (files, renumbered, sets) = self.number_files();
        let mut tree = Tree {
            root_gaps: std::mem::take(&mut self.root_gaps),
            name_places: Starts::of(folders.parents.len(), self.names.iter().map(|name| name.0)),
            files,
            disks: std::mem::take(&mut self.disks),
            sets,
            metadata: self.number_metadata(&renumbered),
            ..Tree::default()
        };
        for &(folder, name, file) in &self.names {
            if unlisted.binary_search(&folder).is_ok() {
                let root = &mut roots[folders.roots[folder as usize] as usize];
                root.place = RootPlace::File(tree.name_files.len() as u32);
            }
            tree.names.push(name);
            tree.name_files.push(renumbered[file as usize]);
        }
        tree.others = self.sort_others(&numbers, folders.parents.len());
        (tree.roots, tree.folders) = (roots, folders);
        tree.root_gaps.sort_unstable();
        tree.root_gaps.dedup();
        tree
    }

    /// Puts folders in preorder; also returns the new number of each.
    fn number_folders(&self) -> (Folders, Vec<u32>) {
        let mut by_parent: Vec<u32> = (0..self.folders.len() as u32).collect();
        let key = |&folder: &u32| {
            let (parent, root, name) = self.folders[folder as usize];
            (parent, root, name, folder)
        };
        by_parent.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        let parent_of = |folder: &u32| self.folders[*folder as usize].0;
        let children = |parent: Option<u32>| {
            let start = by_parent.partition_point(|folder| parent_of(folder) < parent);
            let count = by_parent[start..].partition_point(|folder| parent_of(folder) == parent);
            &by_parent[start..start + count]
        };
        let same_name = |a: &u32, b: &u32| key(a).1 == key(b).1 && key(a).2 == key(b).2;
        let mut numbers = vec![0; self.folders.len()];
        let mut folders = Folders::default();
        // Each is one folder, which may have been met several times, and the number of the one that holds it.
        let mut waiting: Vec<(Vec<u32>, Option<u32>)> = Vec::new();
        for same in children(None).chunk_by(same_name).rev() {
            waiting.push((same.to_vec(), None));
        }
        while let Some((same, parent)) = waiting.pop() {
            let number = folders.parents.len() as u32;
            let (_, root, name) = self.folders[same[0] as usize];
            folders.parents.push(parent.unwrap_or(number));
            folders.roots.push(root);
            folders.names.push(name);
            folders.ends.push(number + 1);
            let mut below: Vec<u32> = Vec::new();
            for &folder in &same {
                numbers[folder as usize] = number;
                below.extend_from_slice(children(Some(folder)));
            }
            if same.len() > 1 {
                below.sort_unstable_by(|a, b| (key(a).2, key(a).3).cmp(&(key(b).2, key(b).3)));
            }
            for same in below.chunk_by(same_name).rev() {
                waiting.push((same.to_vec(), Some(number)));
            }
        }
        for folder in (0..folders.parents.len()).rev() {
            let (parent, end) = (folders.parents[folder] as usize, folders.ends[folder]);
            folders.ends[parent] = folders.ends[parent].max(end);
        }
        (folders, numbers)
    }

    /// Numbers files by their first names, and sets by their first files. Files without a name are left out.
    fn number_files(&self) -> (Files, Vec<u32>, u32) {
        let mut renumbered = vec![NONE; self.files.len()];
        let mut order: Vec<u32> = Vec::new();
        for &(_, _, file) in &self.names {
            if renumbered[file as usize] == NONE {
                renumbered[file as usize] = order.len() as u32;
                order.push(file);
            }
        }
        let mut members = HashMap::new();
        for &file in &order {
            if let Class::Set(set) = self.files[file as usize].class {
                *members.entry(set).or_insert(0_u32) += 1;
            }
        }
        let (mut sets, mut set_numbers) = (0, HashMap::new());
        let mut files = Files::default();
        for &file in &order {
            let file = &self.files[file as usize];
            let class = match file.class {
                // The others went away.
                Class::Set(set) if members[&set] < 2 => Class::Alone,
                Class::Set(set) => Class::Set(*set_numbers.entry(set).or_insert_with(|| {
                    sets += 1;
                    sets - 1
                })),
                class => class,
            };
            files.sizes.push(file.size);
            files.classes.push(class);
            files.volumes.push(file.volume);
            files.links.push(file.links);
            files.unidentified.push(file.unidentified);
        }
        let numbered = (0..).zip(&self.names);
        let by_file = numbered.map(|(name, &(_, _, file))| (renumbered[file as usize], name));
        files.names = Grouped::of(order.len(), by_file);
        (files, renumbered, sets)
    }

    fn number_metadata(&mut self, renumbered: &[u32]) -> Option<HashMap<u32, Metadata>> {
        let named = self.metadata.take()?.into_iter();
        let named = named.map(|(file, metadata)| (renumbered[file as usize], metadata));
        Some(named.filter(|&(file, _)| file != NONE).collect())
    }

    fn sort_others(&mut self, numbers: &[u32], folders: usize) -> Others {
        let mut others = std::mem::take(&mut self.others);
        others
            .iter_mut()
            .for_each(|other| other.0 = numbers[other.0 as usize]);
        others.sort_unstable();
        others.dedup();
        let mut sorted = Others {
            places: Starts::of(folders, others.iter().map(|other| other.0)),
            ..Others::default()
        };
        for (_, name, kind) in others {
            sorted.names.push(&name);
            sorted.kinds.push(kind);
        }
        sorted
    }
}

/// The ranges of these folders, each with all folders below it.
fn places(ends: &[u32], folders: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut folders: Vec<u32> = folders.collect();
    folders.sort_unstable();
    let mut places: Vec<Range<u32>> = Vec::new();
    for folder in folders {
        // A folder stands before those in it.
        if places.last().is_none_or(|place| place.end <= folder) {
            places.push(folder..ends[folder as usize]);
        }
    }
    places
}
