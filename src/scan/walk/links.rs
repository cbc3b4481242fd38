//! Symbolic links that the walk found, and their targets.
//!
//! A folder that is the target of a link may also be reachable without the link, or through another link. The first of
//! these ways determines the path under which the folder is listed, so the choice must not depend on which walker is
//! faster. Links to folders therefore wait until everything that is reachable without them is listed. Then their
//! folders get numbers in the order of the links' paths, and are listed.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::file::{DirId, DirTable, FolderId, FolderPlace, SharedDirs};
use crate::scan::linked::LinkedFile;

use super::{Folder, ReachedBy};

/// Links whose targets the filter keeps.
#[derive(Default)]
pub struct Links {
    /// Links to folders, each with the identity that the folder had when the link was followed, and whether it lies in
    /// a trash.
    folders: Vec<(Folder, FolderId, bool)>,
    files: Vec<LinkedFile>,
    /// The lowest depth at which each folder was found, if the depth is limited. Roots are not in it.
    depths: HashMap<DirId, u32>,
    /// The second number of each folder with links to files in a trash.
    of_trash: HashMap<DirId, DirId>,
}

impl Links {
    /// Adds a link to a folder.
    pub fn add_folder(&mut self, folder: Folder, id: FolderId, is_in_trash: bool) {
        self.folders.push((folder, id, is_in_trash));
    }

    /// Gives a folder a second number, for its links to files in a trash. The files are then listed as those in a trash.
    pub fn of_trash(&mut self, dirs: &SharedDirs, dir: DirId) -> DirId {
        *self.of_trash.entry(dir).or_insert_with(|| {
            let mut dirs = dirs.write();
            let mut path = Vec::new();
            dirs.path(dir, &mut path);
            let (root, id) = (dirs.root(dir), dirs.id(dir));
            let second = dirs.add_unlisted(&path, root, id);
            dirs.mark_trash(second);
            second
        })
    }

    /// Adds a link to a file.
    pub fn add_file(&mut self, file: LinkedFile) {
        self.files.push(file);
    }

    /// The folders to list next, the first one last.
    pub fn next_folders(&mut self, dirs: &SharedDirs) -> Vec<Folder> {
        let mut folders = std::mem::take(&mut self.folders);
        if folders.is_empty() {
            return Vec::new();
        }
        let table = dirs.read();
        folders.sort_by(|(a, ..), (b, ..)| by_path(&table, a, b));
        drop(table);
        let numbered = folders.into_iter().map(|(folder, id, is_in_trash)| {
            let name = folder.name.as_deref().map_or(&b""[..], |n| n.to_bytes());
            let added = dirs
                .write()
                .add(FolderPlace::Below(folder.dir, name), id, 0);
            match added {
                Ok(dir) => {
                    if is_in_trash {
                        dirs.write().mark_trash(dir);
                    }
                    self.met(dir, folder.depth);
                    Folder {
                        dir,
                        name: None,
                        reached_by: ReachedBy::Entry,
                        ..folder
                    }
                }
                // It was probably found before. The walker that opens it checks that.
                Err(_) => Folder {
                    reached_by: ReachedBy::LinkToFolder,
                    ..folder
                },
            }
        });
        let mut numbered: Vec<Folder> = numbered.collect();
        numbered.reverse();
        numbered
    }

    /// Takes all files, in the order of their links' paths.
    pub fn take_files(&mut self, dirs: &SharedDirs) -> Vec<LinkedFile> {
        let mut files = std::mem::take(&mut self.files);
        let dirs = dirs.read();
        let rank = |linked: &LinkedFile| (linked.place.root, dirs.depth(linked.place.dir));
        files.sort_by(|a, b| {
            let by_rank = rank(a).cmp(&rank(b));
            by_rank.then_with(|| a.path.cmp(&b.path))
        });
        files
    }

    /// Stores the depth at which a folder was found first.
    pub fn met(&mut self, dir: DirId, depth: u32) {
        self.depths.insert(dir, depth);
    }

    /// True if a folder was found only at a greater depth before. At this depth its subfolders may be within the limit,
    /// so it is listed again. Names that show up a second time are recognized.
    pub fn is_shorter(&mut self, dir: DirId, depth: u32) -> bool {
        match self.depths.get_mut(&dir) {
            Some(least) if depth < *least => {
                *least = depth;
                true
            }
            _ => false,
        }
    }
}

/// The order of names in reports: by root, by depth, by path.
fn by_path(dirs: &DirTable, a: &Folder, b: &Folder) -> Ordering {
    let rank = |folder: &Folder| (dirs.root(folder.dir), dirs.depth(folder.dir));
    rank(a)
        .cmp(&rank(b))
        .then_with(|| dirs.compare(a.dir, b.dir))
        .then_with(|| a.name.cmp(&b.name))
}
