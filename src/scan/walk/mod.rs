//! Walks folders in parallel, relative to their own descriptors.
//!
//! `getdents64` into a large buffer, then `statx` for regular files only, sorted by inode number
//! first: the inode tables then are read in the order of the disk. A bare prototype of this took
//! 2.8 µs of CPU a file, hot, and walkers that make a path for each 4-5 µs.
//!
//! There are as many walkers at work as cores, until one finds that it had to wait for the disk
//! while listing a folder; each such folder lets one more join in, up to the policy's number.

mod walker;

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::Sender;

use crate::event::{LeftOut, Observer};
use crate::file::{DirId, FolderId, FoundFile, SharedDirs};
use crate::scan::filter::{Filter, Verdict};
use crate::scan::found::ScanMessage;
use crate::scan::ignore_file::IgnoreRules;
use crate::scan::queue::Queue;
use crate::scan::stamp::Stamp;
use crate::sys::stat::Stat;

use walker::Walker;

/// What and how to walk.
pub struct Walk<'a> {
    /// Where folders are entered.
    pub dirs: &'a SharedDirs,
    /// Which entries take part.
    pub filter: &'a Filter,
    /// Deepest level that is listed.
    pub max_depth: Option<u32>,
    /// Stay on each root's file system.
    pub one_file_system: bool,
    /// List folders again that changed after they were listed: the answer depends on having seen every file.
    pub list_again: bool,
    /// Roots must be what they were when they were looked at first.
    pub tied_roots: bool,
    /// Names of ignore files to obey.
    pub ignore_files: &'a [String],
    /// Who walks what; the last crew takes what is no other's.
    pub crews: &'a [Crew],
    /// Folders that each walker may keep open.
    pub open_folders: usize,
    /// Who hears of problems.
    pub observer: &'a dyn Observer,
    /// Set when the walk is to end.
    pub stop: &'a AtomicBool,
    /// Counts files as they are found.
    pub files: &'a AtomicU64,
}

/// Walkers that keep to some devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crew {
    /// Device numbers of the roots that they begin at.
    pub devices: Vec<u64>,
    /// How many there are at first.
    pub first: usize,
    /// How many there may be.
    pub most: usize,
}

/// A folder to be listed.
#[derive(Clone)]
pub struct Folder {
    /// Itself if it is a root, else the folder above it.
    pub dir: DirId,
    /// Its name in the folder above; none if it is a root.
    pub name: Option<CString>,
    /// Its level below its root.
    pub depth: u32,
    /// Device number of its root.
    pub root_dev: u64,
    /// Ignore rules that hold in the folder above.
    pub rules: Option<Arc<IgnoreRules>>,
    /// How it was left, if it was looked at before.
    pub left: Left,
}

/// How a folder was left when it was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// It was not looked at.
    #[default]
    New,
    /// It was listed, just after it had these times.
    Listed(Stamp),
    /// It was passed over, since it was this one, which was met before.
    Passed(FolderId),
}

/// Times that folders are listed again if they changed: twice, since what moves into one folder while it is
/// listed again may have left another one that was looked at just before.
pub const LISTED_AGAIN: usize = 2;

impl Walk<'_> {
    /// Walks all folders.
    pub fn run(&self, roots: Vec<Folder>, to: &Sender<ScanMessage>) -> Walked {
        let mut walked = self.round(roots, Round::First, to);
        if self.list_again {
            for _ in 0..LISTED_AGAIN {
                let folders = once_each(std::mem::take(&mut walked.listed));
                let changed_before = walked.changed.len();
                walked.add(self.round(folders, Round::Again, to));
                if walked.changed.len() == changed_before {
                    return walked;
                }
            }
            let folders = once_each(std::mem::take(&mut walked.listed));
            walked.add(self.round(folders, Round::Last, to));
        }
        walked
    }

    fn round(&self, folders: Vec<Folder>, round: Round, to: &Sender<ScanMessage>) -> Walked {
        let queue = Queue::new(self.crews.iter().map(|crew| (crew.first, crew.most)));
        for folder in folders {
            let own = |crew: &Crew| crew.devices.contains(&folder.root_dev);
            let last = self.crews.len().saturating_sub(1);
            queue.push(self.crews.iter().position(own).unwrap_or(last), folder);
        }
        let most: usize = self.crews.iter().map(|crew| crew.most.max(1)).sum();
        let total = Mutex::new(Walked::default());
        let walk = || {
            let mut walker = Walker::new(self, round, &queue, to);
            walker.work();
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            total.add(walker.walked);
        };
        thread::scope(|scope| {
            for _ in 1..most {
                let named = thread::Builder::new().name("walk".to_owned());
                // With fewer threads than wished for, those that run do the work.
                let _ignored = named.spawn_scoped(scope, walk);
            }
            walk();
        });
        total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each folder once; outdated if it is so once.
fn once_each(mut folders: Vec<Folder>) -> Vec<Folder> {
    folders.sort_unstable_by(|a, b| (a.dir, &a.name, a.left).cmp(&(b.dir, &b.name, b.left)));
    folders.dedup_by(|a, b| (a.dir, &a.name) == (b.dir, &b.name));
    folders
}

/// Why folders are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To be listed.
    First,
    /// To be listed again if they changed.
    Again,
    /// To say which changed once more.
    Last,
}

/// What came of a walk.
#[derive(Default)]
pub struct Walked {
    /// Folders listed.
    pub folders: u64,
    /// What was left out.
    pub left_out: LeftOut,
    /// Folders that were listed, where they may have to be listed again.
    pub listed: Vec<Folder>,
    /// Folders that had changed since they were listed.
    pub changed: Vec<DirId>,
}

impl Walked {
    fn add(&mut self, mut other: Self) {
        self.folders += other.folders;
        self.left_out.add(&other.left_out);
        self.listed.append(&mut other.listed);
        self.changed.append(&mut other.changed);
    }
}

/// A file's path for a message.
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

/// What the catalog needs of a file's metadata.
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

/// Counts what a filter rules out; true if it rules nothing out.
pub fn count(left_out: &mut LeftOut, verdict: Verdict) -> bool {
    match verdict {
        Verdict::Keep => return true,
        Verdict::Hidden => left_out.hidden += 1,
        Verdict::Filtered => left_out.filtered += 1,
        Verdict::Empty => left_out.empty += 1,
    }
    false
}
