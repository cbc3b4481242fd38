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

use crate::event::{LeftOut, Problem, ProblemKind};
use crate::file::{
    DirId, FolderId, FoundFile, ManagedPaths, Numbering, Spellings, TrashPaths, UnnamedTrash,
};
use crate::heartbeat::current;
use crate::lock::locked;
use crate::sys::open;
use crate::sys::stat::{self, Stat};
use crate::tree::Unseen;

use super::enter::{Entered, enter_root, numbering_of_path};
use super::filter::Verdict;
use super::found::{FoundIn, Outbox, ScanMessage};
use super::linked::LinkedFile;
use super::other_entry::{unseen_by_filter, unseen_by_problem};
use super::walk::{Folder, Left, ReachedBy, Walk, count, found_file};

/// Checks roots: enters folders in the table, so that no walk from elsewhere lists them a second time, and hands files
/// over at once.
///
/// A call about a root may never return. The results therefore lie behind a lock that is not held during such a call,
/// and other threads can [take](RootResults::take) them.
pub struct Roots {
    walk: Arc<Walk>,
    /// Folders of files that were named one by one: by path and root, and apart for links into a trash.
    file_folders: HashMap<(Vec<u8>, u32, bool), DirId>,
    spellings: Spellings,
    trash: TrashPaths,
    managed: ManagedPaths,
    results: Arc<Mutex<RootResults>>,
}

/// The results so far.
pub struct RootResults {
    outbox: Outbox,
    found: Found,
}

/// The types of the roots.
#[derive(Default)]
pub struct Found {
    /// Device numbers of good roots, one root for each.
    pub devices: Vec<(u64, usize)>,
    /// Folders to be walked.
    pub folders: Vec<Folder>,
    /// Counts of skipped files.
    pub left_out: LeftOut,
    /// Files named through links. They come last: a file's own names have priority.
    pub linked: Vec<LinkedFile>,
    /// Roots that are skipped, and why.
    pub unseen: Vec<(u32, Unseen)>,
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

/// The type of a root.
enum Seen {
    /// The root is skipped.
    Problem(ProblemKind, Option<Errno>),
    /// A filter rules it out.
    LeftOut(Verdict),
    /// A folder that the scan has met before.
    Before,
    /// A folder.
    Folder(Folder),
    /// A file, with the reliability of inode numbers on its file system, if that was not known.
    File {
        path: Vec<u8>,
        place: FoundIn,
        file: FoundFile,
        numbering: Option<Numbering>,
    },
}

impl RootResults {
    /// Empty results.
    pub fn new(to: &Sender<ScanMessage>) -> Self {
        Self {
            outbox: Outbox::new(to),
            found: Found::default(),
        }
    }

    /// Hands over the files that were found, and returns the rest.
    pub fn take(&mut self) -> Found {
        self.outbox.flush();
        std::mem::take(&mut self.found)
    }

    fn add(&mut self, given: &Given, seen: Seen) {
        let left_out = &mut self.found.left_out;
        let unseen = match &seen {
            Seen::Problem(kind, _) => unseen_by_problem(*kind),
            Seen::LeftOut(verdict) => unseen_by_filter(*verdict),
            Seen::Before => Some(Unseen::ListedBefore),
            Seen::Folder(_) | Seen::File { .. } => None,
        };
        let unseen = unseen.map(|unseen| (given.number, unseen));
        self.found.unseen.extend(unseen);
        match seen {
            Seen::Problem(kind, cause) => {
                match kind {
                    ProblemKind::LinkRoot => left_out.symlinks += 1,
                    _ => left_out.unreadable += 1,
                }
                self.outbox.problem(Problem {
                    path: given.path.clone(),
                    kind,
                    cause: cause.map(Into::into),
                });
            }
            Seen::LeftOut(verdict) => {
                count(left_out, verdict);
            }
            Seen::Before => left_out.listed_before += 1,
            Seen::Folder(folder) => self.found.folders.push(folder),
            Seen::File {
                path,
                place,
                file,
                numbering,
            } => {
                if file.via_link {
                    return self.found.linked.push(LinkedFile { place, path, file });
                }
                let name = &path[path.len() - usize::from(file.name_len)..];
                self.outbox.push(place, name, file, || numbering);
            }
        }
    }

    /// Records the device of a good root.
    fn add_device(&mut self, dev: u64, root: u32) {
        let devices = &mut self.found.devices;
        if devices.iter().all(|&(known, _)| known != dev) {
            devices.push((dev, root as usize));
        }
    }
}

fn ask_about(root: u32, path: &Path) {
    current::ask_about_name(root, path.as_os_str().as_bytes());
}

impl Roots {
    pub fn new(walk: &Arc<Walk>, results: &Arc<Mutex<RootResults>>) -> Self {
        Self {
            walk: Arc::clone(walk),
            file_folders: HashMap::new(),
            spellings: Spellings::default(),
            trash: TrashPaths::default(),
            managed: ManagedPaths::default(),
            results: Arc::clone(results),
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
        locked(&self.results).outbox.flush();
    }

    /// Checks one root.
    pub fn look_at(&mut self, root: &Given) {
        let seen = self.look(root);
        locked(&self.results).add(root, seen);
    }

    fn look(&mut self, given: &Given) -> Seen {
        let path = given.path.as_os_str().as_bytes();
        let (named, stat) = match metadata(path) {
            Ok(both) => both,
            Err(error) => {
                let kind = ProblemKind::of_root(error.kind());
                let cause = (kind != ProblemKind::MissingRoot).then_some(error);
                return Seen::Problem(kind, cause);
            }
        };
        if given.id.is_some_and(|id| id != (stat.dev, stat.ino)) {
            return Seen::Problem(ProblemKind::ReplacedRoot, None);
        }
        // As a walk from elsewhere spells it. Some programs number a file anew for each spelling.
        let spelled = &self.spellings.path(path)[..];
        let (named, stat) = match path == spelled {
            true => (named, stat),
            false => metadata(spelled).unwrap_or((named, stat)),
        };
        let is_folder = stat.kind == FileType::Directory;
        let is_link = named.kind == FileType::Symlink;
        if !is_folder && stat.kind != FileType::RegularFile {
            return Seen::Problem(ProblemKind::UnsuitableRoot, None);
        }
        if !is_folder && is_link && !self.walk.follow_links {
            return Seen::Problem(ProblemKind::LinkRoot, None);
        }
        locked(&self.results).add_device(stat.dev, given.number);
        if !is_folder {
            self.walk.dirs.write().mark_given_file(given.number);
        }
        let filter = &self.walk.filter;
        let verdict = match (filter.root(spelled, is_folder), is_folder) {
            (Verdict::Keep, false) => filter.metadata(stat.size, stat.mtime_ns),
            (verdict, _) => verdict,
        };
        match (verdict, is_folder) {
            (Verdict::Keep, true) => self.folder(given, spelled, &stat),
            (Verdict::Keep, false) => self.file(given, spelled, &stat, is_link),
            _ => Seen::LeftOut(verdict),
        }
    }

    fn folder(&mut self, given: &Given, path: &[u8], stat: &Stat) -> Seen {
        let Ok(name) = CString::new(path) else {
            return Seen::Problem(ProblemKind::MissingRoot, None);
        };
        let dirs = &self.walk.dirs;
        let entered = match open::folder_handle(open::CWD, &name) {
            Ok(fd) => enter_root(dirs, path, given.number, stat, fd.as_fd()),
            // It is added, so that the walker that lists it reports why it cannot be opened.
            Err(_) => Entered::New(dirs.write().add_root(path, given.number, stat)),
        };
        if let Entered::New(dir) = entered
            && self.is_in_trash(path)
        {
            self.walk.dirs.write().mark_trash(dir);
        }
        if let Entered::New(dir) = entered
            && self.is_in_managed(path, true)
        {
            self.walk.dirs.write().mark_managed(dir);
        }
        match entered {
            Entered::New(dir) => Seen::Folder(Folder {
                dir,
                name: None,
                depth: 0,
                root_dev: stat.dev,
                rules: None,
                left: Left::New,
                reached_by: ReachedBy::Entry,
            }),
            Entered::Before(_) => Seen::Before,
            Entered::OneOfTooMany => Seen::Problem(ProblemKind::TooManyAlike, None),
        }
    }

    fn file(&mut self, given: &Given, path: &[u8], stat: &Stat, is_link: bool) -> Seen {
        let cut = path.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(cut);
        let mut file = found_file(stat, name);
        file.via_link = is_link;
        let links_into_trash = is_link && self.is_in_trash(path);
        let place = FoundIn {
            dir: self.folder_of_file(folder, given, links_into_trash),
            root: given.number,
            dev: stat.dev,
        };
        let is_known = is_link || locked(&self.results).outbox.knows(stat.dev);
        let numbering = match is_known {
            true => None,
            false => numbering_of_path(path),
        };
        Seen::File {
            path: path.to_vec(),
            place,
            file,
            numbering,
        }
    }

    /// True if a path leads to a trash, or into one.
    fn is_in_trash(&mut self, path: &[u8]) -> bool {
        let Some(real) = real(path) else {
            return false;
        };
        // No lock is held while file systems are asked.
        let mut linked = UnnamedTrash::default();
        let root = current::at();
        linked.add_links_above(&real, &|path| ask_about(root, path));
        ask_about(root, &real);
        let path = [real.as_os_str().as_bytes(), b"/"].concat();
        let mut unnamed = locked(&self.walk.trash);
        unnamed.append(linked);
        let is_unnamed = unnamed.holds(&path, 0);
        drop(unnamed);
        is_unnamed || self.trash.lead_into(&path, 0)
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

    fn folder_of_file(&mut self, folder: &[u8], given: &Given, links_into_trash: bool) -> DirId {
        let number = given.number;
        let root = if given.keep_apart { number } else { 0 };
        let key = (folder.to_vec(), root, links_into_trash);
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
        if links_into_trash || self.is_in_trash(folder) {
            self.walk.dirs.write().mark_trash(dir);
        }
        if self.is_in_managed(folder, false) {
            self.walk.dirs.write().mark_managed(dir);
        }
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
