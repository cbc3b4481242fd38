//! One walker: a thread that takes jobs from the queue, mostly folders to list.

use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crossbeam_channel::Sender;
use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use crate::event::{Problem, ProblemKind};
use crate::file::{
    DirHandles, DirId, FolderPlace, ManagedPaths, Numbering, Spellings, is_trash, may_be_trash,
};
use crate::heartbeat::{Subject, current};
use crate::lock::locked;
use crate::scan::enter::{Entered, Stamp, enter, is_placeholder};
use crate::scan::found::{OtherEntry, Outbox, ScanMessage, unseen_by_problem};
use crate::scan::listing::Listing;
use crate::scan::queue::Queue;
use crate::sys::names::{self, Entries};
use crate::sys::stat::{self, Stat};
use crate::sys::{open, process, statfs};
use crate::tree::{EntryKind, Unseen};

use super::results::{Kept, WalkerRecord, hand_over, keep};
use super::{FIRST_GROUP, Folder, Job, ReachedBy, Walk, Walked, path_of};

/// Maximum number of attempts to open a folder while descriptors are short, up to 10 ms apart.
const ATTEMPTS: u64 = 1000;

/// A thread that lists folders and checks roots.
pub struct Walker {
    pub(super) walk: Arc<Walk>,
    queue: Arc<Queue<Job>>,
    /// Its number among the walkers.
    number: usize,
    pub(super) outbox: Outbox,
    handles: DirHandles,
    pub(super) buffer: names::EntryBuffer,
    pub(super) listing: Listing,
    pub(super) below: Vec<Job>,
    pub(super) path: Vec<u8>,
    /// Names since the last check of the free memory.
    pub(super) unlooked: usize,
    /// The device to which the last link to a file led.
    pub(super) linked_device: Option<(u64, Option<Numbering>)>,
    /// What is known of the paths of roots, while roots are checked.
    pub(super) known_paths: KnownPaths,
    /// The results of the current job.
    pub(super) walked: Walked,
    /// The results of the jobs before.
    kept: Arc<Mutex<Kept>>,
}

/// What is known of the paths of roots.
#[derive(Default)]
pub(super) struct KnownPaths {
    /// Folders of files that were named one by one, by path and root.
    pub file_folders: HashMap<(Vec<u8>, u32), DirId>,
    pub spellings: Spellings,
    pub managed: ManagedPaths,
}

impl Walker {
    /// A walker that has done nothing yet, and what others know of it.
    pub fn new(
        walk: &Arc<Walk>,
        queue: &Arc<Queue<Job>>,
        number: usize,
        to: &Sender<ScanMessage>,
    ) -> (Self, WalkerRecord) {
        let kept: Arc<Mutex<Kept>> = Arc::default();
        let walker = Self {
            walk: Arc::clone(walk),
            queue: Arc::clone(queue),
            number,
            outbox: Outbox::new(to),
            handles: DirHandles::new(walk.open_folders),
            buffer: names::EntryBuffer::default(),
            listing: Listing::default(),
            below: Vec::new(),
            path: Vec::new(),
            unlooked: 0,
            linked_device: None,
            known_paths: KnownPaths::default(),
            walked: Walked::default(),
            kept: Arc::clone(&kept),
        };
        let heartbeat = walk.watchlist.admit(Subject::Path);
        (walker, WalkerRecord { heartbeat, kept })
    }

    /// Takes jobs until the queue is stopped, or if it `may_wait` for none, until there are none. Calls `wake` where
    /// the thread that starts walkers has something to look at.
    pub fn work(mut self, may_wait: bool, wake: impl Fn()) {
        let mut waits = process::thread_waits();
        let mut has_waited = false;
        loop {
            current::rest();
            let mut was_idle = false;
            let taken = self.queue.take(self.number, || {
                was_idle = true;
                hand_over(&self.kept, &self.outbox);
                may_wait
            });
            let Some((group, job)) = taken else { break };
            if was_idle {
                waits = process::thread_waits();
            }
            let is_folder = matches!(job, Job::Folder(_));
            match job {
                _ if self.is_stopped() => self.leave(1),
                Job::Root(root) => self.look_at_root(&root),
                Job::Folder(folder) => self.walk_folder(folder),
            }
            keep(&self.kept, &mut self.walked, &mut self.outbox);
            let left = self.queue.done(self.number, group, &mut self.below);
            if !left.anywhere {
                wake();
            }
            if !is_folder {
                continue;
            }
            // Links may lead to more.
            if !left.in_group && !self.walk.follow_links {
                hand_over(&self.kept, &self.outbox);
                self.outbox.walked(group - FIRST_GROUP);
            }
            let before = std::mem::replace(&mut waits, process::thread_waits());
            let waited_before = std::mem::replace(&mut has_waited, waits > before);
            // Now and then it waits for a lock. For a disk, it waits in nearly every folder.
            if has_waited && waited_before && self.queue.allow_more(group) {
                wake();
            }
        }
        hand_over(&self.kept, &self.outbox);
    }

    fn walk_folder(&mut self, folder: Folder) {
        if !self.known_paths.file_folders.is_empty() {
            self.known_paths = KnownPaths::default();
        }
        let name = folder.name.as_deref().map_or(&b""[..], CStr::to_bytes);
        current::ask_about_name(folder.dir.0, name);
        if self.is_put_aside(&folder) {
            locked(&self.walk.aside).push(folder);
        } else {
            locked(&self.kept).is_visiting = true;
            self.visit(folder);
        }
    }

    fn device_of(&self, dir: DirId) -> u64 {
        self.walk.dirs.read().identity(dir).0
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.walk.stop.load(Ordering::Relaxed) || self.walk.full.load(Ordering::Relaxed)
    }

    /// True if the device of a folder does not answer.
    fn is_put_aside(&self, folder: &Folder) -> bool {
        let watchlist = &self.walk.watchlist;
        watchlist.any_silent() && watchlist.is_silent(self.device_of(folder.dir))
    }

    pub(super) fn visit(&mut self, folder: Folder) {
        if folder.reached_by == ReachedBy::Link {
            return self.follow(folder);
        }
        match self.enter(&folder) {
            Ok(Some((dir, fd, stat))) => self.list_and_note(dir, fd, stat, &folder),
            Ok(None) => {}
            Err(e) => {
                let is_tied = folder.name.is_none() && self.walk.tied_roots;
                let (kind, cause) = match e {
                    Errno::STALE if is_tied => (ProblemKind::ReplacedRoot, None),
                    e if folder.is_root() => (ProblemKind::UnreadableRoot, Some(e)),
                    e => (ProblemKind::UnreadableFolder, Some(e)),
                };
                self.problem(folder.dir, folder.name.as_deref(), kind, cause);
            }
        }
    }

    fn list_and_note(&mut self, dir: DirId, fd: OwnedFd, stat: Stat, folder: &Folder) {
        current::ask_about_name(dir.0, b"");
        if self.walk.tell_times {
            let stamp = current::resting(|| Stamp::that_tells(stat, &fd));
            self.walked.listed.push((dir, stamp));
        }
        self.list(dir, &fd, folder);
        // Its folders are next, most likely: from here each is one step away, from the
        // root as many as it is deep.
        if !self.below.is_empty() {
            self.handles.put(dir, fd);
        }
    }

    /// Runs a function in a folder. When descriptors run out, it waits until one is free again.
    pub(super) fn with_folder<T>(
        &mut self,
        dir: DirId,
        what: impl Fn(BorrowedFd<'_>) -> Result<T>,
    ) -> Result<T> {
        for attempt in 0..ATTEMPTS {
            let folder = self.handles.get(dir, &self.walk.dirs);
            match folder.and_then(&what) {
                Err(Errno::MFILE | Errno::NFILE) => {}
                other => return other,
            }
            self.handles.close_all();
            current::beat();
            thread::sleep(Duration::from_millis(attempt.min(10)));
        }
        Err(Errno::MFILE)
    }

    /// Opens a folder and gives it a number; `None` if it is not to be listed.
    fn enter(&mut self, folder: &Folder) -> Result<Option<(DirId, OwnedFd, Stat)>> {
        let Some(name) = &folder.name else {
            // It has its number already: a root, or what a link leads to.
            let fd = self.with_folder(folder.dir, |at| open::folder_following(at, c"."))?;
            let here = stat::descriptor(&fd)?;
            self.walked.folders += 1;
            return Ok(Some((folder.dir, fd, here)));
        };
        let is_trash = self.is_trash(folder, name);
        if is_trash && self.walk.skip_trash {
            self.skip_trash(folder, name);
            return Ok(None);
        }
        let fd = self.with_folder(folder.dir, |above| match folder.reached_by {
            ReachedBy::Entry => open::folder(above, name),
            ReachedBy::Link | ReachedBy::LinkToFolder => open::folder_following(above, name),
        });
        let fd = match fd {
            // Moved or removed since the folder above was listed.
            Err(Errno::NOENT) => {
                self.walked.left_out.vanished += 1;
                self.tell(folder.dir, Some(name), ProblemKind::Vanished, None);
                return Ok(None);
            }
            other => other?,
        };
        let here = stat::descriptor(&fd)?;
        if self.is_elsewhere(folder, &here, &fd) || is_placeholder(&here, &fd) {
            return Ok(None);
        }
        let is_trash = is_trash || self.walk.trash.is_own(here.dev, here.ino);
        if is_trash && self.walk.skip_trash {
            self.skip_trash(folder, name);
            return Ok(None);
        }
        let dirs = &self.walk.dirs;
        let place = FolderPlace::Below(folder.dir, name.to_bytes());
        match enter(dirs, place, &here, fd.as_fd()) {
            Entered::New(dir) => {
                self.walked.folders += 1;
                if is_trash {
                    dirs.write().mark_trash(dir);
                }
                Ok(Some((dir, fd, here)))
            }
            Entered::Before(dir) => {
                self.pass_over(folder, name, dir);
                Ok(None)
            }
            Entered::OneOfTooMany => {
                self.problem(folder.dir, Some(name), ProblemKind::TooManyAlike, None);
                Ok(None)
            }
        }
    }

    /// True if a folder must not be listed because of its file system.
    pub(super) fn is_elsewhere(&mut self, folder: &Folder, here: &Stat, fd: impl AsFd) -> bool {
        let above = self.walk.dirs.read().id(folder.dir);
        if here.dev == above.dev {
            return false;
        }
        let is_beyond = here.dev != folder.root_dev && !here.is_in_mount(above.mount);
        if self.walk.one_file_system && is_beyond {
            self.walked.left_out.other_file_system += 1;
            self.unseen(folder.dir, folder.name.as_deref(), Unseen::OtherFileSystem);
            return true;
        }
        let is_pseudo = statfs::is_pseudo(fd);
        if is_pseudo {
            self.walked.left_out.pseudo_file_system += 1;
            self.unseen(folder.dir, folder.name.as_deref(), Unseen::PseudoFileSystem);
        }
        is_pseudo
    }

    /// Records another way to a known folder.
    fn pass_over(&mut self, folder: &Folder, name: &CStr, before: DirId) {
        let is_link = folder.reached_by != ReachedBy::Entry;
        if is_link && self.walk.dirs.read().holds(before, folder.dir) {
            self.walked.left_out.symlinks += 1;
            return self.tell(folder.dir, Some(name), ProblemKind::LinkLoop, None);
        }
        self.walked.left_out.listed_before += 1;
        self.unseen(folder.dir, Some(name), Unseen::ListedBefore);
    }

    /// Records an entry that no other message reports, if such records are requested.
    pub(super) fn other(&mut self, dir: DirId, name: Option<&CStr>, kind: EntryKind) {
        if self.walk.tell_others {
            self.walked.others.push(OtherEntry::new(dir, name, kind));
        }
    }

    pub(super) fn unseen(&mut self, dir: DirId, name: Option<&CStr>, unseen: Unseen) {
        self.other(dir, name, EntryKind::Unseen(unseen));
    }

    /// Reports something that cannot be listed or read.
    pub(super) fn problem(
        &mut self,
        dir: DirId,
        name: Option<&CStr>,
        kind: ProblemKind,
        cause: Option<Errno>,
    ) {
        self.walked.left_out.unreadable += 1;
        self.tell(dir, name, kind, cause.map(Into::into));
    }

    /// Counts entries that come after the listing was told to end.
    pub(super) fn leave(&mut self, entries: usize) {
        if self.walk.full.load(Ordering::Relaxed) {
            self.walked.left_out.memory_short += entries as u64;
        }
    }

    pub(super) fn tell(
        &mut self,
        dir: DirId,
        name: Option<&CStr>,
        kind: ProblemKind,
        cause: Option<std::io::Error>,
    ) {
        if let Some(unseen) = unseen_by_problem(kind) {
            self.unseen(dir, name, unseen);
        }
        self.outbox.problem(Problem {
            path: path_of(&self.walk.dirs, dir, name),
            kind,
            cause,
        });
    }
}

/// Levels of folders in an empty trash: the folders of users, and `files` and `info` in each.
const LEVELS: u32 = 2;

impl Walker {
    /// True if a folder is a trash, by its name.
    pub(super) fn is_trash(&mut self, folder: &Folder, name: &CStr) -> bool {
        let name = name.to_bytes();
        may_be_trash(name)
            && self.with_folder(folder.dir, |above| Ok(is_trash(above, name))) == Ok(true)
    }

    /// Records a trash folder that is not entered, unless it is a root. Nothing is missed in one without files.
    pub(super) fn skip_trash(&mut self, folder: &Folder, name: &CStr) {
        let holds_nothing = self.with_folder(folder.dir, |above| {
            holds_nothing(open::folder(above, name)?, LEVELS)
        });
        if holds_nothing == Ok(true) {
            return;
        }
        let now = self.with_folder(folder.dir, |above| stat::entry(above, name));
        let is_root = now.is_ok_and(|now| !self.walk.dirs.read().met(&now).is_empty());
        let unseen = if is_root {
            Unseen::ListedBefore
        } else {
            Unseen::Trash
        };
        self.walked.left_out.trash += u64::from(!is_root);
        self.unseen(folder.dir, Some(name), unseen);
    }
}

/// True if a folder has no entries, or only such folders.
fn holds_nothing(folder: impl AsFd, levels: u32) -> Result<bool> {
    if levels == 0 {
        return names::is_empty_folder(folder);
    }
    let mut buffer = names::EntryBuffer::default();
    Entries::of(&folder, &mut buffer).each(|name, _, kind| {
        let may_be_folder = matches!(kind, FileType::Directory | FileType::Unknown);
        let below =
            || open::folder(&folder, name).and_then(|below| holds_nothing(below, levels - 1));
        may_be_folder && below() == Ok(true)
    })
}
