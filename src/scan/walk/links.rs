//! Symbolic links that the walk found, and their targets.
//!
//! A folder that is the target of a link may also be reachable without the link, or through another link. The first of
//! these ways determines the path under which the folder is listed, so the choice must not depend on which walker is
//! faster. Links to folders therefore wait until everything that is reachable without them is listed. Then their
//! folders get numbers in the order of the links' paths, and are listed.

use std::cmp::Ordering;

use crate::file::{DirTable, FolderId, FolderPlace, SharedDirs};
use crate::scan::linked::LinkedFile;

use super::{Folder, ReachedBy};

/// Links whose targets the filter keeps.
#[derive(Default)]
pub struct Links {
    /// Links to folders, each with the identity that the folder had when the link was followed.
    folders: Vec<(Folder, FolderId)>,
    files: Vec<LinkedFile>,
}

impl Links {
    /// Adds a link to a folder.
    pub fn add_folder(&mut self, folder: Folder, id: FolderId) {
        self.folders.push((folder, id));
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
        let numbered = folders.into_iter().map(|(folder, id)| {
            let name = folder.name.as_deref().map_or(&b""[..], |n| n.to_bytes());
            let added = dirs
                .write()
                .add(FolderPlace::Below(folder.dir, name), id, 0);
            match added {
                Ok(dir) => Folder {
                    dir,
                    name: None,
                    reached_by: ReachedBy::Entry,
                    ..folder
                },
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
}

/// The order of names in reports: by root, by depth, by path.
fn by_path(dirs: &DirTable, a: &Folder, b: &Folder) -> Ordering {
    let rank = |folder: &Folder| (dirs.root(folder.dir), dirs.depth(folder.dir));
    rank(a)
        .cmp(&rank(b))
        .then_with(|| dirs.compare(a.dir, b.dir))
        .then_with(|| a.name.cmp(&b.name))
}
