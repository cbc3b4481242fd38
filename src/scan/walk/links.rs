//! Symbolic links that were met, and what is known of where they lead.
//!
//! What a link leads to may also be reached without it, or by another link. Which of these ways comes first decides
//! under which path a folder is listed, so it must not depend on which walker is faster. Therefore links to folders wait
//! until all that is reached without them has been listed. Then those that wait get their numbers, in the order of
//! their paths, and only then are the folders listed.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::file::{DirId, DirTable, FolderId, SharedDirs};
use crate::scan::linked::LinkedFile;

use super::{Folder, ReachedBy};

/// Links that lead to something that takes part.
#[derive(Default)]
pub struct Links {
    /// To folders; what told each folder from others when its link was followed.
    folders: Vec<(Folder, FolderId)>,
    files: Vec<LinkedFile>,
    /// The least depth at which each folder was met, if the depth is limited; roots are not in it.
    depths: HashMap<DirId, u32>,
}

impl Links {
    /// Takes a link to a folder.
    pub fn add_folder(&mut self, folder: Folder, id: FolderId) {
        self.folders.push((folder, id));
    }

    /// Takes a link to a file.
    pub fn add_file(&mut self, file: LinkedFile) {
        self.files.push(file);
    }

    /// The folders that are to be listed next, the first one last.
    pub fn next_folders(&mut self, dirs: &SharedDirs) -> Vec<Folder> {
        let mut folders = std::mem::take(&mut self.folders);
        if folders.is_empty() {
            return Vec::new();
        }
        let table = dirs.read();
        folders.sort_by(|(a, _), (b, _)| by_path(&table, a, b));
        drop(table);
        let numbered = folders.into_iter().map(|(folder, id)| {
            let name = folder.name.as_deref().map_or(&b""[..], |n| n.to_bytes());
            let added = dirs.write().add_beside(folder.dir, name, id, 0);
            match added {
                Ok(dir) => {
                    self.met(dir, folder.depth);
                    Folder {
                        dir,
                        name: None,
                        reached_by: ReachedBy::Entry,
                        ..folder
                    }
                }
                // Probably it was met before; whoever opens it finds that out.
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

    /// Takes note of the depth at which a folder was met for the first time.
    pub fn met(&mut self, dir: DirId, depth: u32) {
        self.depths.insert(dir, depth);
    }

    /// True if a folder was only met deeper before. On a shorter way its folders may not be too deep, so it is listed
    /// again; what it shows a second time is known by then.
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
