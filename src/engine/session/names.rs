//! Matches names to files: during the scan where inode numbers are not enough, and once more before names are reported.
//!
//! The engine reads a file through one of its names, and compares the file with the scan's view of it. For the further
//! names of the file, only the scan's view exists, from other moments. The file may have been moved in between, or its
//! inode number given to another file. The engine therefore looks up each name of a file with several names a last time
//! before it reports the file.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use rustix::io::{Errno, Result};

use crate::device::Class;
use crate::event::ProblemKind;
use crate::file::{
    DevIndex, DirHandles, DirId, FileIndex, FolderId, FoundFile, NumberMap, as_listed,
};
use crate::heartbeat::current;
use crate::scan::TICK_NS;
use crate::sys::stat::{self, Stat};
use crate::tree::Unseen;
use crate::units::nanoseconds;

use super::Session;
use super::answers::to_path;
use crate::engine::order;

/// The time for which a look at a folder counts. A file of one name was not looked at again since it was read, either.
const LOOK_COUNTS: Duration = Duration::from_secs(1);

/// A name of a file.
type OwnedName = (DirId, Vec<u8>);

/// The folders and names that were looked up.
pub struct Names {
    /// Folders kept open for lookups of names.
    pub handles: DirHandles,
    /// Paths without links of folders on file systems whose inode numbers prove nothing.
    real_folders: HashMap<DirId, PathBuf>,
    /// The start of the run by both clocks, before any folder was listed.
    began: (Instant, SystemTime),
    /// Whether folders had changed since the start when they were looked at.
    changed: NumberMap<DirId, bool>,
    /// When the first of them was looked at.
    looked: Instant,
}

impl Names {
    /// Nothing was looked up yet. Keeps up to this many folders open.
    pub fn new(open_folders: usize) -> Self {
        Self {
            handles: DirHandles::new(open_folders),
            real_folders: HashMap::new(),
            began: (Instant::now(), SystemTime::now()),
            changed: NumberMap::default(),
            looked: Instant::now(),
        }
    }

    /// The start of the run, nanoseconds since 1970.
    pub fn began_ns(&self) -> i64 {
        nanoseconds(self.began.1)
    }

    /// The last time that a folder can have and be unchanged since the start; `None` if the clock was set meanwhile.
    fn unchanged_until(&self) -> Option<i64> {
        let (instant, time) = self.began;
        let by_clock = time.elapsed().ok()?;
        let was_set =
            by_clock.abs_diff(instant.elapsed()) > Duration::from_nanos(TICK_NS as u64 / 2);
        (!was_set).then_some(nanoseconds(time) - TICK_NS)
    }
}

/// A name that was looked up.
struct Entry {
    name: OwnedName,
    /// Device and inode of its folder, at that moment.
    folder: (u64, u64),
    stat: Stat,
}

impl Session<'_> {
    /// True if a name was met before, on a file system whose inode numbers do not tell folders apart.
    pub fn is_met_again(
        &mut self,
        found: &FoundFile,
        name: &[u8],
        dir: DirId,
        volume: DevIndex,
    ) -> bool {
        let alike = self.machine.may_be(found, dir, volume);
        let file_table = self.machine.file_table();
        let candidates = alike.into_iter().filter(|&file| {
            // Another name in another folder is no second way to one name, unless it is a link.
            !found.is_entry() || file_table.first_name(file) == name
        });
        let candidates: Vec<FileIndex> = candidates.collect();
        if candidates.is_empty() {
            return false;
        }
        let Some(this) = self.real_path(dir, name) else {
            return false;
        };
        let is_met = candidates.into_iter().any(|file| {
            let file_table = self.machine.file_table();
            let known = (file_table.dir(file), file_table.first_name(file).to_owned());
            self.real_path(known.0, &known.1).as_ref() == Some(&this)
        });
        if is_met {
            self.account.unseen(dir, name, Unseen::ListedBefore);
        }
        is_met
    }

    /// A name's path without links and `..`.
    pub fn real_path(&mut self, dir: DirId, name: &[u8]) -> Option<PathBuf> {
        let path = self.path_of(dir, name);
        let _call = current::call(&path);
        if self.config.follow_links {
            let real = std::fs::canonicalize(path).ok()?;
            return Some(as_listed(&real));
        }
        let folder = match self.names.real_folders.get(&dir) {
            Some(folder) => folder.clone(),
            None => {
                let folder = std::fs::canonicalize(self.path_of(dir, b".")).ok()?;
                self.names.real_folders.insert(dir, folder.clone());
                folder
            }
        };
        Some(folder.join(to_path(name.to_owned())))
    }

    /// Looks up the names of the files that have several, and drops those that lead elsewhere by now.
    pub fn settle_names(&mut self, files: impl IntoIterator<Item = FileIndex>) {
        for file in files {
            let file_table = self.machine.file_table();
            if file_table.is_in_doubt(file) && !self.is_proven(file) {
                self.settle_names_of(file);
            }
        }
    }

    /// True if all names of a file are in folders that have not changed since the run began: there they still lead to
    /// the file that the scan saw. One look at a folder takes the place of a look at each name in it.
    fn is_proven(&mut self, file: FileIndex) -> bool {
        let file_table = self.machine.file_table();
        let volume = file_table.volume(file);
        let class = self.reads.volumes.get(self.volume_of(file)).class;
        let is_local = file_table.numbering(volume).tells_folders()
            && !matches!(class, Class::Network | Class::Fuse);
        if !is_local || self.config.follow_links || file_table.has_other_records(file) {
            return false;
        }
        // No folder's times tell of a mount on a name.
        if !file_table.sighting(file, &self.dirs.read()).is_entry {
            return false;
        }
        // A folder that was reached through two mounts shows each entry twice, and no look at it tells.
        let is_shown_once = {
            let dirs = self.dirs.read();
            let names = file_table.names(file);
            let entries = names.map(|(dir, name)| (dirs.identity(dir), name));
            let mut entries: Vec<_> = entries.collect();
            entries.sort_unstable();
            entries.windows(2).all(|pair| pair[0] != pair[1])
        };
        let folders: Vec<DirId> = file_table.names(file).map(|(dir, _)| dir).collect();
        is_shown_once && folders.into_iter().all(|dir| !self.has_changed(dir))
    }

    fn has_changed(&mut self, dir: DirId) -> bool {
        if self.names.looked.elapsed() > LOOK_COUNTS {
            self.names.changed.clear();
            self.names.looked = Instant::now();
        }
        if let Some(&has_changed) = self.names.changed.get(&dir) {
            return has_changed;
        }
        let _call = current::call(&self.path_of(dir, b""));
        let now = self.names.handles.stat(dir, &self.dirs);
        let until = self.names.unchanged_until();
        let has_changed = !now.is_ok_and(|now| {
            let is_same = FolderId::from(&now) == self.dirs.read().id(dir);
            is_same && until.is_some_and(|until| now.mtime_ns.max(now.ctime_ns) < until)
        });
        self.names.changed.insert(dir, has_changed);
        has_changed
    }

    /// Looks up every name of all files, and drops those that lead elsewhere or to another state by now.
    pub fn settle_all_names(&mut self) {
        // An open folder stays open when it is moved away: only its path says where it is.
        self.names.handles.close_all();
        for file in (0..self.machine.file_table().len() as u32).map(FileIndex) {
            if self.control.is_cancelled() {
                return;
            }
            self.settle_names_of(file);
        }
    }

    /// True if the run was interrupted, or a file system did not answer.
    pub fn is_left_open(&self) -> bool {
        self.sets.deliverer.summary.left_out.unanswered > 0
            || self.silence.is_any_given_up()
            || self.control.is_cancelled()
    }

    fn settle_names_of(&mut self, file: FileIndex) {
        // Its disk is not there to be looked at.
        if self.unplugged.has(file) {
            return;
        }
        if self.reads.scheduler.has_given_up(self.volume_of(file)) {
            return;
        }
        let found = self.machine.file_table().names(file);
        let names: Vec<OwnedName> = found.map(|(dir, name)| (dir, name.to_owned())).collect();
        // Where every entry counts, its folder counts as not seen, or the answer stays open.
        if self.config.every_entry && names.iter().any(|(dir, _)| self.is_silent(*dir)) {
            return;
        }
        let mut entries = Vec::with_capacity(names.len());
        let mut lost = Vec::new();
        for name in &names {
            let found = self.look_up(name);
            let file_table = self.machine.file_table();
            match found {
                Ok(entry) if file_table.is_met_by(file, &entry.stat) => entries.push(entry),
                Ok(_) => lost.push((name, Errno::STALE)),
                Err(error) => lost.push((name, error)),
            }
        }
        let mut kept: Vec<OwnedName> = self.distinct(entries);
        if kept.len() as u64 > u64::from(self.machine.file_table().links(file).max(1)) {
            // It is being moved about: which of its names lead to it changes while they are looked up.
            kept.clear();
            lost = names.iter().map(|name| (name, Errno::STALE)).collect();
        }
        if kept != names {
            self.machine.settle_names(file, kept);
        }
        for ((dir, name), error) in lost {
            self.lost(*dir, name, error);
        }
    }

    fn look_up(&mut self, name: &OwnedName) -> Result<Entry> {
        let follow = self.config.follow_links;
        self.look_at(name.0, &name.1, |folder, c_name| {
            let above = stat::descriptor(folder)?;
            let stat = if follow {
                stat::target(folder, c_name)?
            } else {
                // What the kernel remembers of a file of a server or a daemon may be older than its last change.
                stat::fresh_entry(folder, c_name)?
            };
            Ok(Entry {
                name: name.clone(),
                folder: (above.dev, above.ino),
                stat,
            })
        })
    }

    /// Looks at a name in its open folder.
    pub fn look_at<T>(
        &mut self,
        dir: DirId,
        name: &[u8],
        look: impl FnOnce(BorrowedFd<'_>, &CStr) -> Result<T>,
    ) -> Result<T> {
        let _call = current::call(&self.path_of(dir, name));
        let name = CString::new(name).map_err(|_| Errno::INVAL)?;
        look(self.names.handles.get_alone(dir, &self.dirs)?, &name)
    }

    /// One name for each directory entry: a folder may have been reached on several paths. A name on which the file is
    /// mounted counts only if there is no other.
    fn distinct(&self, mut entries: Vec<Entry>) -> Vec<OwnedName> {
        let places = entries.iter().map(|entry| (entry.folder, &entry.name.1));
        if places.collect::<HashSet<_>>().len() < entries.len() {
            let dirs = self.dirs.read();
            entries.sort_by(|a, b| {
                // With nested roots, a file that was given itself belongs to no folder that was given.
                let is_outer = |dir| self.config.isolate && dirs.is_listed(dir);
                let (a, b) = ((a.name.0, &a.name.1[..]), (b.name.0, &b.name.1[..]));
                let by_root = is_outer(a.0).cmp(&is_outer(b.0));
                by_root.then_with(|| order::compare(&dirs, &a, &b))
            });
            let mut places = HashSet::new();
            entries.retain(|entry| places.insert((entry.folder, entry.name.1.clone())));
        }
        if entries.iter().any(|entry| !entry.stat.mount_root) {
            entries.retain(|entry| !entry.stat.mount_root);
        }
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// Records a name that no longer leads to its file, and why.
    pub fn lost(&mut self, dir: DirId, name: &[u8], error: Errno) -> Unseen {
        let (kind, unseen) = match error {
            Errno::NOENT | Errno::NOTDIR => (ProblemKind::Vanished, Unseen::Vanished),
            _ => (ProblemKind::Changed, Unseen::Changed),
        };
        self.account.unseen(dir, name, unseen);
        self.leave_out(self.path_of(dir, name), kind, None);
        unseen
    }
}
