//! Every folder met: parent and name, from which any path can be rebuilt.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use hashbrown::HashTable;

use super::managed::by_name;
use super::{ByParts, FolderId};

/// Number of a folder in the [`DirTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirId(pub u32);

const NO_PARENT: u32 = u32::MAX;

/// Folders in columns: about 30 bytes each, and their names in one arena.
#[derive(Debug, Default)]
pub struct DirTable {
    parents: Vec<u32>,
    roots: Vec<u32>,
    /// Which of `mounts` each folder was reached through.
    reached: Vec<u32>,
    inos: Vec<u64>,
    /// Name `i` ends where name `i + 1` starts.
    starts: Vec<u64>,
    names: Vec<u8>,
    by_inode: HashTable<u32>,
    /// Device and mount numbers, in order of first use: a run meets a handful.
    mounts: Vec<(u64, u64)>,
    /// Whether each folder is hidden or managed by a program, or lies in such a folder.
    managed: Vec<bool>,
    /// Trash folders: few runs meet more than a few.
    trash: HashSet<DirId>,
    /// True for the numbers of given paths that are files, as far as there are any.
    given_files: Vec<bool>,
    /// How paths are followed.
    path_rules: PathRules,
}

/// How paths are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathRules {
    /// Symbolic links below the roots are followed.
    pub follow: bool,
    /// A root that is another folder than when it was added is not opened.
    pub tied_roots: bool,
}

/// Where a folder is.
#[derive(Clone, Copy, Debug)]
pub enum FolderPlace<'a> {
    /// At the path by which the user named it: the root of this number.
    Root(&'a [u8], u32),
    /// Below a folder, under this name.
    Below(DirId, &'a [u8]),
}

impl DirTable {
    /// Opens folders by these rules from now on.
    pub fn open_by(&mut self, path_rules: PathRules) {
        self.path_rules = path_rules;
    }

    /// Adds a root folder under the path by which the user named it. Roots of equal identity may be added
    /// several times.
    pub fn add_root(&mut self, path: &[u8], root: u32, id: impl Into<FolderId>) -> DirId {
        self.push(NO_PARENT, path, root, id.into())
    }

    /// Adds a folder beside `known` others that were met with its identity.
    ///
    /// # Errors
    /// The folders with this identity, in order of their numbers, if they are not as many: for the caller to find out
    /// whether one of them is this folder. The number may have been given to another one, or the folder may have been
    /// moved.
    pub fn add(
        &mut self,
        place: FolderPlace<'_>,
        id: impl Into<FolderId>,
        known: usize,
    ) -> Result<DirId, Vec<DirId>> {
        let id = id.into();
        let folders = self.met(id);
        if folders.len() != known {
            return Err(folders);
        }
        Ok(match place {
            FolderPlace::Root(path, root) => self.add_root(path, root, id),
            FolderPlace::Below(parent, name) => self.push(parent.0, name, self.root(parent), id),
        })
    }

    /// The folders that were met with this identity, in order of their numbers.
    pub fn met(&self, id: impl Into<FolderId>) -> Vec<DirId> {
        let id = id.into();
        let known = self.by_inode.iter_hash(hash_of(id));
        let mut folders: Vec<DirId> = known
            .map(|&i| DirId(i))
            .filter(|&dir| self.id(dir) == id)
            .collect();
        folders.sort_unstable();
        folders
    }

    /// False for a folder that was [added](Self::add_unlisted) only because files in it were named one by one.
    pub fn is_listed(&self, dir: DirId) -> bool {
        self.met(self.id(dir)).contains(&dir)
    }

    /// Adds a folder that is not to be listed on this account (empty path: the current folder): files in it
    /// were named one by one.
    pub fn add_unlisted(&mut self, path: &[u8], root: u32, id: impl Into<FolderId>) -> DirId {
        self.append(NO_PARENT, path, root, id.into())
    }

    fn append(&mut self, parent: u32, name: &[u8], root: u32, id: FolderId) -> DirId {
        let dir = u32::try_from(self.parents.len()).expect("fewer than 2^32 folders");
        let reached = self.mount_number((id.dev, id.mount));
        self.parents.push(parent);
        self.roots.push(root);
        let is_in_managed = self.managed.get(parent as usize).copied();
        let is_managed = |above| above || by_name(name, true, false).is_some();
        self.managed.push(is_in_managed.is_some_and(is_managed));
        self.reached.push(reached);
        self.inos.push(id.ino);
        self.starts.push(self.names.len() as u64);
        self.names.extend_from_slice(name);
        DirId(dir)
    }

    fn mount_number(&mut self, mount: (u64, u64)) -> u32 {
        // Mostly the one met last.
        let at = self.mounts.iter().rposition(|&m| m == mount);
        let at = at.unwrap_or_else(|| {
            self.mounts.push(mount);
            self.mounts.len() - 1
        });
        u32::try_from(at).expect("fewer than 2^32 mounts")
    }

    fn push(&mut self, parent: u32, name: &[u8], root: u32, id: FolderId) -> DirId {
        let dir = self.append(parent, name, root, id);
        let (reached, inos, mounts) = (&self.reached, &self.inos, &self.mounts);
        let hash = |&i: &u32| {
            let (dev, mount) = mounts[reached[i as usize] as usize];
            let ino = inos[i as usize];
            hash_of(FolderId { dev, ino, mount })
        };
        self.by_inode.insert_unique(hash_of(id), dir.0, hash);
        dir
    }

    /// Folders in the table.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Number of the root below which the folder was found.
    pub fn root(&self, dir: DirId) -> u32 {
        self.roots[dir.0 as usize]
    }

    /// Records that a given path is a file.
    pub fn mark_given_file(&mut self, root: u32) {
        let root = root as usize;
        if self.given_files.len() <= root {
            self.given_files.resize(root + 1, false);
        }
        self.given_files[root] = true;
    }

    /// The place of its root among the given paths. A shell sorts `*.jpg`, so all given files have the place of the
    /// first one.
    pub fn given(&self, dir: DirId) -> u32 {
        let root = self.root(dir);
        match self.given_files.get(root as usize) {
            Some(true) => {
                let first = self.given_files.iter().position(|&is_file| is_file);
                first.map_or(root, |first| first as u32)
            }
            _ => root,
        }
    }

    /// The identity of the folder when it was found.
    pub fn id(&self, dir: DirId) -> FolderId {
        let (dev, mount) = self.mounts[self.reached[dir.0 as usize] as usize];
        let ino = self.inos[dir.0 as usize];
        FolderId { dev, ino, mount }
    }

    /// Device and inode of the folder.
    pub fn identity(&self, dir: DirId) -> (u64, u64) {
        let FolderId { dev, ino, .. } = self.id(dir);
        (dev, ino)
    }

    /// A number for the mount through which the folder was reached.
    pub fn mount(&self, dir: DirId) -> u64 {
        self.id(dir).mount
    }

    /// The folder that holds it; none of a root.
    pub fn parent(&self, dir: DirId) -> Option<DirId> {
        let parent = self.parents[dir.0 as usize];
        (parent != NO_PARENT).then_some(DirId(parent))
    }

    /// True if `above` is the folder itself or one that holds it.
    pub fn holds(&self, above: DirId, dir: DirId) -> bool {
        std::iter::successors(Some(dir), |&dir| self.parent(dir)).any(|dir| dir == above)
    }

    /// Records that a folder is a trash, or lies in one.
    pub fn mark_trash(&mut self, dir: DirId) {
        self.trash.insert(dir);
    }

    /// The folders that were marked as trash.
    pub fn trash(&self) -> impl Iterator<Item = DirId> {
        self.trash.iter().copied()
    }

    /// True if the folder lies in a trash, or is one.
    pub fn is_in_trash(&self, dir: DirId) -> bool {
        // Most runs meet none.
        !self.trash.is_empty()
            && std::iter::successors(Some(dir), |&dir| self.parent(dir))
                .any(|dir| self.trash.contains(&dir))
    }

    /// Records that a folder is managed by a program, before the folders in it are added.
    pub fn mark_managed(&mut self, dir: DirId) {
        self.managed[dir.0 as usize] = true;
    }

    /// True if the folder is hidden or managed by a program, or lies in such a folder.
    pub fn is_managed(&self, dir: DirId) -> bool {
        self.managed[dir.0 as usize]
    }

    /// The folder's own name; a root's is the whole path given for it.
    pub fn name(&self, dir: DirId) -> &[u8] {
        let i = dir.0 as usize;
        let start = self.starts[i] as usize;
        let end = self
            .starts
            .get(i + 1)
            .map_or(self.names.len(), |&end| end as usize);
        &self.names[start..end]
    }

    /// How paths are followed.
    pub(super) fn path_rules(&self) -> PathRules {
        self.path_rules
    }
}

fn hash_of(id: FolderId) -> u64 {
    mix(id.dev ^ id.mount.rotate_left(32), id.ino)
}

/// Mixes two numbers into a table hash (splitmix64's finalizer).
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.rotate_left(32) ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The folder table as walkers, readers and the pipeline share it: locked once a folder, never
/// once a file.
#[derive(Debug, Default)]
pub struct SharedDirs(RwLock<DirTable>);

impl SharedDirs {
    /// Looks something up.
    pub fn read(&self) -> RwLockReadGuard<'_, DirTable> {
        self.0
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds something.
    pub fn write(&self) -> RwLockWriteGuard<'_, DirTable> {
        self.0
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

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
        // Without such a pair, one of them holds the other, or their roots differ.
        if let Some(Some((x, y))) = met
            && let order @ (Ordering::Less | Ordering::Greater) = self.name(x).cmp(self.name(y))
        {
            return order;
        }
        let paths = [(a, name), (b, other)].map(|(dir, name)| {
            let mut path = Vec::new();
            self.path_of(dir, name, &mut path);
            path
        });
        ByParts(&paths[0]).cmp(&ByParts(&paths[1]))
    }

    /// The folder, the one that holds it, and so on up to a root.
    pub(super) fn upwards(&self, dir: DirId) -> impl Iterator<Item = DirId> {
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

    #[test]
    fn one_inode_is_one_folder() {
        let mut dirs = DirTable::default();
        let root = dirs.add_root(b"r", 7, (1, 1));
        let sub = dirs
            .add(FolderPlace::Below(root, b"sub"), (1, 2), 0)
            .expect("new");
        let before = |folder| Err(vec![folder]);
        assert_eq!(
            dirs.add(FolderPlace::Below(root, b"again"), (1, 2), 0),
            before(sub)
        );
        assert_eq!(
            dirs.add(FolderPlace::Below(sub, b"up"), (1, 1), 0),
            before(root)
        );
        assert!(
            dirs.add(FolderPlace::Below(root, b"other file system"), (2, 2), 0)
                .is_ok()
        );
        let elsewhere = FolderId {
            dev: 1,
            ino: 2,
            mount: 9,
        };
        assert!(
            dirs.add(FolderPlace::Below(root, b"other mount"), elsewhere, 0)
                .is_ok()
        );
        assert_eq!(dirs.root(sub), 7);
        assert_eq!(dirs.met((1, 2)), [sub]);
        let beside = dirs.add(
            FolderPlace::Below(root, b"the number was given away"),
            (1, 2),
            1,
        );
        let beside = beside.expect("one was known");
        assert_eq!(dirs.met((1, 2)), [sub, beside]);
        assert!(
            dirs.add(FolderPlace::Below(root, b"too late"), (1, 2), 1)
                .is_err()
        );
    }

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
