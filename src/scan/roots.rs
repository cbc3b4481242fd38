//! The roots of a search: the files and folders that the user names.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender};
use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use crate::event::{Problem, ProblemKind};
use crate::file::{DirId, FolderId, FolderPlace, ManagedPaths, Spellings, TrashPaths};
use crate::heartbeat::current;
use crate::sys::open;
use crate::sys::stat::{self, Stat};
use crate::tree::Unseen;

use super::enter::{Entered, enter, numbering_of_path};
use super::filter::Verdict;
use super::found::{FoundIn, Outbox, ScanMessage};
use super::linked::LinkedFile;
use super::other_entry::unseen_by_problem;
use super::walk::{Folder, Kept, ReachedBy, Walk, Walked, count, found_file, hand_over, keep};

/// Checks roots: enters folders in the table, so that no walk from elsewhere lists them a second time, and hands files
/// over.
///
/// A call about a root may never return, so what was found before lies where other threads can take it.
pub struct Roots {
    walk: Arc<Walk>,
    /// Folders of files that were named one by one, by path and root.
    file_folders: HashMap<(Vec<u8>, u32), DirId>,
    spellings: Spellings,
    trash: TrashPaths,
    managed: ManagedPaths,
    outbox: Outbox,
    /// The result of the current root.
    found: Walked,
    /// The results of the roots before.
    kept: Arc<Mutex<Kept>>,
}

/// One root to check.
pub struct Given {
    /// Its number.
    pub number: u32,
    /// Its path.
    pub path: PathBuf,
    /// Device and inode number that it must have.
    pub id: Option<(u64, u64)>,
    /// Files of one folder remember through which root they came.
    pub keep_apart: bool,
}

fn ask_about(root: u32, path: &Path) {
    current::ask_about_name(root, path.as_os_str().as_bytes());
}

impl Roots {
    pub fn new(walk: &Arc<Walk>, to: &Sender<ScanMessage>, kept: &Arc<Mutex<Kept>>) -> Self {
        Self {
            walk: Arc::clone(walk),
            file_folders: HashMap::new(),
            spellings: Spellings::default(),
            trash: walk.trash.clone(),
            managed: ManagedPaths::default(),
            outbox: Outbox::new(to),
            found: Walked::default(),
            kept: Arc::clone(kept),
        }
    }

    /// Checks roots until there are no more.
    pub fn look_at_all(&mut self, given: &Receiver<Given>) {
        loop {
            current::rest();
            let Ok(root) = given.recv() else { break };
            ask_about(root.number, &root.path);
            self.look_at(&root);
        }
        hand_over(&self.kept, &self.outbox);
    }

    /// Checks one root.
    pub fn look_at(&mut self, root: &Given) {
        let unseen = self.look(root).map(|unseen| (root.number, unseen));
        self.found.unseen.extend(unseen);
        keep(&self.kept, &mut self.found, &mut self.outbox);
    }

    /// Returns the reason why a root is skipped, if it is.
    fn look(&mut self, given: &Given) -> Option<Unseen> {
        let path = given.path.as_os_str().as_bytes();
        let (named, stat) = match metadata(path) {
            Ok(both) => both,
            Err(error) => {
                let kind = ProblemKind::of_root(error.kind());
                let cause = (kind != ProblemKind::MissingRoot).then_some(error);
                return self.problem(given, kind, cause);
            }
        };
        if given.id.is_some_and(|id| id != (stat.dev, stat.ino)) {
            return self.problem(given, ProblemKind::ReplacedRoot, None);
        }
        // As a walk from elsewhere spells it. Some programs number a file anew for each spelling.
        let spelled = &self.spellings.path(path)[..];
        let (named, stat) = if path == spelled {
            (named, stat)
        } else {
            metadata(spelled).unwrap_or((named, stat))
        };
        let is_folder = stat.kind == FileType::Directory;
        let is_link = named.kind == FileType::Symlink;
        if !is_folder && stat.kind != FileType::RegularFile {
            return self.problem(given, ProblemKind::UnsuitableRoot, None);
        }
        if !is_folder && is_link && !self.walk.follow_links {
            return self.problem(given, ProblemKind::LinkRoot, None);
        }
        let devices = &mut self.found.devices;
        if devices.iter().all(|&(known, _)| known != stat.dev) {
            devices.push((stat.dev, given.number as usize));
        }
        if !is_folder {
            self.walk.dirs.write().mark_given_file(given.number);
        }
        let filter = &self.walk.filter;
        let verdict = match (filter.root(spelled, is_folder), is_folder) {
            (Verdict::Keep, false) => filter.metadata(stat.size, stat.mtime_ns),
            (verdict, _) => verdict,
        };
        if verdict != Verdict::Keep {
            return count(&mut self.found.left_out, verdict);
        }
        if is_folder {
            return self.folder(given, spelled, &stat);
        }
        self.file(given, spelled, &stat, is_link);
        None
    }

    fn problem(
        &mut self,
        given: &Given,
        kind: ProblemKind,
        cause: Option<Errno>,
    ) -> Option<Unseen> {
        let left_out = &mut self.found.left_out;
        match kind {
            ProblemKind::LinkRoot => left_out.symlinks += 1,
            _ => left_out.unreadable += 1,
        }
        self.outbox.problem(Problem {
            path: given.path.clone(),
            kind,
            cause: cause.map(Into::into),
        });
        unseen_by_problem(kind)
    }

    fn folder(&mut self, given: &Given, path: &[u8], stat: &Stat) -> Option<Unseen> {
        let Ok(name) = CString::new(path) else {
            return self.problem(given, ProblemKind::MissingRoot, None);
        };
        let dirs = &self.walk.dirs;
        let place = FolderPlace::Root(path, given.number);
        let entered = match open::folder_handle(open::CWD, &name) {
            Ok(fd) => enter(dirs, place, stat, fd.as_fd()),
            // It is added, so that the walker that lists it reports why it cannot be opened.
            Err(_) => Entered::New(dirs.write().add_root(path, given.number, stat)),
        };
        match entered {
            Entered::New(dir) => {
                self.mark(dir, path, true);
                self.found.roots.push(Folder {
                    dir,
                    name: None,
                    depth: 0,
                    root_dev: stat.dev,
                    rules: None,
                    reached_by: ReachedBy::Entry,
                });
                None
            }
            Entered::Before(_) => {
                self.found.left_out.listed_before += 1;
                Some(Unseen::ListedBefore)
            }
            Entered::OneOfTooMany => self.problem(given, ProblemKind::TooManyAlike, None),
        }
    }

    fn file(&mut self, given: &Given, path: &[u8], stat: &Stat, is_link: bool) {
        let cut = path.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(cut);
        let mut file = found_file(stat, name);
        file.via_link = is_link;
        let place = FoundIn {
            dir: self.folder_of_file(folder, given),
            root: given.number,
            dev: stat.dev,
        };
        if is_link {
            let path = path.to_vec();
            self.found.linked.push(LinkedFile { place, path, file });
        } else {
            self.outbox
                .push(place, name, file, || numbering_of_path(path));
        }
    }

    /// Records whether a folder lies in a trash, and whether a program manages it.
    fn mark(&mut self, dir: DirId, path: &[u8], is_listed: bool) {
        let is_in_trash = self.is_in_trash(path);
        let is_managed = self.is_in_managed(path, is_listed);
        let mut dirs = self.walk.dirs.write();
        if is_in_trash {
            dirs.mark_trash(dir);
        }
        if is_managed {
            dirs.mark_managed(dir);
        }
    }

    /// True if a path leads to a trash, or into one.
    fn is_in_trash(&mut self, path: &[u8]) -> bool {
        let Some(real) = real(path) else {
            return false;
        };
        ask_about(current::at(), &real);
        let path = [real.as_os_str().as_bytes(), b"/"].concat();
        self.trash.lead_into(&path, 0)
    }

    /// True if a program manages a folder above this one, or this one. The entries of one that is listed are looked at
    /// there.
    fn is_in_managed(&mut self, path: &[u8], is_listed: bool) -> bool {
        let Some(real) = real(path) else {
            return false;
        };
        ask_about(current::at(), &real);
        let mut place = real.into_os_string().into_vec();
        if !is_listed {
            place.push(b'/');
        }
        self.managed.hold_folder(&place, &current::beat)
    }

    fn folder_of_file(&mut self, folder: &[u8], given: &Given) -> DirId {
        let number = given.number;
        let root = if given.keep_apart { number } else { 0 };
        let key = (folder.to_vec(), root);
        if let Some(&dir) = self.file_folders.get(&key) {
            return dir;
        }
        let place = CString::new(if folder.is_empty() { b"." } else { folder });
        let place = place.ok().and_then(|p| stat::target(open::CWD, &p).ok());
        let nowhere = FolderId {
            dev: 0,
            ino: 0,
            mount: 0,
        };
        let id = place.map_or(nowhere, |place| FolderId::from(&place));
        let dir = self.walk.dirs.write().add_unlisted(folder, number, id);
        self.mark(dir, folder, false);
        *self.file_folders.entry(key).or_insert(dir)
    }
}

/// The real path of a folder. The empty path is the current folder.
fn real(path: &[u8]) -> Option<PathBuf> {
    let folder = if path.is_empty() { b"." } else { path };
    std::fs::canonicalize(OsStr::from_bytes(folder)).ok()
}

/// Metadata of a path itself and of its target.
fn metadata(path: &[u8]) -> Result<(Stat, Stat)> {
    let path = CString::new(path).map_err(|_| Errno::NOENT)?;
    let named = stat::entry(open::CWD, &path)?;
    let target = match named.kind {
        FileType::Symlink => stat::target(open::CWD, &path)?,
        _ => named,
    };
    Ok((named, target))
}
