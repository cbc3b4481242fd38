//! Photos whose sidecar files are on the other sides, but not beside a copy of the photo.

use std::collections::HashSet;

use crate::file::PhotoGroup;
use crate::tree::{Class, Tree};

/// The files of a folder that belong together by their names: their contents, and a name.
struct Group {
    side: u32,
    photos: Vec<u64>,
    sidecars: Vec<u64>,
    name: u32,
}

/// For each side: number of photos of which another side has a copy, and of their sidecars as well, but in no group that
/// has both; and the name of one.
pub fn torn(tree: &Tree) -> Vec<(u64, u32)> {
    let groups = groups(tree);
    let keys = groups
        .iter()
        .flat_map(|group| group.photos.iter().chain(&group.sidecars));
    let keys: HashSet<u64> = keys.copied().collect();
    let names = (0..tree.name_count()).filter(|&name| !tree.is_in_trash(tree.folder_of(name)));
    let places = names.map(|name| {
        (
            tree.root_of(tree.folder_of(name)),
            key(tree, tree.file_of(name)),
        )
    });
    let places: HashSet<(u32, u64)> = if groups.is_empty() {
        HashSet::new()
    } else {
        places.filter(|(_, key)| keys.contains(key)).collect()
    };
    let mut pairs: HashSet<(u32, u64, u64)> = HashSet::new();
    for group in &groups {
        let pair = |photo| {
            group
                .sidecars
                .iter()
                .map(move |&sidecar| (group.side, photo, sidecar))
        };
        pairs.extend(group.photos.iter().flat_map(|&photo| pair(photo)));
    }
    let sides = tree.roots().len() as u32;
    let mut torn = vec![(0, 0); sides as usize];
    for group in &groups {
        let others = || (0..sides).filter(|&side| side != group.side);
        let is_there = |key: u64| others().any(|side| places.contains(&(side, key)));
        let is_beside = |sidecar: u64| {
            let mut photos = group.photos.iter();
            photos.any(|&photo| others().any(|side| pairs.contains(&(side, photo, sidecar))))
        };
        let mut sidecars = group.sidecars.iter();
        // What is nowhere else is counted as only here.
        let is_torn = group.photos.iter().any(|&photo| is_there(photo))
            && sidecars.any(|&sidecar| is_there(sidecar) && !is_beside(sidecar));
        if is_torn {
            let (number, name) = &mut torn[group.side as usize];
            *name = if *number == 0 { group.name } else { *name };
            *number += 1;
        }
    }
    torn
}

/// All groups with a photo or a film and a sidecar, outside of trash folders.
fn groups(tree: &Tree) -> Vec<Group> {
    let mut groups = Vec::new();
    for folder in (0..tree.folder_count()).filter(|&folder| !tree.is_in_trash(folder)) {
        let names = tree.names_in(folder);
        let names = names.filter(|&name| tree.size(tree.file_of(name)) > 0);
        for group in PhotoGroup::among(names.map(|name| (tree.name(name), name))) {
            let keys = |names: &[u32]| {
                names
                    .iter()
                    .map(|&at| key(tree, tree.file_of(at)))
                    .collect()
            };
            groups.push(Group {
                side: tree.root_of(folder),
                photos: keys(&group.photos),
                sidecars: keys(&group.sidecars),
                name: group.photos[0],
            });
        }
    }
    groups
}

/// Files of equal content have one key.
fn key(tree: &Tree, file: u32) -> u64 {
    match tree.class(file) {
        Class::Set(set) => set.into(),
        _ => 1 << 32 | u64::from(file),
    }
}
