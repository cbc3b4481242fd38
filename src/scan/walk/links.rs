//! Symbolic links that the walk found, and their targets.
//!
//! A folder that is the target of a link may also be reachable without the link, or through another link. The first of
//! these ways determines the path under which the folder is listed, so the choice must not depend on which walker is
//! faster. Links to folders therefore wait until everything that is reachable without them is listed. Then their
//! folders get numbers in the order of the links' paths, and are listed.

use std::cmp::Ordering;
use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::event::ProblemKind;
use crate::file::{DirTable, FolderId, FolderPlace, SharedDirs};
use crate::heartbeat::current;
use crate::scan::enter::{is_placeholder, numbering_of_name};
use crate::scan::found::{FoundIn, LinkedFile};
use crate::scan::listing;
use crate::sys::stat::{self, Stat};
use crate::sys::{names, open};

use super::walker::Walker;
use super::{Folder, ReachedBy, count, found_file, path_of};

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

    /// The folders to list next.
    pub fn next_folders(&mut self, dirs: &SharedDirs) -> Vec<Folder> {
        let mut folders = std::mem::take(&mut self.folders);
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
        numbered.collect()
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

impl Walker {
    /// Resolves a link, and records its target if the filter keeps it.
    pub(super) fn follow(&mut self, folder: Folder) {
        if let Some(name) = folder.name.clone()
            && let Some(stat) = self.target(&folder, &name)
        {
            self.take_target(folder, &name, &stat);
        }
    }

    /// The target of a link; `None` if the link is broken.
    fn target(&mut self, folder: &Folder, name: &CStr) -> Option<Stat> {
        let walk = self.walk.clone();
        let target = self.with_folder(folder.dir, |above| names::read_link(above, name));
        if let Ok(target) = target {
            // If a call does not return, the file system of the target is to be named, not that of the link.
            let folder = path_of(&walk.dirs, folder.dir, None);
            let path = folder.join(std::ffi::OsStr::from_bytes(&target));
            current::ask_about(path.as_os_str().as_bytes());
        }
        let found = self.with_folder(folder.dir, |above| stat::target(above, name));
        let error = match found {
            Ok(stat) => return Some(stat),
            Err(error) => error,
        };
        let link = self.with_folder(folder.dir, |above| stat::entry(above, name));
        match link {
            Ok(link) if link.kind == FileType::Symlink => {
                self.walked.left_out.symlinks += 1;
                let cause = Some(error.into());
                self.tell(folder.dir, Some(name), ProblemKind::BrokenLink, cause);
            }
            Err(Errno::NOENT) => self.walked.left_out.vanished += 1,
            _ => {
                let kind = ProblemKind::UnreadableMetadata;
                self.problem(folder.dir, Some(name), kind, Some(error));
            }
        }
        None
    }

    fn take_target(&mut self, folder: Folder, name: &CStr, stat: &Stat) {
        let is_folder = stat.kind == FileType::Directory;
        let needs_path = self.walk.filter.needs_path() || folder.rules.is_some();
        if needs_path {
            self.walk.dirs.read().path(folder.dir, &mut self.path);
        }
        let rules = folder.rules.clone();
        if let Err(unseen) = self.wanted(name, is_folder, needs_path, rules.as_deref()) {
            return self.unseen(folder.dir, Some(name), unseen);
        }
        match stat.kind {
            FileType::Directory => self.take_folder(folder, name, stat),
            FileType::RegularFile => self.take_file(&folder, name, stat),
            _ => self.walked.left_out.special += 1,
        }
    }

    fn take_folder(&mut self, folder: Folder, name: &CStr, here: &Stat) {
        if folder.depth >= listing::DEPTH {
            return self.problem(folder.dir, Some(name), ProblemKind::TooDeep, None);
        }
        if self.walk.max_depth.is_some_and(|max| folder.depth >= max) {
            self.walked.left_out.filtered += 1;
            return;
        }
        let opened = self.with_folder(folder.dir, |above| open::folder_handle(above, name));
        match opened {
            Ok(fd) if self.is_elsewhere(&folder, here, &fd) || is_placeholder(here, &fd) => {}
            Ok(_) => self.walk.links().add_folder(folder, FolderId::from(here)),
            Err(error) => {
                let kind = ProblemKind::UnreadableFolder;
                self.problem(folder.dir, Some(name), kind, Some(error));
            }
        }
    }

    fn take_file(&mut self, folder: &Folder, name: &CStr, stat: &Stat) {
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        if count(&mut self.walked.left_out, verdict).is_some() {
            return;
        }
        let mut file = found_file(stat, name.to_bytes());
        file.via_link = true;
        if self.linked_device.is_none_or(|(dev, _)| dev != stat.dev) {
            let ask = |above: BorrowedFd<'_>| Ok(numbering_of_name(above, name, true));
            let numbering = self.with_folder(folder.dir, ask).ok().flatten();
            self.linked_device = Some((stat.dev, numbering));
        }
        let numbering = self.linked_device.and_then(|(_, numbering)| numbering);
        let dirs = self.walk.dirs.read();
        let mut path = Vec::new();
        dirs.path_of(folder.dir, name.to_bytes(), &mut path);
        let place = FoundIn {
            dir: folder.dir,
            root: dirs.root(folder.dir),
            dev: stat.dev,
        };
        drop(dirs);
        self.walk.links().add_file(LinkedFile {
            place,
            numbering,
            path,
            file,
        });
    }
}
