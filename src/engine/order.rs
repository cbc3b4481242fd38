//! The order of names in a file, of files in a set, and of sets in a report: total orders that do not depend on the
//! order of discovery.
//!
//! Names are in the order of [`Preference`], then of their paths, part by part. A file is ranked by the best of its
//! names, a set by the place and the path of its first file.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use crate::file::{CopyMarks, DirId, DirTable, FileIndex, FileTable, NumberMap, Preference, burst};

/// A name and the folder that it lies in.
pub type PlacedName<'c> = (DirId, &'c [u8]);

/// Compares two names by their places and paths.
pub fn compare(dirs: &DirTable, a: &PlacedName<'_>, b: &PlacedName<'_>) -> Ordering {
    let by_place = if a.0 == b.0 {
        Ordering::Equal
    } else {
        place(dirs, a.0).cmp(&place(dirs, b.0))
    };
    by_place.then_with(|| dirs.compare_names(*a, *b))
}

/// Whether a folder lies in a trash, and its place among the given paths.
fn place(dirs: &DirTable, dir: DirId) -> (bool, u32) {
    (dirs.is_in_trash(dir), dirs.given(dir))
}

/// The names to show: the best one of each file.
pub struct BestNames<'c> {
    file_table: &'c FileTable,
    /// Only few files have several names.
    of_several: NumberMap<FileIndex, PlacedName<'c>>,
}

impl<'c> BestNames<'c> {
    /// Those of the files of one set.
    pub fn of_set(files: &[FileIndex], file_table: &'c FileTable, dirs: &'c DirTable) -> Self {
        let mut of_several = NumberMap::default();
        let has_several = |file: &FileIndex| file_table.has_further_names(*file);
        if files.iter().any(has_several) {
            let marks = marks_of(files, file_table);
            for &file in files.iter().filter(|file| has_several(file)) {
                let rank = |name: &PlacedName<'_>| preference(file, name, &marks, file_table, dirs);
                let best = file_table.names(file).min_by(|a, b| {
                    let by_preference = rank(a).cmp(&rank(b));
                    by_preference.then_with(|| dirs.compare_names(*a, *b))
                });
                of_several.extend(best.map(|best| (file, best)));
            }
        }
        Self {
            file_table,
            of_several,
        }
    }

    /// The best of a file's names.
    pub fn of(&self, file: FileIndex) -> PlacedName<'c> {
        let best = self.of_several.get(&file).copied();
        best.unwrap_or_else(|| (self.file_table.dir(file), self.file_table.first_name(file)))
    }
}

/// The marks of copies among the names of the files of one set.
fn marks_of(files: &[FileIndex], file_table: &FileTable) -> CopyMarks {
    if files.iter().any(|&file| file_table.has_further_names(file)) {
        let names = || files.iter().flat_map(|&file| file_table.names(file));
        CopyMarks::among(|| names().map(|(_, name)| name))
    } else {
        CopyMarks::among(|| files.iter().map(|&file| file_table.first_name(file)))
    }
}

fn preference(
    file: FileIndex,
    name: &PlacedName<'_>,
    marks: &CopyMarks,
    file_table: &FileTable,
    dirs: &DirTable,
) -> Preference {
    let (in_trash, given) = place(dirs, name.0);
    Preference {
        in_trash,
        given,
        marks: marks.on(name.1),
        mtime_ns: file_table.times(file).0,
        ..Preference::default()
    }
}

/// The order of sets. The path of the first file breaks ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetOrder {
    /// Sets that free most first, then those of the longest files.
    #[default]
    Reclaimable,
    /// Sets of the longest files first.
    Size,
    /// Sets of the most files first.
    Count,
    /// By the path of the first file.
    Path,
}

impl SetOrder {
    /// The sort key; the first set has the least key.
    pub fn key(self, set: &SetFacts) -> impl Ord + use<> {
        let &SetFacts {
            reclaimable,
            size,
            replicas,
        } = set;
        Reverse(match self {
            Self::Reclaimable => [reclaimable, size],
            Self::Size => [size, reclaimable],
            Self::Count => [replicas, reclaimable],
            Self::Path => [0, 0],
        })
    }
}

/// The properties by which sets are sorted.
#[derive(Clone, Copy, Debug)]
pub struct SetFacts {
    /// Bytes that are freed.
    pub reclaimable: u64,
    /// Length of each file.
    pub size: u64,
    /// Number of replicas.
    pub replicas: u64,
}

/// Sorts the files of a set: the best candidate to keep comes first.
pub fn sort(
    files: &mut [FileIndex],
    is_managed: impl Fn(FileIndex) -> bool,
    file_table: &FileTable,
    dirs: &DirTable,
) {
    let names = BestNames::of_set(files, file_table, dirs);
    let marks = marks_of(files, file_table);
    let preferred = files.iter().map(|&file| {
        let preference = Preference {
            is_managed: is_managed(file),
            ..preference(file, &names.of(file), &marks, file_table, dirs)
        };
        (preference, file, ())
    });
    let sorted = sorted(preferred.collect(), &names, dirs);
    for (file, (next, ())) in files.iter_mut().zip(sorted) {
        *file = next;
    }
}

/// Sorts sets by their key; ties are broken by the place and the path of their first files.
pub fn sort_sets<'f, T, B: Ord>(
    sets: Vec<T>,
    better: impl Fn(&T) -> B,
    files: impl Fn(&T) -> &'f [FileIndex],
    file_table: &FileTable,
    dirs: &DirTable,
) -> Vec<T> {
    let first = |set: &T| files(set)[0];
    let several = sets
        .iter()
        .filter(|&set| file_table.has_further_names(first(set)));
    let several = several.map(|set| {
        let names = BestNames::of_set(files(set), file_table, dirs);
        (first(set), names.of(first(set)))
    });
    let names = BestNames {
        file_table,
        of_several: several.collect(),
    };
    // The keys are computed once: most of the facts about a file are not in the processor's caches.
    let keyed = sets.into_iter().map(|set| (better(&set), first(&set), set));
    let sorted = sorted(keyed.collect(), &names, dirs);
    sorted.map(|(_, set)| set).collect()
}

/// Moves the sets of photos of one burst behind the first of them. `first` is the first file of a set.
pub fn put_bursts_together<T>(
    sets: Vec<T>,
    first: impl Fn(&T) -> FileIndex,
    file_table: &FileTable,
) -> Vec<T> {
    let mut places: HashMap<(DirId, &[u8]), usize> = HashMap::new();
    let placed = sets.into_iter().enumerate().map(|(own, set)| {
        let file = first(&set);
        let burst = burst(file_table.first_name(file));
        let burst = burst.map(|burst| (file_table.dir(file), burst));
        let place = burst.map(|burst| *places.entry(burst).or_insert(own));
        (place.unwrap_or(own), set)
    });
    let mut placed: Vec<(usize, T)> = placed.collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, set)| set).collect()
}

/// Number of names that are compared by their paths. For more names, each folder gets a rank first.
const FEW: usize = 8;

/// Sorts by a key, then by the place and the path of the best name of a file.
fn sorted<K: Ord, T>(
    keyed: Vec<(K, FileIndex, T)>,
    names: &BestNames<'_>,
    dirs: &DirTable,
) -> impl Iterator<Item = (FileIndex, T)> {
    let folders = keyed.iter().map(|&(_, file, _)| names.of(file).0);
    let ranks = (keyed.len() > FEW).then(|| Ranks::new(folders, dirs));
    let rank = |file| match &ranks {
        Some(ranks) => ranks.of(names.of(file).0),
        None => 0,
    };
    // Only something that was moved during the scan has the path of another file.
    let identity = |file| {
        let fingerprint = names.file_table.fingerprint(file);
        (fingerprint.dev, fingerprint.ino)
    };
    let ranked = keyed
        .into_iter()
        .map(|(key, file, it)| (key, rank(file), file, it));
    let mut sorted: Vec<_> = ranked.collect();
    sorted.sort_by(|(a_key, a_rank, a, _), (b_key, b_rank, b, _)| {
        let by_path = || match &ranks {
            Some(ranks) => ranks.compare(*a_rank, *b_rank, || (names.of(*a), names.of(*b))),
            None => compare(dirs, &names.of(*a), &names.of(*b)),
        };
        let by_key = a_key.cmp(b_key).then_with(by_path);
        by_key.then_with(|| identity(*a).cmp(&identity(*b)))
    });
    sorted.into_iter().map(|(_, _, file, it)| (file, it))
}

/// The ranks of some folders in their order, so that most paths are compared once and not for each file.
struct Ranks<'c> {
    dirs: &'c DirTable,
    folders: Vec<DirId>,
    ranks: Vec<u32>,
    /// By rank: a folder that follows lies in it.
    holds: Vec<bool>,
}

impl<'c> Ranks<'c> {
    fn new(folders: impl Iterator<Item = DirId>, dirs: &'c DirTable) -> Self {
        let mut folders: Vec<DirId> = folders.collect();
        folders.sort_unstable();
        folders.dedup();
        let mut places: Vec<((bool, u32), DirId)> =
            folders.iter().map(|&dir| (place(dirs, dir), dir)).collect();
        places.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| dirs.compare(a.1, b.1)));
        let mut ranks = Self {
            dirs,
            ranks: vec![0; folders.len()],
            folders,
            holds: Vec::new(),
        };
        let (mut last, mut path) = (((false, 0), Vec::new()), Vec::new());
        for (place, dir) in places {
            dirs.path(dir, &mut path);
            // A folder that was moved during the scan may have the path of another one.
            if ranks.holds.is_empty() || last.0 != place || last.1 != path {
                if let Some(holds) = ranks.holds.last_mut() {
                    *holds = path.starts_with(&last.1);
                }
                ranks.holds.push(false);
            }
            last.0 = place;
            std::mem::swap(&mut last.1, &mut path);
            let at = ranks.index(dir);
            ranks.ranks[at] = ranks.holds.len() as u32 - 1;
        }
        ranks
    }

    fn index(&self, dir: DirId) -> usize {
        self.folders.partition_point(|&folder| folder < dir)
    }

    fn of(&self, dir: DirId) -> u32 {
        self.ranks[self.index(dir)]
    }

    /// Compares as [`compare`]. Mostly the ranks of the folders are enough.
    fn compare(
        &self,
        x: u32,
        y: u32,
        names: impl FnOnce() -> (PlacedName<'c>, PlacedName<'c>),
    ) -> Ordering {
        // The next part of the other path may come before the name.
        if x != y && !self.holds[x.min(y) as usize] {
            return x.cmp(&y);
        }
        let (a, b) = names();
        if x == y {
            a.1.cmp(b.1)
        } else {
            compare(self.dirs, &a, &b)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file::{FolderPlace, FoundFile};

    /// Names of which one is the beginning of another, some with marks.
    const NAMES: [&str; 8] = ["a", "a (1)", "a copy", "ab", "b", "b-1 (2)", "-", "c"];

    /// Files in folders that are given by the folder above and a name, each file by its folder, a name and a time. The
    /// last two roots are given files, in a folder and in one of its folders.
    fn tables(folders: &[(usize, usize)], files: &[(usize, usize, i64)]) -> (DirTable, FileTable) {
        let mut dirs = DirTable::default();
        let mut all = vec![
            dirs.add_root(b"b/b", 0, (1, 1)),
            dirs.add_root(b"a", 1, (1, 2)),
            dirs.add_unlisted(b"b/", 3, (1, 3)),
            dirs.add_unlisted(b"b/a/", 4, (1, 4)),
        ];
        dirs.mark_given_file(4);
        dirs.mark_given_file(3);
        for (&(above, name), ino) in folders.iter().zip(5..) {
            let above = [0, 1, 4, 5, 6, 7, 8, 9][above % 8];
            let above = all.get(above).unwrap_or(&all[1]);
            let added = dirs.add(
                FolderPlace::Below(*above, NAMES[name].as_bytes()),
                (1, ino),
                0,
            );
            all.extend(added);
        }
        let mut file_table = FileTable::default();
        let volume = file_table.volume_number(1);
        for (&(folder, name, mtime_ns), ino) in files.iter().zip(1000..) {
            let name = NAMES[name].as_bytes();
            let found = FoundFile {
                ino,
                size: 1,
                mtime_ns,
                ctime_ns: 0,
                blocks: 8,
                links: 1,
                name_len: name.len() as u16,
                via_link: false,
                mounted: false,
            };
            file_table.push(&found, name, all[folder % all.len()], volume);
        }
        (dirs, file_table)
    }

    proptest! {
        #[test]
        fn files_are_in_the_order_of_preference_and_sets_in_that_of_their_first_files(
            folders in prop::collection::vec((0_usize..20, 0..NAMES.len()), 0..20),
            files in prop::collection::vec((0_usize..20, 0..NAMES.len(), 0..2_i64), 1..4 * FEW),
        ) {
            let (dirs, file_table) = tables(&folders, &files);
            let all: Vec<FileIndex> = (0..files.len() as u32).map(FileIndex).rev().collect();
            let marks = CopyMarks::among(|| all.iter().map(|&file| file_table.first_name(file)));
            let place = |file: FileIndex| {
                let (dir, name) = (file_table.dir(file), file_table.first_name(file));
                let mut path = Vec::new();
                dirs.path_of(dir, name, &mut path);
                // Part by part.
                path.iter_mut().filter(|byte| **byte == b'/').for_each(|byte| *byte = 0);
                (dirs.root(dir).min(3), path)
            };
            let key = |&file: &FileIndex| {
                let (given, path) = place(file);
                let marks = marks.on(file_table.first_name(file));
                (given, marks, file_table.times(file).0, path, file_table.ino(file))
            };
            let mut sorted = all.clone();
            let mut expected = all;
            sort(&mut sorted, |_| false, &file_table, &dirs);
            expected.sort_by_key(key);
            prop_assert_eq!(&sorted, &expected);

            let better = |set: &[FileIndex; 1]| Reverse(set[0].0 % 3);
            let mut expected: Vec<[FileIndex; 1]> = sorted.into_iter().map(|file| [file]).collect();
            let sets = expected.clone();
            let shared: Vec<[FileIndex; 1]> = (0..files.len() as u32).map(|n| [FileIndex(n)]).collect();
            let files = |set: &[FileIndex; 1]| &shared[set[0].0 as usize][..];
            let sets = sort_sets(sets, better, files, &file_table, &dirs);
            expected.sort_by_key(|set| (better(set), place(set[0]), file_table.ino(set[0])));
            prop_assert_eq!(sets, expected);
        }
    }
}
