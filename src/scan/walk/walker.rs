//! One walker: enters a folder, lists it, and passes on what takes part.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::Sender;
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::event::{Problem, ProblemKind};
use crate::file::{DirHandles, DirId, FolderId};
use crate::pulse::Pulse;
use crate::scan::enter::{
    Entered, enter, enter_again, is_placeholder, is_same_place, numbering_of_name,
};
use crate::scan::filter::Verdict;
use crate::scan::found::{Outbox, Place, ScanMessage};
use crate::scan::ignore_file::{self, IgnoreRules};
use crate::scan::limits;
use crate::scan::listing::Listing;
use crate::scan::queue::Queue;
use crate::scan::stamp::Stamp;
use crate::sys::stat::Stat;
use crate::sys::{dirent, open, rusage, stat, statfs};

use super::{Folder, Left, Round, Walk, Walked, count, found_file, path_of};

/// What holds for all entries of a folder.
struct Here {
    dir: DirId,
    root: u32,
    rules: Option<Arc<IgnoreRules>>,
    needs_path: bool,
    /// Folders in it are listed.
    deeper: bool,
}

/// A thread that lists folders.
pub struct Walker {
    walk: Arc<Walk>,
    queue: Arc<Queue<Folder>>,
    outbox: Outbox,
    pulse: Arc<Pulse>,
    handles: DirHandles,
    buffer: dirent::Buffer,
    listing: Listing,
    below: Vec<Folder>,
    path: Vec<u8>,
    round: Round,
    /// Names met since it was looked how much memory is left.
    unlooked: u64,
    walked: Walked,
}

impl Walker {
    /// Nothing listed yet.
    pub fn new(
        walk: &Arc<Walk>,
        round: Round,
        queue: &Arc<Queue<Folder>>,
        to: &Sender<ScanMessage>,
        pulse: &Arc<Pulse>,
    ) -> Self {
        Self {
            walk: Arc::clone(walk),
            queue: Arc::clone(queue),
            outbox: Outbox::new(to, pulse),
            pulse: Arc::clone(pulse),
            handles: DirHandles::new(walk.open_folders),
            buffer: dirent::Buffer::default(),
            listing: Listing::default(),
            below: Vec::new(),
            path: Vec::new(),
            round,
            unlooked: 0,
            walked: Walked::default(),
        }
    }

    /// Lists folders until there are none; says what it found.
    pub fn work(mut self) -> Walked {
        let mut waits = rusage::thread_waits();
        loop {
            self.pulse.rest();
            let outbox = &mut self.outbox;
            let taken = self.queue.take(|| {
                outbox.flush();
                outbox.rest();
            });
            let Some((crew, folder)) = taken else { break };
            let name = folder.name.as_deref().map_or(&b""[..], CStr::to_bytes);
            if self.may_not_answer(&folder, name) {
                self.outbox.flush();
            }
            self.pulse.ask_about(folder.dir.0, name);
            if self.is_stopped() {
                self.queue.stop();
            } else if !self.is_put_aside(&folder) {
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
        self.walked
    }

    /// True if files from elsewhere could be held up by this folder.
    fn may_not_answer(&self, folder: &Folder, name: &[u8]) -> bool {
        let Walk {
            remote_names, dirs, ..
        } = &*self.walk;
        let is_elsewhere = || self.outbox.holds_others(dirs.read().identity(folder.dir).0);
        !remote_names.is_empty() && (remote_names.contains(name) || is_elsewhere())
    }

    fn is_stopped(&self) -> bool {
        self.walk.stop.load(Ordering::Relaxed) || self.walk.full.load(Ordering::Relaxed)
    }

    /// Puts a folder aside whose device does not answer.
    fn is_put_aside(&self, folder: &Folder) -> bool {
        let walk = &self.walk;
        let is_silent = || walk.ward.is_silent(walk.dirs.read().identity(folder.dir).0);
        if !walk.ward.any_devices() || !is_silent() {
            return false;
        }
        let aside = walk.aside.lock();
        let mut aside = aside.unwrap_or_else(PoisonError::into_inner);
        aside.push(folder.clone());
        true
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
            self.pulse.rest();
            stamp.wait_until_told_apart();
            self.pulse.beat();
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
            false => match enter_again(&self.walk.dirs, dir, &stat, fd.as_fd()) {
                Entered::New(dir) => dir,
                Entered::Before(_) => return,
                Entered::OneOfTooMany => return self.too_many_alike(dir, None),
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
        let here = self.handles.get(folder.dir, &self.walk.dirs);
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
        let handle = self.walk.dirs.open(dir)?;
        open::folder_following(handle.as_fd(), c".")
    }

    /// Opens a folder and gives it a number; nothing if it is not to be listed.
    fn enter(&mut self, folder: &Folder) -> rustix::io::Result<Option<(DirId, OwnedFd, Stat)>> {
        let walk = Arc::clone(&self.walk);
        let dirs = &*walk.dirs;
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
            Entered::OneOfTooMany => {
                self.too_many_alike(folder.dir, Some(name));
                Ok(None)
            }
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

    fn too_many_alike(&mut self, dir: DirId, name: Option<&CStr>) {
        self.walked.left_out.unreadable += 1;
        self.tell(dir, name, ProblemKind::TooManyAlike, None);
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
            self.pulse.beat();
            thread::sleep(Duration::from_millis(attempt.min(10)));
            let handle = self.handles.get(above, &self.walk.dirs);
            match handle.and_then(|above| open::folder(above, name)) {
                Err(Errno::MFILE | Errno::NFILE) => {}
                other => return other,
            }
        }
        Err(Errno::MFILE)
    }

    fn list(&mut self, dir: DirId, fd: &OwnedFd, folder: &Folder) {
        self.walked.folders += 1;
        let walk = Arc::clone(&self.walk);
        let mut listing = std::mem::take(&mut self.listing);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut entries = dirent::Entries::of(fd, &mut buffer);
        let (mut names, mut here) = (0, None);
        loop {
            listing.clear();
            let (pulse, stop) = (&*self.pulse, &*walk.stop);
            let ended = entries.each(|name, ino, kind| {
                listing.push(name, ino, kind);
                pulse.beat();
                !listing.is_full() && !stop.load(Ordering::Relaxed)
            });
            let ended = ended.unwrap_or_else(|e| {
                self.unreadable_dir(dir, e);
                true
            });
            let here = here.get_or_insert_with(|| self.here(dir, fd, folder, &listing, ended));
            self.portion(fd, folder, here, &mut listing);
            let met = listing.entries().len() as u64;
            names += met;
            let is_short = self.is_memory_short(dir, met);
            if ended || is_short || self.is_stopped() || self.is_too_much(dir, names) {
                break;
            }
        }
        (self.listing, self.buffer) = (listing, buffer);
    }

    /// What holds for all entries of a folder, of which these are the first; all of them if `is_whole`.
    fn here(
        &mut self,
        dir: DirId,
        fd: &OwnedFd,
        folder: &Folder,
        listing: &Listing,
        is_whole: bool,
    ) -> Here {
        let rules = self.rules_of(dir, fd, folder, listing, is_whole);
        let needs_path = self.walk.filter.needs_path() || rules.is_some();
        if needs_path {
            self.walk.dirs.read().path(dir, &mut self.path);
        }
        Here {
            dir,
            root: self.walk.dirs.read().root(dir),
            deeper: self.walk.max_depth.is_none_or(|max| folder.depth + 1 < max),
            rules,
            needs_path,
        }
    }

    /// Looks at some of a folder's entries.
    fn portion(&mut self, fd: &OwnedFd, folder: &Folder, here: &Here, listing: &mut Listing) {
        let &Here {
            dir,
            root,
            deeper,
            needs_path,
            ref rules,
        } = here;
        listing.sort();
        for &entry in listing.entries() {
            if self.walk.stop.load(Ordering::Relaxed) {
                return;
            }
            self.pulse.beat();
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
                self.file(dir, root, fd.as_fd(), name);
            } else if folder.depth + 1 >= limits::DEPTH {
                self.walked.left_out.unreadable += 1;
                self.tell(dir, Some(name), ProblemKind::TooDeep, None);
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
    }

    /// True if a folder with so many names is not to be listed any further.
    fn is_too_much(&mut self, dir: DirId, names: u64) -> bool {
        if names >= limits::NAMES {
            self.walked.left_out.unreadable += 1;
            self.tell(dir, None, ProblemKind::TooManyNames, None);
        }
        names >= limits::NAMES
    }

    /// Ends the whole walk where memory is nearly used up.
    fn is_memory_short(&mut self, dir: DirId, names: u64) -> bool {
        self.unlooked += names;
        if self.unlooked < limits::LOOK {
            return false;
        }
        self.unlooked = 0;
        if !limits::is_memory_short() {
            return false;
        }
        if !self.walk.full.swap(true, Ordering::Relaxed) {
            self.walked.left_out.unreadable += 1;
            self.tell(dir, None, ProblemKind::MemoryShort, None);
        }
        true
    }

    fn wanted(
        &mut self,
        name: &CStr,
        is_folder: bool,
        needs_path: bool,
        rules: Option<&IgnoreRules>,
    ) -> bool {
        let filter = &self.walk.filter;
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

    /// Looks a file up and hands it over if it takes part.
    fn file(&mut self, dir: DirId, root: u32, fd: BorrowedFd<'_>, name: &CStr) {
        let stat = match stat::entry(fd, name) {
            Ok(stat) => stat,
            // Gone since the listing.
            Err(Errno::NOENT) => {
                self.walked.left_out.vanished += 1;
                return;
            }
            Err(e) => return self.problem(dir, Some(name), ProblemKind::UnreadableMetadata, e),
        };
        if stat.kind != FileType::RegularFile {
            return;
        }
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        if count(&mut self.walked.left_out, verdict) {
            let file = found_file(&stat, name.to_bytes());
            let dev = stat.dev;
            let numbering = || numbering_of_name(fd, name, false);
            self.outbox
                .push(Place { dir, root, dev }, name.to_bytes(), file, numbering);
        }
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
        is_whole: bool,
    ) -> Option<Arc<IgnoreRules>> {
        let mut rules = folder.rules.clone();
        let walk = Arc::clone(&self.walk);
        for file in &walk.ignore_files {
            let is_listed = listing.contains(file.as_bytes());
            if !is_listed && is_whole {
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
                // It may be among those that are listed later.
                Err(Errno::NOENT) if !is_listed => {}
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
        self.outbox.problem(Problem {
            path: path_of(&self.walk.dirs, dir, name),
            kind,
            cause,
        });
    }
}
