//! Live Photos: Apple gives the photo and the film one identifier, whatever their names are.

use std::collections::HashMap;

use crate::file::Role;
use crate::media::Identifier;

/// A file that has a group by its name: the key of the group, its role in it, and its identifier if it is known.
pub type Half = (u64, Role, Option<Identifier>);

/// The keys of the groups of the files of a folder, where identifiers are known.
///
/// A film leaves the group of its name if that is one of photos and films only, and all its photos have other
/// identifiers. A photo and a film that no group has both of belong together. `apart` gives the key of the group of a
/// film that left.
pub fn keys(files: &[Half], apart: impl Fn(Identifier) -> u64) -> Vec<u64> {
    let mut keys: Vec<u64> = files.iter().map(|(key, ..)| *key).collect();
    let mut by_name: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, key) in keys.iter().enumerate() {
        by_name.entry(*key).or_default().push(place);
    }
    for places in by_name.values() {
        let group = places.iter().map(|&place| files[place]);
        let photos = group.clone().filter(|(_, role, _)| *role == Role::Still);
        let photos: Vec<Option<Identifier>> = photos.map(|(.., identifier)| identifier).collect();
        let is_told = group.clone().all(|(_, role, identifier)| match role {
            Role::Still => identifier.is_some(),
            role => role == Role::Film,
        });
        for (&place, (_, role, identifier)) in places.iter().zip(group) {
            if let Some(film) = identifier
                && is_told
                && role == Role::Film
                && !photos.is_empty()
                && !photos.contains(&identifier)
            {
                keys[place] = apart(film);
            }
        }
    }
    join(files, &mut keys);
    keys
}

/// Joins the groups of photos and films with one identifier, unless a group has both.
fn join(files: &[Half], keys: &mut [u64]) {
    let mut halves: HashMap<Identifier, HashMap<u64, [bool; 2]>> = HashMap::new();
    for ((_, role, identifier), key) in files.iter().zip(keys.iter()) {
        if let Some(identifier) = identifier {
            let has = halves.entry(*identifier).or_default().entry(*key);
            let has = has.or_default();
            has[usize::from(*role == Role::Film)] = true;
        }
    }
    let mut joined: HashMap<u64, u64> = HashMap::new();
    for groups in halves.into_values() {
        let is_whole = groups.values().any(|has| *has == [true, true]);
        let has_both = (0..2).all(|half| groups.values().any(|has| has[half]));
        if is_whole || !has_both {
            continue;
        }
        let mut groups = groups.into_keys().map(|key| last(&joined, key));
        let first = groups.next();
        let others: Vec<u64> = groups.filter(|key| Some(*key) != first).collect();
        joined.extend(others.into_iter().zip(first.into_iter().cycle()));
    }
    keys.iter_mut().for_each(|key| *key = last(&joined, *key));
}

/// The key of the group that a group was joined to at last.
fn last(joined: &HashMap<u64, u64>, mut key: u64) -> u64 {
    while let Some(next) = joined.get(&key) {
        key = *next;
    }
    key
}
