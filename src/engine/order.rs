//! The order of names in a file, of files in a set, and of sets in a report: total orders that do not depend on the
//! order of discovery.
//!
//! A name comes before another if only the other one lies in a trash folder, then if its root was given first, then if
//! fewer folders lie above it, then by its path, byte by byte. A file is ranked by the best of its names, a set by its
//! first file.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::file::{DirId, DirTable, FileIndex, FileTable};

/// A name and the folder that it lies in.
pub type Name<'c> = (DirId, &'c [u8]);

/// The best of a file's names: the one to show.
pub fn best_name<'c>(file_table: &'c FileTable, dirs: &DirTable, file: FileIndex) -> Name<'c> {
    let first = (file_table.dir(file), file_table.first_name(file));
    if !file_table.has_further_names(file) {
        return first;
    }
    let order = |a: &Name<'_>, b: &Name<'_>| compare(dirs, a, b);
    file_table.names(file).min_by(order).unwrap_or(first)
}

/// Compares two names: the better one is the lesser one.
pub fn compare(dirs: &DirTable, a: &Name<'_>, b: &Name<'_>) -> Ordering {
    let by_folder = match a.0 == b.0 {
        true => Ordering::Equal,
        false => by_place(dirs, &place(dirs, a.0), &place(dirs, b.0)),
    };
    by_folder.then_with(|| a.1.cmp(b.1))
}

/// The sort key of a folder: whether it lies in a trash, root, depth, and the folder for its path.
type FolderKey = (bool, u32, usize, DirId);

fn place(dirs: &DirTable, dir: DirId) -> FolderKey {
    (dirs.is_in_trash(dir), dirs.root(dir), dirs.depth(dir), dir)
}

/// Compares folders. At one depth, no path is the beginning of another, so paths decide before names do.
fn by_place(dirs: &DirTable, a: &FolderKey, b: &FolderKey) -> Ordering {
    let by_depth = (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2));
    by_depth.then_with(|| dirs.compare(a.3, b.3))
}

/// The best names of some files. Only few files have several names, and only the best names of those are stored.
struct Best<'c> {
    file_table: &'c FileTable,
    of_several: HashMap<FileIndex, Name<'c>>,
}

impl<'c> Best<'c> {
    fn new(files: &[FileIndex], file_table: &'c FileTable, dirs: &DirTable) -> Self {
        let several = files
            .iter()
            .filter(|&&file| file_table.has_further_names(file));
        let best = several.map(|&file| (file, best_name(file_table, dirs, file)));
        Self {
            file_table,
            of_several: best.collect(),
        }
    }

    fn folder(&self, file: FileIndex) -> DirId {
        let best = self.of_several.get(&file);
        best.map_or_else(|| self.file_table.dir(file), |name| name.0)
    }

    fn bare(&self, file: FileIndex) -> &'c [u8] {
        let best = self.of_several.get(&file);
        best.map_or_else(|| self.file_table.first_name(file), |name| name.1)
    }
}

/// Number of files that are compared by their names. For more files, each folder gets a rank first.
const FEW: usize = 8;

/// Sorts the files of a set: the best candidate to keep comes first.
pub fn sort(files: &mut [FileIndex], file_table: &FileTable, dirs: &DirTable) {
    // Only something that was moved during the scan has the path of another file.
    let identity = |file| {
        let fingerprint = file_table.fingerprint(file);
        (fingerprint.dev, fingerprint.ino)
    };
    if files.len() <= FEW {
        let name = |file| best_name(file_table, dirs, file);
        return files.sort_unstable_by(|&a, &b| {
            let by_name = compare(dirs, &name(a), &name(b));
            by_name.then_with(|| identity(a).cmp(&identity(b)))
        });
    }
    let best = Best::new(files, file_table, dirs);
    let ranks = Ranks::new(files.iter().map(|&file| best.folder(file)), dirs);
    let mut ranked: Vec<(u32, FileIndex)> = files
        .iter()
        .map(|&file| (ranks.of(best.folder(file)), file))
        .collect();
    ranked.sort_unstable_by(|&(x, a), &(y, b)| {
        let by_name = || best.bare(a).cmp(best.bare(b));
        let by_identity = || identity(a).cmp(&identity(b));
        x.cmp(&y).then_with(by_name).then_with(by_identity)
    });
    for (file, (_, next)) in files.iter_mut().zip(ranked) {
        *file = next;
    }
}

/// Sorts sets by their key; ties are broken by their first files.
pub fn sort_sets<T, B: Ord>(
    sets: &mut [T],
    better: impl Fn(&T) -> B,
    first: impl Fn(&T) -> FileIndex,
    file_table: &FileTable,
    dirs: &DirTable,
) {
    let files: Vec<FileIndex> = sets.iter().map(&first).collect();
    let best = Best::new(&files, file_table, dirs);
    let ranks = Ranks::new(files.iter().map(|&file| best.folder(file)), dirs);
    drop(files);
    let first = |set: &T| {
        let file = first(set);
        (ranks.of(best.folder(file)), best.bare(file))
    };
    // The keys are computed once: most of the facts about a file are not in the processor's caches.
    sets.sort_by_cached_key(&better);
    for tied in sets.chunk_by_mut(|a, b| better(a) == better(b)) {
        tied.sort_by(|a, b| first(a).cmp(&first(b)));
    }
}

/// The ranks of some folders in their order, so that each path is compared once and not for each file.
struct Ranks {
    folders: Vec<DirId>,
    ranks: Vec<u32>,
}

impl Ranks {
    fn new(folders: impl Iterator<Item = DirId>, dirs: &DirTable) -> Self {
        let mut folders: Vec<DirId> = folders.collect();
        folders.sort_unstable();
        folders.dedup();
        let mut places: Vec<FolderKey> = folders.iter().map(|&dir| place(dirs, dir)).collect();
        places.sort_unstable_by(|a, b| by_place(dirs, a, b));
        let mut ranks = Self {
            ranks: vec![0; folders.len()],
            folders,
        };
        let mut rank = 0;
        for (nth, place) in places.iter().enumerate() {
            // A folder that was moved during the scan may have the path of another one.
            rank += u32::from(nth > 0 && by_place(dirs, &places[nth - 1], place).is_ne());
            let at = ranks.index(place.3);
            ranks.ranks[at] = rank;
        }
        ranks
    }

    fn index(&self, dir: DirId) -> usize {
        self.folders.partition_point(|&folder| folder < dir)
    }

    fn of(&self, dir: DirId) -> u32 {
        self.ranks[self.index(dir)]
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;
    use crate::file::FoundFile;

    /// Files in folders that are given by the folder above and a name, each file by its folder and a name.
    fn tables(folders: &[(usize, u8)], files: &[(usize, u8)]) -> (DirTable, FileTable) {
        let mut dirs = DirTable::default();
        let mut all = vec![
            dirs.add_root(b"b/b", 0, (1, 1)),
            dirs.add_root(b"a", 1, (1, 2)),
        ];
        for (&(above, name), ino) in folders.iter().zip(3..) {
            let above = all[above % all.len()];
            let added = dirs.add_beside(above, &[name], (1, ino), 0);
            all.extend(added);
        }
        let mut file_table = FileTable::default();
        let volume = file_table.volume_number(1);
        for (&(folder, name), ino) in files.iter().zip(1000..) {
            let found = FoundFile {
                ino,
                size: 1,
                mtime_ns: 0,
                ctime_ns: 0,
                blocks: 8,
                links: 1,
                name_len: 1,
                via_link: false,
                mounted: false,
            };
            file_table.push(&found, &[name], all[folder % all.len()], volume);
        }
        (dirs, file_table)
    }

    proptest! {
        #[test]
        fn files_and_sets_are_in_the_order_of_their_roots_depths_and_paths(
            folders in prop::collection::vec((0_usize..20, b'a'..b'e'), 0..20),
            files in prop::collection::vec((0_usize..20, b'a'..b'e'), 1..3 * FEW),
        ) {
            let (dirs, file_table) = tables(&folders, &files);
            let key = |&file: &FileIndex| {
                let (dir, name) = (file_table.dir(file), file_table.first_name(file));
                let mut path = Vec::new();
                dirs.path_of(dir, name, &mut path);
                (dirs.root(dir), dirs.depth(dir), path, file_table.ino(file))
            };
            let mut sorted: Vec<FileIndex> = (0..files.len() as u32).map(FileIndex).rev().collect();
            let mut expected = sorted.clone();
            sort(&mut sorted, &file_table, &dirs);
            expected.sort_by_key(key);
            prop_assert_eq!(&sorted, &expected);

            let better = |file: &FileIndex| Reverse(file.0 % 3);
            let without_inode = |file: &FileIndex| {
                let (root, depth, path, _) = key(file);
                (better(file), root, depth, path)
            };
            let mut sets = sorted.clone();
            sort_sets(&mut sets, better, |&file| file, &file_table, &dirs);
            sorted.sort_by_key(without_inode);
            prop_assert_eq!(sets, sorted);
        }
    }
}
