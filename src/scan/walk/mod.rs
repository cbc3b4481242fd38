//! Walks folders in parallel, relative to their own descriptors.
//!
//! A walker calls `getdents64` with a large buffer, sorts the entries by inode number, and then calls `statx` for
//! regular files only. The sort makes the kernel read the inode tables in the order of the disk. A bare prototype took
//! 2.8 µs of CPU a file, hot. Walkers that make a path for each file take 4-5 µs.
//!
//! Symbolic links that are to be followed wait like folders; [`links`] says when their targets are listed.
//!
//! The walk starts as many walkers as there are cores. A walker may find that it had to wait for the disk while it
//! listed a folder. For each such folder, the walk starts one more walker, up to the policy's number.

mod entries;
mod follow;
mod kept;
mod links;
mod trash;
mod walked;
mod walker;

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, Mutex, MutexGuard};

use crossbeam_channel::Sender;

use crate::event::LeftOut;
use crate::file::{DirId, FoundFile, SharedDirs, TrashPaths};
use crate::heartbeat::{Subject, Watchlist};
use crate::lock::locked;
use crate::scan::filter::{Filter, Verdict};
use crate::scan::found::ScanMessage;
use crate::scan::ignore_file::IgnoreRules;
use crate::scan::linked::{self, LinkedFile};
use crate::scan::queue::Queue;
use crate::scan::workers::Workers;
use crate::sys::stat::Stat;
use crate::tree::Unseen;

pub use kept::{Kept, Known, hand_over, keep};
use links::Links;
pub use walked::Walked;
use walker::Walker;

/// The settings of a walk. Walkers share them, also those that never return.
pub struct Walk {
    /// The table of folders.
    pub dirs: Arc<SharedDirs>,
    /// The filter of entries.
    pub filter: Filter,
    /// Maximum depth of listed folders, at least 1.
    pub max_depth: Option<u32>,
    /// Stay on each root's file system.
    pub one_file_system: bool,
    /// Do not enter trash folders, except roots.
    pub skip_trash: bool,
    /// The trash folders that paths lead into.
    pub trash: TrashPaths,
    /// Report the times of each listed folder, because the answer depends on every file.
    pub tell_times: bool,
    /// Roots must be the same files and folders as at the first check.
    pub tied_roots: bool,
    /// Names of ignore files to read.
    pub ignore_files: Vec<String>,
    /// Folders that each walker may keep open.
    pub open_folders: usize,
    /// Names of mount points whose file systems may not answer.
    pub remote_names: HashSet<Vec<u8>>,
    /// The list of threads that are watched for signs of life.
    pub watchlist: Arc<Watchlist>,
    /// Set when the walk is to end.
    pub stop: Arc<AtomicBool>,
    /// Follow symbolic links.
    pub follow_links: bool,
    /// Links that lead to something that takes part.
    pub links: Mutex<Links>,
    /// Folders on devices that do not answer. They are tried again when all other folders are done.
    pub aside: Mutex<Vec<Folder>>,
    /// Set when memory is nearly used up: files are only counted.
    pub full: Arc<AtomicBool>,
    /// Names listed so far, less those listed since then: no more are counted than were listed.
    pub listed: AtomicI64,
    /// Also report the entries that were skipped, and why.
    pub tell_others: bool,
    /// Also report symbolic links.
    pub tell_links: bool,
}

/// Walkers for some devices only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Device numbers of their first roots.
    pub devices: Vec<u64>,
    /// Number of walkers at first.
    pub first: usize,
    /// Maximum number of walkers.
    pub most: usize,
}

/// A folder to be listed.
#[derive(Clone)]
pub struct Folder {
    /// The folder itself if it is a root, else the folder above it.
    pub dir: DirId,
    /// Its name in the folder above; none if it is a root.
    pub name: Option<CString>,
    /// Its level below its root.
    pub depth: u32,
    /// Device number of its root.
    pub root_dev: u64,
    /// Ignore rules that apply in the folder above.
    pub rules: Option<Arc<IgnoreRules>>,
    /// How the folder was reached.
    pub reached_by: ReachedBy,
}

/// How a folder was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedBy {
    /// The folder's own entry in the folder above, or the path of a root.
    Entry,
    /// A symbolic link to any kind of target.
    Link,
    /// A symbolic link to a folder.
    LinkToFolder,
}

/// Maximum number of substitutes for walkers that wait for file systems.
const SUBSTITUTES: usize = 32;

impl Walk {
    /// Walks all folders.
    pub fn run(
        self: &Arc<Self>,
        roots: Vec<Folder>,
        groups: &[Group],
        to: &Sender<ScanMessage>,
    ) -> Walked {
        let mut total = Walked::default();
        let mut folders = roots;
        while !folders.is_empty() {
            let is_over = self.walk(folders, groups, to, &mut total);
            folders = self.take_waiting();
            if is_over {
                if self.watchlist.is_given_up() {
                    self.leave(folders, &mut total);
                }
                break;
            }
        }
        total
    }

    /// Links that lead to something that takes part.
    fn links(&self) -> MutexGuard<'_, Links> {
        locked(&self.links)
    }

    /// Takes the files that were reached through links.
    pub fn take_linked(&self) -> Vec<LinkedFile> {
        self.links().take_files(&self.dirs)
    }

    /// The folders that can be listed only when no other folder waits.
    fn take_waiting(&self) -> Vec<Folder> {
        let mut waiting = std::mem::take(&mut *locked(&self.aside));
        waiting.extend(self.links().next_folders(&self.dirs));
        waiting
    }

    /// Walks as far as file systems answer. True if the walk was told to end.
    fn walk(
        self: &Arc<Self>,
        folders: Vec<Folder>,
        groups: &[Group],
        to: &Sender<ScanMessage>,
        total: &mut Walked,
    ) -> bool {
        let queue = Arc::new(Queue::new(
            groups.iter().map(|group| (group.first, group.most)),
        ));
        let group_of = |folder: &Folder| {
            let own = |group: &Group| group.devices.contains(&folder.root_dev);
            let last = groups.len().saturating_sub(1);
            groups.iter().position(own).unwrap_or(last)
        };
        for folder in folders {
            queue.push(group_of(&folder), folder);
        }
        let mut workers = Workers::new(&self.watchlist, &self.stop);
        let (mut walkers, mut stuck) = (Vec::new(), Vec::new());
        let mut are_told = false;
        let new = |workers: &Workers| {
            let kept = Arc::default();
            let walker = Walker::new(self, &queue, workers.waker(), to, &kept);
            (walker, kept)
        };
        let start = |workers: &mut Workers| {
            let (walker, kept) = new(workers);
            // With fewer threads than wished for, those that run do the work.
            let heartbeat = workers.start("walk", Subject::Folder, || walker.work())?;
            Some(Known { heartbeat, kept })
        };
        let mut wanted = queue.allowed();
        walkers.extend((0..wanted).map_while(|_| start(&mut workers)));
        if workers.at_work() == 0 {
            let (walker, kept) = new(&workers);
            let heartbeat = workers.do_here(Subject::Folder, || walker.work());
            walkers.push(Known { heartbeat, kept });
        }
        while workers.next(|workers| {
            if workers.is_over() {
                return queue.stop();
            }
            let more = queue.allowed() - wanted;
            wanted += more;
            walkers.extend((0..more).map_while(|_| start(workers)));
            // In the place of one that waits for a file system another one walks the others.
            let silent = walkers.iter().position(Known::is_silent);
            if let Some(silent) = silent.filter(|_| stuck.len() < SUBSTITUTES)
                && let Some(substitute) = start(workers)
            {
                let silent = std::mem::replace(&mut walkers[silent], substitute);
                // Its files are read meanwhile.
                total.add(silent.take(to));
                stuck.push(silent);
                queue.substitute();
                wanted += groups.len();
            }
            if let Some(answered) = stuck.iter().position(|walker| !walker.is_silent()) {
                walkers.push(stuck.swap_remove(answered));
                queue.retire();
                wanted -= groups.len();
            }
            // What links lead to does not wait for it either.
            let all = walkers.iter().chain(&stuck);
            let silent = all.filter(|walker| walker.is_silent()).count();
            let (mut files, mut only_silent) = (Vec::new(), false);
            queue.add_beside(silent, || {
                let folders = self.links().next_folders(&self.dirs);
                if folders.is_empty() {
                    files = self.take_linked();
                    only_silent = true;
                }
                let folders = folders.into_iter();
                folders.map(|folder| (group_of(&folder), folder)).collect()
            });
            linked::start(files, workers, to);
            // Nor do the sweeps of spinning disks.
            if only_silent && !std::mem::replace(&mut are_told, true) {
                for group in 0..groups.len() {
                    // Send fails only after the run ended.
                    let _ = to.send(ScanMessage::Walked { group });
                }
            }
        }) {}
        // What an interruption leaves was not asked.
        let is_given_up = self.watchlist.is_given_up();
        for walker in walkers.into_iter().chain(stuck) {
            let is_visiting = locked(&walker.kept).is_visiting;
            total.add(walker.take(to));
            if is_given_up && is_visiting {
                self.leave_begun(&walker.heartbeat, total);
            }
        }
        if is_given_up {
            total.left_out.unanswered += workers.at_work() as u64;
            self.leave(queue.take_left(), total);
        }
        workers.is_over()
    }
}

/// The path of a file, for a message.
pub fn path_of(dirs: &SharedDirs, dir: DirId, name: Option<&CStr>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut path = Vec::new();
    let dirs = dirs.read();
    match name {
        Some(name) => dirs.path_of(dir, name.to_bytes(), &mut path),
        None => {
            dirs.path(dir, &mut path);
            // The slash behind it, unless it is all there is.
            path.truncate(path.len().saturating_sub(1).max(1));
        }
    }
    std::ffi::OsString::from_vec(path).into()
}

/// The metadata of a file for the file table.
pub fn found_file(stat: &Stat, name: &[u8]) -> FoundFile {
    FoundFile {
        ino: stat.ino,
        size: stat.size,
        mtime_ns: stat.mtime_ns,
        ctime_ns: stat.ctime_ns,
        blocks: stat.blocks,
        links: stat.links,
        name_len: u16::try_from(name.len()).expect("a name is shorter than a path"),
        via_link: false,
        mounted: stat.mount_root,
    }
}

/// Counts an entry that a filter rules out, and returns the reason why it is not seen; `None` if the filter keeps the entry.
pub fn count(left_out: &mut LeftOut, verdict: Verdict) -> Option<Unseen> {
    let (counter, unseen) = match verdict {
        Verdict::Keep => return None,
        Verdict::Hidden => (&mut left_out.hidden, Unseen::Hidden),
        Verdict::Filtered => (&mut left_out.filtered, Unseen::Filtered),
        Verdict::Empty => (&mut left_out.empty, Unseen::Filtered),
    };
    *counter += 1;
    Some(unseen)
}
