//! Files that moved with their folder, which people are shown as one line.

use std::collections::HashMap;

use crate::compare::{ComparedEntry, EntryPlace, Sum};

use super::Shown;

/// A folder of a side, and where its files lie on the other one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenamedFolder {
    pub side: u32,
    pub from: Vec<u8>,
    pub to: Vec<u8>,
}

/// All folders of which several files moved between two sides: one file alone says more by its own name.
pub fn all<'l>(
    shown: &Shown<'_>,
    lines: impl Iterator<Item = &'l ComparedEntry>,
) -> HashMap<RenamedFolder, Option<Sum>> {
    let tree = shown.comparison.tree();
    let mut folders: HashMap<RenamedFolder, Vec<u32>> = HashMap::new();
    for line in lines {
        if let (Some(folder), EntryPlace::Name(name)) = (of(shown, line), line.place) {
            folders.entry(folder).or_default().push(tree.file_of(name));
        }
    }
    folders.retain(|_, names| names.len() > 1);
    let folders = folders.into_iter().map(|(folder, mut files)| {
        files.sort_unstable();
        files.dedup();
        let bytes = files.iter().map(|&file| tree.size(file));
        let sum = Sum {
            count: files.len() as u64,
            bytes: bytes.fold(0, u64::saturating_add),
        };
        (folder, Some(sum))
    });
    folders.collect()
}

/// The folder that a file moved with: the paths without the names at their ends that are the same.
pub fn of(shown: &Shown<'_>, line: &ComparedEntry) -> Option<RenamedFolder> {
    // What else is said of a file needs its line.
    if !shown.has_two_sides() || !shown.comparison.differing(line).is_empty() {
        return None;
    }
    let (from, to) = (
        shown.path(line),
        shown.comparison.tree().path_of_name(line.moved()?),
    );
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
