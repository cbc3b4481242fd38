//! Walks folders with symbolic links followed, by walkdir, which knows a link that leads back to a
//! folder above it.
//!
//! One thread and a path for each entry: slower than [`super::walk`], and only for those who ask
//! for links.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::Sender;
use walkdir::{DirEntry, WalkDir};

use crate::event::{LeftOut, Problem, ProblemKind};
use crate::file::{DirId, FoundFile};
use crate::sys::{open, stat, statfs};

use super::filter::Verdict;
use super::found::{Outbox, ScanMessage};
use super::ignore_file::IgnoreRules;
use super::walk::{Folder, Walk, count, found_file};

/// A walk with links followed.
pub struct Following<'a> {
    walk: &'a Walk<'a>,
    outbox: Outbox<'a>,
    /// Files reached through a link of their own: they come last, so that a file which is also
    /// reached by its real name is known by that.
    linked: Vec<(DirId, u32, u64, Vec<u8>, FoundFile)>,
    /// The least depth at which each folder was met; roots are not in it.
    depths: HashMap<DirId, usize>,
    folders: u64,
    left_out: LeftOut,
}

impl<'a> Following<'a> {
    pub fn new(walk: &'a Walk<'a>, to: &'a Sender<ScanMessage>) -> Self {
        Self {
            walk,
            outbox: Outbox::new(to),
            linked: Vec::new(),
            depths: HashMap::new(),
            folders: 0,
            left_out: LeftOut::default(),
        }
    }

    /// Walks all folders and returns how many there were, and what was left out.
    pub fn run(mut self, roots: Vec<Folder>) -> (u64, LeftOut) {
        for root in roots {
            self.root(&root);
        }
        for (dir, root, dev, name, file) in std::mem::take(&mut self.linked) {
            self.outbox.push(dir, root, dev, &name, file);
        }
        self.outbox.flush();
        (self.folders, self.left_out)
    }

    fn root(&mut self, root: &Folder) {
        let path = super::walk::path_of(self.walk.dirs, root.dir, None);
        let mut walk = WalkDir::new(path).follow_links(true).sort_by_file_name();
        if let Some(max) = self.walk.max_depth {
            walk = walk.max_depth(max as usize);
        }
        let mut stack: Vec<(DirId, Option<Arc<IgnoreRules>>)> = Vec::new();
        let mut entries = walk.into_iter();
        while let Some(entry) = entries.next() {
            if self.walk.stop.load(Ordering::Relaxed) {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.failed(&error);
                    continue;
                }
            };
            stack.truncate(entry.depth());
            let is_folder = entry.file_type().is_dir();
            if entry.depth() == 0 {
                self.folders += 1;
                let rules = self.rules(entry.path(), None);
                stack.push((root.dir, rules));
                continue;
            }
            let Some((above, rules)) = stack.last().cloned() else {
                continue;
            };
            if !self.wanted(&entry, is_folder, rules.as_deref()) {
                if is_folder {
                    entries.skip_current_dir();
                }
                continue;
            }
            if !is_folder {
                self.file(&entry, above);
                continue;
            }
            if self.walk.max_depth == Some(entry.depth() as u32) {
                // It is not listed on this way, but may be on another that is shorter.
                self.left_out.filtered += 1;
                continue;
            }
            match self.folder(&entry, above, root.root_dev) {
                Some(dir) => {
                    let rules = self.rules(entry.path(), rules);
                    stack.push((dir, rules));
                }
                None => entries.skip_current_dir(),
            }
        }
    }

    fn wanted(&mut self, entry: &DirEntry, is_folder: bool, rules: Option<&IgnoreRules>) -> bool {
        let path = entry.path().as_os_str().as_bytes();
        let filter = self.walk.filter;
        let mut verdict = filter.entry(entry.file_name().as_bytes(), is_folder);
        if verdict == Verdict::Keep {
            if rules.is_some_and(|rules| rules.is_ignored(path, is_folder)) {
                self.left_out.ignored += 1;
                return false;
            }
            if filter.needs_path() {
                verdict = filter.path(path, is_folder);
            }
        }
        count(&mut self.left_out, verdict)
    }

    /// Enters a folder; nothing if it was entered before, by whatever way that was as short.
    fn folder(&mut self, entry: &DirEntry, above: DirId, root_dev: u64) -> Option<DirId> {
        let path = CString::new(entry.path().as_os_str().as_bytes()).ok()?;
        let opened = open::folder_following(open::CWD, &path);
        let here = opened.and_then(|fd| Ok((stat::descriptor(&fd)?, fd)));
        let (here, fd) = match here {
            Ok(both) => both,
            Err(e) => {
                self.problem(entry.path(), ProblemKind::UnreadableFolder, Some(e.into()));
                return None;
            }
        };
        if here.dev != self.walk.dirs.read().identity(above).0 {
            if self.walk.one_file_system && here.dev != root_dev {
                self.left_out.other_file_system += 1;
                return None;
            }
            if statfs::is_pseudo(&fd) {
                self.left_out.pseudo_file_system += 1;
                return None;
            }
        }
        let name = entry.file_name().as_bytes();
        let depth = entry.depth();
        let mut dirs = self.walk.dirs.write();
        if let Some(dir) = dirs.add(above, name, here.dev, here.ino) {
            self.folders += 1;
            self.depths.insert(dir, depth);
            return Some(dir);
        }
        // Where depth counts, a shorter way leads further down. What it finds a second time is
        // known by then.
        let dir = dirs.find(here.dev, here.ino)?;
        let best = self.depths.get_mut(&dir)?;
        let shorter = self.walk.max_depth.is_some() && depth < *best;
        if shorter {
            *best = depth;
        }
        shorter.then_some(dir)
    }

    fn file(&mut self, entry: &DirEntry, above: DirId) {
        let root = self.walk.dirs.read().root(above);
        if !entry.file_type().is_file() {
            self.left_out.special += 1;
            return;
        }
        let Ok(path) = CString::new(entry.path().as_os_str().as_bytes()) else {
            return;
        };
        let stat = match stat::target(open::CWD, &path) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => return,
            Err(e) => {
                let kind = ProblemKind::UnreadableMetadata;
                return self.problem(entry.path(), kind, Some(e.into()));
            }
        };
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        if !count(&mut self.left_out, verdict) {
            return;
        }
        let name = entry.file_name().as_bytes();
        let mut file = found_file(&stat, name);
        file.via_link = entry.path_is_symlink();
        self.walk.files.fetch_add(1, Ordering::Relaxed);
        if file.via_link {
            self.linked
                .push((above, root, stat.dev, name.to_owned(), file));
        } else {
            self.outbox.push(above, root, stat.dev, name, file);
        }
    }

    fn rules(
        &mut self,
        folder: &Path,
        above: Option<Arc<IgnoreRules>>,
    ) -> Option<Arc<IgnoreRules>> {
        let mut rules = above;
        for name in self.walk.ignore_files {
            let path = folder.join(name);
            let contents = match read_ignore_file(folder, name) {
                Ok(contents) => Some(contents),
                Err(rustix::io::Errno::NOENT) => None,
                Err(e) => {
                    self.problem(&path, ProblemKind::UnreadableFile, Some(e.into()));
                    None
                }
            };
            if let Some(contents) = contents {
                let folder = folder.as_os_str().as_bytes();
                let (pushed, bad) = IgnoreRules::push(rules.take(), folder, &contents);
                rules = Some(pushed);
                for line in bad {
                    let said = format!("line {}: {}", line.number, line.reason);
                    let cause = std::io::Error::other(said);
                    self.tell(&path, ProblemKind::BadIgnoreFile, Some(cause));
                }
            }
        }
        rules
    }

    fn failed(&mut self, error: &walkdir::Error) {
        let path = error.path().map_or_else(PathBuf::new, Path::to_owned);
        if error.loop_ancestor().is_some() {
            self.left_out.symlinks += 1;
            return self.tell(&path, ProblemKind::LinkLoop, None);
        }
        let cause = error.io_error();
        let code = cause.and_then(std::io::Error::raw_os_error);
        let cause = code.map(std::io::Error::from_raw_os_error);
        let is_link = std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink());
        if is_link {
            self.left_out.symlinks += 1;
            return self.tell(&path, ProblemKind::BrokenLink, cause);
        }
        self.problem(&path, ProblemKind::UnreadableFolder, cause);
    }

    fn problem(&mut self, path: &Path, kind: ProblemKind, cause: Option<std::io::Error>) {
        self.left_out.unreadable += 1;
        self.tell(path, kind, cause);
    }

    fn tell(&self, path: &Path, kind: ProblemKind, cause: Option<std::io::Error>) {
        self.walk.observer.problem(Problem {
            path: path.to_owned(),
            kind,
            cause,
        });
    }
}

/// Reads an ignore file by its folder's descriptor: never a link's target, never a pipe.
fn read_ignore_file(folder: &Path, name: &str) -> rustix::io::Result<Vec<u8>> {
    let invalid = |_| rustix::io::Errno::NOENT;
    let folder = CString::new(folder.as_os_str().as_bytes()).map_err(invalid)?;
    let name = CString::new(name).map_err(invalid)?;
    let folder = open::folder_following(open::CWD, &folder)?;
    super::ignore_file::read(folder.as_fd(), &name)
}
