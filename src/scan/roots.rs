//! The places where the user wants to look.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender};
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::event::{LeftOut, Problem, ProblemKind};
use crate::file::{DirId, FolderId, FoundFile};
use crate::pulse::Pulse;
use crate::sys::stat::Stat;
use crate::sys::{open, stat};

use super::enter::{met, numbering_of_name};
use super::found::{Outbox, Place, ScanMessage};
use super::walk::{Folder, Left, Walk, count, found_file};

/// Looks at roots: folders are entered in the table, so that no walk from elsewhere lists them a
/// second time; files are handed over at once.
pub struct Roots {
    walk: Arc<Walk>,
    outbox: Outbox,
    /// Take files that are named through a symbolic link.
    follow_links: bool,
    /// Folders of files that were named one by one.
    file_folders: HashMap<(Vec<u8>, u32), DirId>,
    found: Found,
}

/// What roots were found to be.
#[derive(Default)]
pub struct Found {
    /// Device numbers of good roots, one root for each.
    pub devices: Vec<(u64, usize)>,
    /// Folders to be walked.
    pub folders: Vec<Folder>,
    /// What was left out.
    pub left_out: LeftOut,
    /// Files named through links, which come last: a file's own names go first.
    pub linked: Vec<Linked>,
}

/// A file that was named through a symbolic link, and its path.
pub struct Linked {
    place: Place,
    path: Vec<u8>,
    file: FoundFile,
}

/// One root to be looked at.
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

impl Roots {
    pub fn new(
        walk: &Arc<Walk>,
        follow_links: bool,
        to: &Sender<ScanMessage>,
        pulse: &Arc<Pulse>,
    ) -> Self {
        Self {
            walk: Arc::clone(walk),
            outbox: Outbox::new(to, pulse),
            follow_links,
            file_folders: HashMap::new(),
            found: Found::default(),
        }
    }

    /// Looks at roots until there are no more.
    ///
    /// The first look at a root may never end. Nothing is locked meanwhile, so others can [take](Roots::take) what was
    /// found before.
    pub fn look_at_all(roots: &Mutex<Self>, given: &Receiver<Given>, pulse: &Pulse) {
        let locked = || roots.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            pulse.rest();
            let Ok(root) = given.recv() else { break };
            let path = root.path.as_os_str().as_bytes();
            pulse.ask_about(root.number, path);
            let seen = look(path);
            locked().enter(&root, seen);
        }
        locked().outbox.flush();
    }

    /// Looks at one root.
    pub fn look_at(&mut self, root: &Given) {
        let seen = look(root.path.as_os_str().as_bytes());
        self.enter(root, seen);
    }

    /// Hands over the files that were found, and gives back the rest.
    pub fn take(&mut self) -> Found {
        self.outbox.flush();
        std::mem::take(&mut self.found)
    }

    fn enter(&mut self, root: &Given, seen: rustix::io::Result<(Stat, Stat)>) {
        let folder = self.folder_of(root, seen);
        self.found.folders.extend(folder);
    }

    /// The folder to walk if a root is one. A file is handed over.
    fn folder_of(
        &mut self,
        given: &Given,
        seen: rustix::io::Result<(Stat, Stat)>,
    ) -> Option<Folder> {
        let &Given { number, id, .. } = given;
        let path = &given.path;
        let bytes = path.as_os_str().as_bytes();
        let (named, stat) = match seen {
            Ok(both) => both,
            Err(Errno::NOENT | Errno::NOTDIR) => {
                self.problem(path, ProblemKind::MissingRoot, None);
                return None;
            }
            Err(e) => {
                self.problem(path, ProblemKind::UnreadableFolder, Some(e));
                return None;
            }
        };
        if id.is_some_and(|id| id != (stat.dev, stat.ino)) {
            self.problem(path, ProblemKind::ReplacedRoot, None);
            return None;
        }
        let is_folder = stat.kind == FileType::Directory;
        let is_link = named.kind == FileType::Symlink;
        if !is_folder && stat.kind != FileType::RegularFile {
            self.problem(path, ProblemKind::UnsuitableRoot, None);
            return None;
        }
        if !is_folder && is_link && !self.follow_links {
            self.problem(path, ProblemKind::LinkRoot, None);
            return None;
        }
        if self.found.devices.iter().all(|&(dev, _)| dev != stat.dev) {
            self.found.devices.push((stat.dev, number as usize));
        }
        if !count(
            &mut self.found.left_out,
            self.walk.filter.root(bytes, is_folder),
        ) {
            return None;
        }
        if is_folder {
            return self.folder(number, bytes, &stat);
        }
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        if count(&mut self.found.left_out, verdict) {
            self.file(number, bytes, &stat, is_link, given.keep_apart);
        }
        None
    }

    fn folder(&mut self, number: u32, path: &[u8], stat: &Stat) -> Option<Folder> {
        if self.walk.max_depth == Some(0) {
            self.found.left_out.filtered += 1;
            return None;
        }
        let name = CString::new(path).ok()?;
        // One that cannot be opened is added, so that whoever comes to list it says why.
        let fd = open::folder_handle(open::CWD, &name).ok();
        let met = fd.and_then(|fd| met(&self.walk.dirs, stat, fd.as_fd()));
        if met.is_some() {
            self.found.left_out.listed_before += 1;
            return None;
        }
        Some(Folder {
            dir: self.walk.dirs.write().add_root(path, number, stat),
            name: None,
            depth: 0,
            root_dev: stat.dev,
            rules: None,
            left: Left::New,
        })
    }

    fn file(&mut self, number: u32, path: &[u8], stat: &Stat, is_link: bool, keep_apart: bool) {
        let cut = path.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(cut);
        let key = (folder.to_vec(), if keep_apart { number } else { 0 });
        let dir = match self.file_folders.get(&key) {
            Some(&dir) => dir,
            None => {
                let place = CString::new(if folder.is_empty() { b"." } else { folder });
                let place = place.ok().and_then(|p| stat::target(open::CWD, &p).ok());
                let nowhere = FolderId {
                    dev: 0,
                    ino: 0,
                    mount: 0,
                };
                let id = place.map_or(nowhere, |place| FolderId::from(&place));
                let dir = self.walk.dirs.write().add_unlisted(folder, number, id);
                *self.file_folders.entry(key).or_insert(dir)
            }
        };
        let mut file = found_file(stat, name);
        file.via_link = is_link;
        let place = Place {
            dir,
            root: number,
            dev: stat.dev,
        };
        match is_link {
            true => self.found.linked.push(Linked {
                place,
                path: path.to_owned(),
                file,
            }),
            false => push(&mut self.outbox, place, path, file),
        }
    }

    fn problem(&mut self, path: &Path, kind: ProblemKind, cause: Option<Errno>) {
        match kind {
            ProblemKind::LinkRoot => self.found.left_out.symlinks += 1,
            _ => self.found.left_out.unreadable += 1,
        }
        self.outbox.problem(Problem {
            path: path.to_owned(),
            kind,
            cause: cause.map(Into::into),
        });
    }
}

/// Hands over files that were named through links. Call it when all others are handed over.
pub fn hand_over(linked: Vec<Linked>, to: &Sender<ScanMessage>, pulse: &Arc<Pulse>) {
    let mut outbox = Outbox::new(to, pulse);
    for Linked { place, path, file } in linked {
        pulse.ask_about(0, &path);
        push(&mut outbox, place, &path, file);
    }
    outbox.flush();
}

fn push(outbox: &mut Outbox, place: Place, path: &[u8], file: FoundFile) {
    let name = &path[path.len() - usize::from(file.name_len)..];
    outbox.push(place, name, file, || {
        let path = CString::new(path).ok()?;
        numbering_of_name(open::CWD, &path, true)
    });
}

/// Metadata of a path itself and of what it leads to.
fn look(path: &[u8]) -> rustix::io::Result<(Stat, Stat)> {
    let path = CString::new(path).map_err(|_| Errno::NOENT)?;
    let named = stat::entry(open::CWD, &path)?;
    let target = match named.kind {
        FileType::Symlink => stat::target(open::CWD, &path)?,
        _ => named,
    };
    Ok((named, target))
}
