//! Paths of folders: written out, measured, compared.

use std::cmp::Ordering;

use super::{ByParts, DirId, DirTable};

impl DirTable {
    /// Writes the folder's path and a trailing slash (nothing for the unnamed current folder)
    /// into `path`, so that a file's name can be put right behind it.
    pub fn path(&self, dir: DirId, path: &mut Vec<u8>) {
        self.path_of(dir, b"", path);
    }

    /// The same with the name of something in the folder behind it. What is empty gets as much room as is
    /// needed, no more.
    pub fn path_of(&self, dir: DirId, name: &[u8], path: &mut Vec<u8>) {
        let mut end: usize = self.upwards(dir).map(|dir| self.written(dir)).sum();
        path.clear();
        path.reserve_exact(end + name.len());
        path.resize(end, b'/');
        path.extend_from_slice(name);
        for dir in self.upwards(dir) {
            let name = self.name(dir);
            let start = end - self.written(dir);
            path[start..start + name.len()].copy_from_slice(name);
            end = start;
        }
    }

    /// Slashes in the folder's path as [`DirTable::path`] writes it.
    pub fn depth(&self, dir: DirId) -> usize {
        let slashes = |dir| match self.parent(dir) {
            Some(_) => 1,
            None => {
                let name = self.name(dir);
                let within = name.iter().filter(|&&b| b == b'/').count();
                within + self.written(dir) - name.len()
            }
        };
        self.upwards(dir).map(slashes).sum()
    }

    /// Compares two folders' paths as [`DirTable::path`] writes them, [part by part](ByParts).
    pub fn compare(&self, a: DirId, b: DirId) -> Ordering {
        self.compare_names((a, b""), (b, b""))
    }

    /// Compares the paths of two names in folders as [`DirTable::path_of`] writes them, [part by part](ByParts); most
    /// need not be written out for that.
    pub fn compare_names(&self, (a, name): (DirId, &[u8]), (b, other): (DirId, &[u8])) -> Ordering {
        if a == b {
            return name.cmp(other);
        }
        let levels = || [a, b].map(|dir| self.upwards(dir).count());
        // Mostly, both have as many levels.
        let met = last_apart(self.upwards(a).zip(self.upwards(b))).or_else(|| {
            let [of_a, of_b] = levels();
            let above_a = self.upwards(a).skip(of_a.saturating_sub(of_b));
            let above_b = self.upwards(b).skip(of_b.saturating_sub(of_a));
            last_apart(above_a.zip(above_b))
        });
        let by_name = match met {
            Some(Some((x, y))) => self.name(x).cmp(self.name(y)),
            // One of them holds the other.
            Some(None) => {
                let next = |dir, above| {
                    let below = self.upwards(dir).take_while(move |&at| at != above);
                    let next = below.last().into_iter();
                    next.flat_map(|dir| self.name(dir).iter().chain(b"\0"))
                };
                if self.holds(a, b) {
                    name.iter().cmp(next(b, a))
                } else {
                    next(a, b).cmp(other)
                }
            }
            None => Ordering::Equal,
        };
        by_name.then_with(|| {
            let paths = [(a, name), (b, other)].map(|(dir, name)| {
                let mut path = Vec::new();
                self.path_of(dir, name, &mut path);
                path
            });
            ByParts(&paths[0]).cmp(&ByParts(&paths[1]))
        })
    }

    /// The folder, the one that holds it, and so on up to a root.
    fn upwards(&self, dir: DirId) -> impl Iterator<Item = DirId> {
        std::iter::successors(Some(dir), |&dir| self.parent(dir))
    }

    /// Bytes that the folder adds to a path, with the slash behind its name. Only a root can have no name, or
    /// one that ends with a slash.
    fn written(&self, dir: DirId) -> usize {
        let name = self.name(dir);
        let slash = !name.is_empty() && name.last() != Some(&b'/');
        name.len() + usize::from(slash)
    }
}

/// The last pair of different folders before a pair of one folder, if there is such a pair.
fn last_apart(pairs: impl Iterator<Item = (DirId, DirId)>) -> Option<Option<(DirId, DirId)>> {
    let mut apart = None;
    for (x, y) in pairs {
        if x == y {
            return Some(apart);
        }
        apart = Some((x, y));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::FolderPlace;

    fn path_of(dirs: &DirTable, dir: DirId) -> Vec<u8> {
        let mut path = b"whatever was there".to_vec();
        dirs.path(dir, &mut path);
        path
    }

    #[test]
    fn paths_are_rebuilt_with_the_root_as_given() {
        let mut dirs = DirTable::default();
        for (i, (given, expected)) in [
            (&b""[..], &b"sub/"[..]),
            (b".", b"./sub/"),
            (b"a", b"a/sub/"),
            (b"a/", b"a/sub/"),
            (b"/", b"/sub/"),
        ]
        .into_iter()
        .enumerate()
        {
            let root = dirs.add_root(given, 0, (1, 1));
            let sub = dirs
                .add(FolderPlace::Below(root, b"sub"), (2, i as u64), 0)
                .expect("new");
            assert_eq!(path_of(&dirs, sub), expected, "{given:?}");
        }
    }

    #[test]
    fn folders_compare_as_their_paths_do() {
        let mut dirs = DirTable::default();
        let mut all = Vec::new();
        for given in [&b""[..], b"a", b"a/", b"/", b"/a", b"/a/b", b"a.b"] {
            let root = all.len();
            all.push(dirs.add_root(given, 0, (1, root as u64)));
            // Names that are the beginning of others, and bytes on both sides of a slash.
            for name in [&b"a"[..], b"a.b", b"a0", b"ab", b"b", b"\xff", b"-"] {
                for at in root..all.len().min(root + 4) {
                    let ino = all.len() as u64;
                    all.push(
                        dirs.add(FolderPlace::Below(all[at], name), (2, ino), 0)
                            .expect("new"),
                    );
                }
            }
            // A folder in the place of another.
            let ino = all.len() as u64;
            all.push(
                dirs.add(FolderPlace::Below(all[root], b"a"), (2, ino), 0)
                    .expect("new"),
            );
        }
        for &a in &all {
            let path = path_of(&dirs, a);
            let slashes = path.iter().filter(|&&b| b == b'/').count();
            assert_eq!(dirs.depth(a), slashes, "{}", path.escape_ascii());
            for &b in &all {
                let other = path_of(&dirs, b);
                let (x, y) = (path.escape_ascii(), other.escape_ascii());
                let expected = ByParts(&path).cmp(&ByParts(&other));
                assert_eq!(dirs.compare(a, b), expected, "{x} {y}");
                for (name, beside) in [("a", "a"), ("b", "a."), ("aa", "-"), (".", "0")] {
                    let [path, other] = [(&path, name), (&other, beside)]
                        .map(|(path, name)| [path, name.as_bytes()].concat());
                    let compared = dirs.compare_names((a, name.as_bytes()), (b, beside.as_bytes()));
                    let expected = ByParts(&path).cmp(&ByParts(&other));
                    assert_eq!(compared, expected, "{x}{name} {y}{beside}");
                }
            }
        }
    }
}
