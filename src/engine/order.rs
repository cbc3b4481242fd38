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
type Place = (bool, u32, usize, DirId);

fn place(dirs: &DirTable, dir: DirId) -> Place {
    (dirs.is_in_trash(dir), dirs.root(dir), dirs.depth(dir), dir)
}

/// Compares folders. At one depth, no path is the beginning of another, so paths decide before names do.
fn by_place(dirs: &DirTable, a: &Place, b: &Place) -> Ordering {
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

/// Sorts the files of a set: the best candidate to keep comes first.
pub fn sort(files: &mut [FileIndex], file_table: &FileTable, dirs: &DirTable) {
    if files.len() < 2 {
        return;
    }
    let best = Best::new(files, file_table, dirs);
    let ranks = Ranks::new(files.iter().map(|&file| best.folder(file)), dirs);
    let mut ranked: Vec<(u32, FileIndex)> = files
        .iter()
        .map(|&file| (ranks.of(best.folder(file)), file))
        .collect();
    let identity = |file| {
        let fingerprint = file_table.fingerprint(file);
        (fingerprint.dev, fingerprint.ino)
    };
    ranked.sort_unstable_by(|&(x, a), &(y, b)| {
        let by_name = || best.bare(a).cmp(best.bare(b));
        // Only something that was moved during the scan has the path of another file.
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
    sets.sort_by(|a, b| {
        let by_first = || {
            let key = |set| {
                let file = first(set);
                (ranks.of(best.folder(file)), best.bare(file))
            };
            key(a).cmp(&key(b))
        };
        better(a).cmp(&better(b)).then_with(by_first)
    });
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
        let mut places: Vec<Place> = folders.iter().map(|&dir| place(dirs, dir)).collect();
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
