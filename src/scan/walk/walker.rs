//! One walker: enters a folder, lists it, and passes on what takes part.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crossbeam_channel::Sender;
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::event::{Problem, ProblemKind};
use crate::file::{DirHandles, DirId, FolderId};
use crate::scan::enter::{
    Entered, enter, enter_again, is_placeholder, is_same_place, numbering_of_name,
};
use crate::scan::filter::Verdict;
use crate::scan::found::{Outbox, Place, ScanMessage};
use crate::scan::ignore_file::{self, IgnoreRules};
use crate::scan::listing::Listing;
use crate::scan::queue::Queue;
use crate::scan::stamp::Stamp;
use crate::sys::stat::Stat;
use crate::sys::{dirent, open, rusage, stat, statfs};

use super::{Folder, Left, Round, Walk, Walked, count, found_file, path_of};

/// A thread that lists folders.
pub struct Walker<'a> {
    walk: &'a Walk<'a>,
    queue: &'a Queue<Folder>,
    outbox: Outbox<'a>,
    handles: DirHandles,
    buffer: dirent::Buffer,
    listing: Listing,
    below: Vec<Folder>,
    path: Vec<u8>,
    round: Round,
    /// What it found.
    pub walked: Walked,
}

impl<'a> Walker<'a> {
    /// Nothing listed yet.
    pub fn new(
        walk: &'a Walk<'a>,
        round: Round,
        queue: &'a Queue<Folder>,
        to: &'a Sender<ScanMessage>,
    ) -> Self {
        Self {
            walk,
            queue,
            outbox: Outbox::new(to),
            handles: DirHandles::new(walk.open_folders),
            buffer: dirent::Buffer::default(),
            listing: Listing::default(),
            below: Vec::new(),
            path: Vec::new(),
            round,
            walked: Walked::default(),
        }
    }

    /// Lists folders until there are none.
    pub fn work(&mut self) {
        let mut waits = rusage::thread_waits();
        while let Some((crew, folder)) = self.queue.take(|| self.outbox.flush()) {
            if self.walk.stop.load(Ordering::Relaxed) {
                self.queue.stop();
            } else {
                self.visit(folder);
            }
            if self.queue.done(crew, &mut self.below) && self.round == Round::First {
                self.outbox.walked(crew);
            }
            let now = rusage::thread_waits();
            if now > waits {
                self.queue.allow_more(crew);
            }
            waits = rusage::thread_waits();
        }
        self.outbox.flush();
    }

    fn visit(&mut self, folder: Folder) {
        match folder.left {
            Left::New => {}
            Left::Listed(stamp) => return self.look_again(folder, stamp),
            Left::Passed(id) => return self.pass_again(folder, id),
        }
        match self.enter(&folder) {
            Ok(Some((dir, fd, stat))) => self.list_and_note(dir, fd, &stat, folder),
            Ok(None) => {}
            Err(Errno::STALE) if folder.name.is_none() && self.walk.tied_roots => {
                self.walked.left_out.unreadable += 1;
                self.tell(folder.dir, None, ProblemKind::ReplacedRoot, None);
            }
            Err(e) => self.unreadable(&folder, ProblemKind::UnreadableFolder, e),
        }
    }

    fn list_and_note(&mut self, dir: DirId, fd: OwnedFd, stat: &Stat, folder: Folder) {
        let stamp = self.walk.list_again.then(|| Stamp::of(stat, &fd));
        self.list(dir, &fd, &folder);
        if let Some(stamp) = stamp {
            self.walked.listed.push(Folder {
                dir,
                name: None,
                left: Left::Listed(stamp),
                ..folder
            });
        }
        // Its folders are next, most likely: from here each is one step away, from the
        // root as many as it is deep.
        self.handles.put(dir, fd);
    }

    /// Lists a folder again if it changed since.
    fn look_again(&mut self, folder: Folder, stamp: Stamp) {
        let dir = folder.dir;
        if self.round == Round::Again {
            stamp.wait_until_told_apart();
        }
        let now = self.open_again(dir);
        let now = now.and_then(|fd| Ok((stat::descriptor(&fd)?, fd)));
        let (stat, fd) = match now {
            Ok(both) => both,
            // One that is gone was moved or removed, by which the folder above changed.
            Err(Errno::NOENT | Errno::NOTDIR) => return,
            Err(error) => return self.unreadable_dir(dir, error),
        };
        let is_this = is_same_place(self.walk.dirs.read().id(dir), &stat, &fd);
        if is_this && stamp.still_holds(&stat) {
            return self.walked.listed.push(folder);
        }
        if self.round == Round::Last {
            self.walked.left_out.unsettled += 1;
            return self.tell(dir, None, ProblemKind::Unsettled, None);
        }
        self.walked.changed.push(dir);
        let dir = match is_this {
            true => dir,
            // Something was mounted there or unmounted, which no folder's times tell.
            false => match enter_again(self.walk.dirs, dir, &stat, fd.as_fd()) {
                Entered::New(dir) => dir,
                Entered::Before(_) => return,
            },
        };
        // What is left out was counted when the folder was listed for the first time.
        let before = self.walked.left_out;
        self.list_and_note(dir, fd, &stat, folder);
        self.walked.folders -= 1;
        self.walked.left_out = before;
    }

    /// Looks whether a folder that was passed over is still the one that it was.
    fn pass_again(&mut self, folder: Folder, id: FolderId) {
        let Some(name) = &folder.name else { return };
        let here = self.handles.get(folder.dir, self.walk.dirs);
        let here = here.and_then(|above| stat::entry(above, name));
        if here.is_ok_and(|here| FolderId::from(&here) == id) {
            return self.walked.listed.push(folder);
        }
        if self.round == Round::Last {
            self.walked.left_out.unsettled += 1;
            return self.tell(folder.dir, Some(name), ProblemKind::Unsettled, None);
        }
        self.walked.changed.push(folder.dir);
        self.visit(Folder {
            left: Left::New,
            ..folder
        });
    }

    fn open_again(&self, dir: DirId) -> rustix::io::Result<OwnedFd> {
        let handle = self.walk.dirs.read().open(dir)?;
        open::folder_following(handle.as_fd(), c".")
    }

    /// Opens a folder and gives it a number; nothing if it is not to be listed.
    fn enter(&mut self, folder: &Folder) -> rustix::io::Result<Option<(DirId, OwnedFd, Stat)>> {
        let dirs = self.walk.dirs;
        let Some(name) = &folder.name else {
            // A root has its number already, and may be reached through a link.
            let fd = self.open_again(folder.dir)?;
            let here = stat::descriptor(&fd)?;
            return Ok(Some((folder.dir, fd, here)));
        };
        let fd = match self.handles.get(folder.dir, dirs) {
            Ok(above) => open::folder(above, name),
            Err(e) => Err(e),
        };
        let fd = match fd {
            Err(Errno::MFILE | Errno::NFILE) => self.open_patiently(folder.dir, name)?,
            // Moved or removed since the folder above was listed.
            Err(Errno::NOENT) => {
                self.vanished(folder, name);
                return Ok(None);
            }
            other => other?,
        };
        let here = stat::descriptor(&fd)?;
        let above = dirs.read().identity(folder.dir).0;
        if here.dev != above {
            if self.walk.one_file_system && here.dev != folder.root_dev {
                self.walked.left_out.other_file_system += 1;
                return Ok(None);
            }
            if statfs::is_pseudo(&fd) {
                self.walked.left_out.pseudo_file_system += 1;
                return Ok(None);
            }
        }
        if is_placeholder(&here, &fd) {
            return Ok(None);
        }
        match enter(dirs, folder.dir, name.to_bytes(), &here, fd.as_fd()) {
            Entered::New(dir) => Ok(Some((dir, fd, here))),
            Entered::Before(_) => {
                self.walked.left_out.listed_before += u64::from(self.round == Round::First);
                if self.walk.list_again {
                    self.walked.listed.push(Folder {
                        left: Left::Passed(FolderId::from(&here)),
                        ..folder.clone()
                    });
                }
                Ok(None)
            }
        }
    }

    fn vanished(&mut self, folder: &Folder, name: &CStr) {
        self.walked.left_out.vanished += 1;
        if !self.walk.list_again {
            return self.tell(folder.dir, Some(name), ProblemKind::Vanished, None);
        }
        // The folder above did not change if something was mounted on it, or above it.
        self.walked.listed.push(Folder {
            dir: folder.dir,
            name: None,
            depth: folder.depth.saturating_sub(1),
            root_dev: folder.root_dev,
            rules: folder.rules.clone(),
            left: Left::Listed(Stamp::OUTDATED),
        });
    }

    /// Waits for others to close something.
    fn open_patiently(&mut self, above: DirId, name: &CStr) -> rustix::io::Result<OwnedFd> {
        for attempt in 0..1000 {
            self.handles.close_all();
            thread::sleep(Duration::from_millis(attempt.min(10)));
            let handle = self.handles.get(above, self.walk.dirs);
            match handle.and_then(|above| open::folder(above, name)) {
                Err(Errno::MFILE | Errno::NFILE) => {}
                other => return other,
            }
        }
        Err(Errno::MFILE)
    }

    fn list(&mut self, dir: DirId, fd: &OwnedFd, folder: &Folder) {
        self.walked.folders += 1;
        let mut listing = std::mem::take(&mut self.listing);
        listing.clear();
        let ended = dirent::list(fd, &mut self.buffer, |name, ino, kind| {
            listing.push(name, ino, kind);
        });
        if let Err(e) = ended {
            self.unreadable_dir(dir, e);
        }
        let rules = self.rules_of(dir, fd, folder, &listing);
        let needs_path = self.walk.filter.needs_path() || rules.is_some();
        if needs_path {
            self.walk.dirs.read().path(dir, &mut self.path);
        }
        let deeper = self.walk.max_depth.is_none_or(|max| folder.depth + 1 < max);
        let root = self.walk.dirs.read().root(dir);
        let mut found = 0;
        listing.sort();
        for &entry in listing.entries() {
            let name = listing.name(entry);
            let kind = match entry.kind {
                FileType::Unknown => self.kind_of(dir, fd.as_fd(), name),
                kind => kind,
            };
            let is_folder = kind == FileType::Directory;
            match kind {
                FileType::Directory | FileType::RegularFile => {}
                FileType::Symlink => {
                    self.walked.left_out.symlinks += 1;
                    continue;
                }
                FileType::Unknown => continue,
                _ => {
                    self.walked.left_out.special += 1;
                    continue;
                }
            }
            if !self.wanted(name, is_folder, needs_path, rules.as_deref()) {
                continue;
            }
            if !is_folder {
                found += u64::from(self.file(dir, root, fd.as_fd(), name));
            } else if deeper {
                self.below.push(Folder {
                    dir,
                    name: Some(name.to_owned()),
                    depth: folder.depth + 1,
                    root_dev: folder.root_dev,
                    rules: rules.clone(),
                    left: Left::New,
                });
            } else {
                self.walked.left_out.filtered += 1;
            }
        }
        self.walk.files.fetch_add(found, Ordering::Relaxed);
        self.listing = listing;
    }

    fn wanted(
        &mut self,
        name: &CStr,
        is_folder: bool,
        needs_path: bool,
        rules: Option<&IgnoreRules>,
    ) -> bool {
        let filter = self.walk.filter;
        let mut verdict = filter.entry(name.to_bytes(), is_folder);
        if verdict == Verdict::Keep && needs_path {
            let prefix = self.path.len();
            self.path.extend_from_slice(name.to_bytes());
            if rules.is_some_and(|rules| rules.is_ignored(&self.path, is_folder)) {
                self.path.truncate(prefix);
                self.walked.left_out.ignored += 1;
                return false;
            }
            verdict = filter.path(&self.path, is_folder);
            self.path.truncate(prefix);
        }
        count(&mut self.walked.left_out, verdict)
    }

    /// Looks a file up and hands it over; true if it takes part.
    fn file(&mut self, dir: DirId, root: u32, fd: BorrowedFd<'_>, name: &CStr) -> bool {
        let stat = match stat::entry(fd, name) {
            Ok(stat) => stat,
            // Gone since the listing.
            Err(Errno::NOENT) => {
                self.walked.left_out.vanished += 1;
                return false;
            }
            Err(e) => {
                self.problem(dir, Some(name), ProblemKind::UnreadableMetadata, e);
                return false;
            }
        };
        if stat.kind != FileType::RegularFile {
            return false;
        }
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        let keep = count(&mut self.walked.left_out, verdict);
        if keep {
            let file = found_file(&stat, name.to_bytes());
            let dev = stat.dev;
            let numbering = || numbering_of_name(fd, name, false);
            self.outbox
                .push(Place { dir, root, dev }, name.to_bytes(), file, numbering);
        }
        keep
    }

    fn kind_of(&mut self, dir: DirId, fd: BorrowedFd<'_>, name: &CStr) -> FileType {
        match stat::entry(fd, name) {
            Ok(stat) => stat.kind,
            Err(Errno::NOENT) => FileType::Unknown,
            Err(e) => {
                self.problem(dir, Some(name), ProblemKind::UnreadableMetadata, e);
                FileType::Unknown
            }
        }
    }

    /// The ignore rules that hold in a folder: those from above and its own ignore files'.
    fn rules_of(
        &mut self,
        dir: DirId,
        fd: &OwnedFd,
        folder: &Folder,
        listing: &Listing,
    ) -> Option<Arc<IgnoreRules>> {
        let mut rules = folder.rules.clone();
        for file in self.walk.ignore_files {
            if !listing.contains(file.as_bytes()) {
                continue;
            }
            let Ok(name) = CString::new(file.as_str()) else {
                continue;
            };
            match ignore_file::read(fd.as_fd(), &name) {
                Ok(contents) => {
                    let mut path = Vec::new();
                    self.walk.dirs.read().path(dir, &mut path);
                    let (pushed, bad) = IgnoreRules::push(rules.take(), &path, &contents);
                    rules = Some(pushed);
                    for line in bad {
                        let cause =
                            std::io::Error::other(format!("line {}: {}", line.number, line.reason));
                        self.tell(dir, Some(&name), ProblemKind::BadIgnoreFile, Some(cause));
                    }
                }
                Err(e) => self.problem(dir, Some(&name), ProblemKind::UnreadableFile, e),
            }
        }
        rules
    }

    fn unreadable_dir(&mut self, dir: DirId, e: Errno) {
        self.problem(dir, None, ProblemKind::UnreadableFolder, e);
    }

    fn unreadable(&mut self, folder: &Folder, kind: ProblemKind, e: Errno) {
        self.problem(folder.dir, folder.name.as_deref(), kind, e);
    }

    fn problem(&mut self, dir: DirId, name: Option<&CStr>, kind: ProblemKind, e: Errno) {
        self.walked.left_out.unreadable += 1;
        self.tell(dir, name, kind, Some(e.into()));
    }

    fn tell(
        &self,
        dir: DirId,
        name: Option<&CStr>,
        kind: ProblemKind,
        cause: Option<std::io::Error>,
    ) {
        self.walk.observer.problem(Problem {
            path: path_of(self.walk.dirs, dir, name),
            kind,
            cause,
        });
    }
}
