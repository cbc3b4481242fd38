//! Files that moved with their folder, which people are shown as one line.

use std::collections::{HashMap, HashSet};

use crate::compare::{ComparedEntry, EntryPlace, Mark, Sum};

use super::Shown;

/// A folder of a side, and where its files lie on the other one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenamedFolder {
    pub side: u32,
    pub from: Vec<u8>,
    pub to: Vec<u8>,
}

/// The files that moved with a folder.
#[derive(Default)]
pub struct Together {
    names: u64,
    files: HashSet<u32>,
    pub sum: Sum,
}

impl Together {
    /// One file alone says more by its own name.
    pub fn are_several(&self) -> bool {
        self.names > 1
    }
}

/// All folders of which files moved between two sides.
pub fn all<'l>(
    shown: &Shown<'_>,
    lines: impl Iterator<Item = &'l ComparedEntry>,
) -> HashMap<RenamedFolder, Together> {
    let tree = shown.comparison.tree();
    let mut folders: HashMap<RenamedFolder, Together> = HashMap::new();
    for line in lines {
        if let (Some(folder), EntryPlace::Name(name)) = (of(shown, line), line.place) {
            let together = folders.entry(folder).or_default();
            let file = tree.file_of(name);
            together.names += 1;
            if together.files.insert(file) {
                together.sum.count += 1;
                together.sum.bytes = together.sum.bytes.saturating_add(tree.size(file));
            }
        }
    }
    folders
}

/// The folder that a file moved with: the paths without the names at their ends that are the same.
pub fn of(shown: &Shown<'_>, line: &ComparedEntry) -> Option<RenamedFolder> {
    let moved = line.marks.iter().find_map(|mark| match mark {
        Mark::Moved(to) => Some(*to),
        _ => None,
    });
    // What else is said of a file needs its line.
    if !shown.has_two_sides() || !shown.comparison.differing(line).is_empty() {
        return None;
    }
    let (from, to) = (shown.path(line), shown.path_of_name(moved?));
    let (from, to) = apart(&from, &to)?;
    Some(RenamedFolder {
        side: line.side,
        from: from.to_vec(),
        to: to.to_vec(),
    })
}

/// Two paths without the names at their ends that are the same; `None` if the last ones are not.
fn apart<'p>(one: &'p [u8], other: &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    let last = |path: &'p [u8]| match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&path[..0], path),
    };
    let ((one_above, one_name), (other_above, other_name)) = (last(one), last(other));
    if one_name != other_name || one.is_empty() {
        return None;
    }
    apart(one_above, other_above).or(Some((one_above, other_above)))
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn the_folder_is_what_differs_of_two_paths() {
        for (one, other, folders) in [
            ("a/x", "b/x", Some(("a", "b"))),
            ("a/b/c/x", "a/B/c/x", Some(("a/b", "a/B"))),
            ("x", "b/x", Some(("", "b"))),
            ("b/a/x", "a/x", Some(("b", ""))),
            ("a/x", "b/y", None),
            ("x", "y", None),
        ] {
            let found = apart(one.as_bytes(), other.as_bytes());
            let folders =
                folders.map(|(one, other): (&str, &str)| (one.as_bytes(), other.as_bytes()));
            assert_eq!(found, folders, "{one} {other}");
        }
    }
}
