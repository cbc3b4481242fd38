//! Walks folders in parallel, relative to their own descriptors.
//!
//! A walker calls `getdents64` with a large buffer, sorts the entries by inode number, and then calls `statx` for
//! regular files only. The sort makes the kernel read the inode tables in the order of the disk. A bare prototype took
//! 2.8 µs of CPU a file, hot. Walkers that make a path for each file take 4-5 µs.
//!
//! Symbolic links that are to be followed wait like folders; [`links`] says when their targets are listed.

mod entries;
mod links;
mod results;
mod roots;
mod walker;

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::event::LeftOut;
use crate::file::{DirId, FoundFile, SharedDirs, TrashPaths};
use crate::heartbeat::Watchlist;
use crate::lock::locked;
use crate::scan::filter::{Filter, Verdict};
use crate::scan::found::LinkedFile;
use crate::scan::ignore_file::IgnoreRules;
use crate::sys::stat::Stat;
use crate::tree::Unseen;

pub use links::Links;
pub use results::{Walked, WalkerRecord};
pub use walker::Walker;

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
    /// Set when memory is nearly used up: nothing more is listed.
    pub full: Arc<AtomicBool>,
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

/// The group of walkers that check roots, and the first of those that list folders.
pub const ROOTS: usize = 0;
pub const FIRST_GROUP: usize = 1;

/// What a walker does next.
pub enum Job {
    /// Checks a root.
    Root(Given),
    /// Lists a folder.
    Folder(Folder),
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

/// A folder to be listed.
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

impl Folder {
    /// True if a path that the user gave leads to it.
    pub fn is_root(&self) -> bool {
        self.name.is_none() && self.depth == 0
    }
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

impl Walk {
    /// Links that lead to something that takes part.
    fn links(&self) -> MutexGuard<'_, Links> {
        locked(&self.links)
    }

    /// Takes the files that were reached through links.
    pub fn take_linked(&self) -> Vec<LinkedFile> {
        self.links().take_files(&self.dirs)
    }

    /// The folders that links lead to. They are listed when no other folder waits.
    pub fn take_linked_folders(&self) -> Vec<Folder> {
        self.links().next_folders(&self.dirs)
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

/// Counts an entry that a filter rules out, and returns the reason why it is not seen; `None` if the filter keeps the
/// entry.
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
