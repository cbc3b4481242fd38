//! Locks trees, so that two runs that change files never work in one tree at the same time.
//!
//! Each step is proven by itself, but not against the plan of another process: one run may make a link to a file that
//! the other moves away a moment later. A run therefore locks its trees (`flock`): the folders at their tops
//! exclusively, and the folders above them shared, on every path that leads there. A run in a folder above or below
//! then meets a lock on the folder that both have in common. The kernel releases the locks when the process ends,
//! however it ends. On every file system, folders are locked by this machine's kernel, for all its users.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};
use std::{fs, io};

use super::reason::{Code, Facts, Reason};
use super::step::Settings;
use super::ways::folder_entry::Identity;
use crate::device::Mounts;
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::{attributes, open, process, stat, sync};

/// Maximum number of trees that are locked together. For more trees, folders above them are locked.
const TREES: usize = 16;

/// Mounts in these trees that are looked behind.
const MOUNTS: usize = 64;

/// Trees that no other run changes while this value exists.
#[derive(Debug)]
pub struct TreeLock {
    _locks: Vec<OwnedFd>,
    _mark: Option<Mark>,
}

/// A folder that both runs need is locked, by this run if it can be seen.
fn locked(path: &Path, run: Option<String>) -> Reason {
    let path = path.display();
    let cause = run.map_or_else(
        || format!("another process has locked {path} (flock), as a run of seekless does"),
        |run| format!("another seekless run ({run}) acts on files in {path}"),
    );
    Code::Locked.with(Facts::caused(path.to_string(), cause))
}

/// A folder to be locked.
struct Wanted {
    path: PathBuf,
    folder: OwnedFd,
    exclusive: bool,
    /// Number of folders between it and the tree; distant folders matter less.
    distance: usize,
}

impl TreeLock {
    /// Locks trees that are acted in, and the folder that files are moved to.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn for_acting(settings: &Settings, trees: &[PathBuf]) -> Result<Self, Reason> {
        let to = settings.destination.as_ref();
        let to = to.map(|to| PathBuf::from(OsStr::from_bytes(to)));
        let to = to.filter(|to| {
            current::ask_about(to.as_os_str().as_bytes());
            to.is_dir()
        });
        let all: Vec<PathBuf> = trees.iter().cloned().chain(to).collect();
        Self::take(&all)
    }

    /// Locks these folders and files with everything below them; their paths are absolute and real.
    ///
    /// A folder that cannot be opened is not locked: each step checks its files again in any case.
    ///
    /// # Errors
    /// If another run has one of them, or a part of one.
    pub fn take(paths: &[PathBuf]) -> Result<Self, Reason> {
        // Before the first lock, so that nobody meets a lock without it.
        let mark = Mark::set();
        let mut locks = Vec::new();
        // All processes in one order: of two that want the same, one gets it.
        for (identity, wanted) in wanted(paths) {
            current::ask_about(wanted.path.as_os_str().as_bytes());
            match sync::hold(&wanted.folder, wanted.exclusive) {
                Ok(true) => locks.push(wanted.folder),
                // No locks there at all.
                Err(_) => {}
                Ok(false) => {
                    let path = wanted.path;
                    check(identity, &wanted.folder).map_err(|run| locked(&path, run))?;
                }
            }
        }
        Ok(Self {
            _locks: locks,
            _mark: mark,
        })
    }
}

fn wanted(paths: &[PathBuf]) -> BTreeMap<Identity, Wanted> {
    let mounts = Mounts::read();
    let mut wanted: BTreeMap<Identity, Wanted> = BTreeMap::new();
    let tops = tops(paths);
    let behind = tops.iter().flat_map(|top| mounts.shared_below(top));
    let behind: Vec<PathBuf> = behind.take(MOUNTS).collect();
    for tree in tops.into_iter().chain(behind) {
        let mut ways = mounts.ways(tree.as_os_str().as_bytes());
        ways.insert(0, tree);
        for way in ways {
            for (distance, path) in way.ancestors().enumerate() {
                add(&mut wanted, path, distance);
            }
        }
    }
    // The rest of the run needs descriptors, too.
    let most = process::unused_descriptors() / 8;
    while wanted.len() > most.max(1) {
        let farthest = wanted.iter().max_by_key(|(_, wanted)| wanted.distance);
        let Some((&farthest, _)) = farthest else {
            break;
        };
        wanted.remove(&farthest);
    }
    wanted
}

fn add(wanted: &mut BTreeMap<Identity, Wanted>, path: &Path, distance: usize) {
    let exclusive = distance == 0;
    current::ask_about(path.as_os_str().as_bytes());
    let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
    let Ok(folder) = open::folder(open::CWD, &name) else {
        return;
    };
    let Ok(stat) = stat::descriptor(&folder) else {
        return;
    };
    let known = wanted.entry((stat.dev, stat.ino)).or_insert(Wanted {
        path: path.to_owned(),
        folder,
        exclusive,
        distance,
    });
    known.exclusive |= exclusive;
    known.distance = known.distance.min(distance);
}

/// The folders at the tops of these paths, or the folder of a file. None of them lies below another, and there are not
/// too many.
fn tops(paths: &[PathBuf]) -> Vec<PathBuf> {
    let folder = |path: &PathBuf| {
        current::ask_about(path.as_os_str().as_bytes());
        if path.is_dir() {
            Some(path.clone())
        } else {
            // What is gone with its folder is nothing to act on.
            path.parent().filter(|p| p.is_dir()).map(Path::to_owned)
        }
    };
    few_folders(paths.iter().filter_map(folder).collect())
}

/// The highest of these folders, or folders above them if there are too many.
pub fn few_folders(folders: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let deepest = folders.iter().map(|path| path.components().count()).max();
    for depth in (1..=deepest.unwrap_or(0)).rev() {
        let mut tops: Vec<PathBuf> = Vec::new();
        // A folder comes before what is in it: parts are compared one by one.
        let cut = folders.iter().map(|path| path.components().take(depth));
        let cut: BTreeSet<PathBuf> = cut.map(|parts| parts.collect()).collect();
        for path in cut {
            if !tops.last().is_some_and(|top| path.starts_with(top)) {
                tops.push(path);
            }
        }
        if tops.len() <= TREES {
            return tops;
        }
    }
    Vec::new()
}

/// The name of the thread that a run has while it holds locks.
const NAME: &str = env!("CARGO_PKG_NAME");

/// Makes this process known to others as a run, whatever its program is called: a thread of it has a name.
#[derive(Debug)]
pub struct Mark {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Mark {
    /// Starts the thread. Where none can be started, others take the locks for those of another program.
    pub fn set() -> Option<Self> {
        let (begun, begins) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let thread = Builder::new().name(NAME.to_owned()).spawn(move || {
            // It has its name by now.
            let _ignored = begun.send(());
            let _ignored = ends.recv();
        });
        let thread = thread.ok()?;
        let _ignored = begins.recv();
        Some(Self {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ignored = self.thread.take().map(JoinHandle::join);
    }
}

/// Checks whether another run, of the program or of the library, has locked a folder. Locks of other programs have
/// another meaning.
///
/// Any user can lock a folder that they may read, and give a program any name. So a process counts only if it belongs to
/// this user, to root, or to a user who may write to the folder.
///
/// # Errors
/// The run, in words, or `None` for a process that cannot be seen: of another container, or hidden.
pub fn check(file: Identity, folder: &OwnedFd) -> Result<(), Option<String>> {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let own = std::process::id();
    let mut others = holders(&locks, file);
    others.retain(|&process| process != own);
    if others.is_empty() {
        return Err(None);
    }
    for process in others {
        match is_marked(process) {
            Ok(true) if may_hinder(process, folder) => {
                return Err(Some(format!("process {process}: {}", command(process))));
            }
            Ok(_) => {}
            // One of another container has no number here. To root every other process shows itself, if it still
            // lives: another one may have inherited the lock, which is no run then.
            Err(_) if process != 0 && trust::is_root() => {}
            Err(_) => return Err(None),
        }
    }
    Ok(())
}

/// True if a thread of the process has the name.
fn is_marked(process: u32) -> io::Result<bool> {
    let mut threads = fs::read_dir(format!("/proc/{process}/task"))?;
    let name = |thread: &Path| fs::read_to_string(thread.join("comm"));
    // A thread may end meanwhile.
    Ok(threads.any(|thread| {
        thread.is_ok_and(|thread| name(&thread.path()).is_ok_and(|name| name.trim_end() == NAME))
    }))
}

fn may_hinder(process: u32, folder: &OwnedFd) -> bool {
    let user = fs::metadata(format!("/proc/{process}")).map(|process| process.uid());
    let folder = attributes::get(folder);
    user.is_ok_and(|user| {
        trust::is_ours_or_roots(user)
            || folder.is_ok_and(|folder| {
                let by_group = folder.mode & 0o020 != 0 && is_in(process, folder.gid);
                folder.uid == user || folder.mode & 0o002 != 0 || by_group
            })
    })
}

/// True if a process has the rights of a group.
fn is_in(process: u32, group: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let groups = status.lines().filter_map(|line| {
        line.strip_prefix("Gid:")
            .or_else(|| line.strip_prefix("Groups:"))
    });
    let mut groups = groups.flat_map(str::split_whitespace);
    groups.any(|known| known.parse() == Ok(group))
}

/// The processes that have locked a file with `flock`.
///
/// The device is that of the file system itself, which files of btrfs do not report: there, the inode number must be
/// enough.
fn holders(locks: &str, (dev, ino): Identity) -> Vec<u32> {
    let lock = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, place, ..] = words[..] else {
            return None;
        };
        let mut place = place.split(':');
        let mut hex = || u32::from_str_radix(place.next()?, 16).ok();
        let device = rustix::fs::makedev(hex()?, hex()?);
        let inode: u64 = place.next()?.parse().ok()?;
        Some((process.parse().ok()?, device, inode)).filter(|&(_, _, inode)| inode == ino)
    };
    let all: Vec<(u32, u64, u64)> = locks.lines().filter_map(lock).collect();
    let exact = |&&(_, device, _): &&(u32, u64, u64)| device == dev;
    let has_exact = all.iter().any(|lock| exact(&lock));
    let fitting = all.iter().filter(|lock| !has_exact || exact(lock));
    fitting.map(|&(process, ..)| process).collect()
}

fn command(process: u32) -> String {
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = words.split(|&b| b == 0).filter(|word| !word.is_empty());
    let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered<const N: usize>(paths: [&str; N]) -> Vec<String> {
        let tops = few_folders(paths.into_iter().map(PathBuf::from).collect());
        tops.iter().map(|top| top.display().to_string()).collect()
    }

    #[test]
    fn few_folders_stand_for_many() {
        assert_eq!(covered([]), [""; 0]);
        assert_eq!(covered(["/"]), ["/"]);
        assert_eq!(
            covered(["/a/b/c", "/a/b", "/a/b-2", "/a/b c", "/d"]),
            ["/a/b", "/a/b c", "/a/b-2", "/d"]
        );
        let many = (0..1000).map(|n| PathBuf::from(format!("/a/{}/{n}", n % 10)));
        let tops = few_folders(many.collect());
        assert_eq!(tops.len(), 10);
        assert_eq!(tops[3], Path::new("/a/3"));
    }

    #[test]
    fn the_kernels_list_is_understood() {
        let locks = "\
            1: FLOCK  ADVISORY  WRITE 4242 08:01:1234 0 EOF\n\
            1: -> FLOCK  ADVISORY  WRITE 4300 08:01:1234 0 EOF\n\
            2: POSIX  ADVISORY  WRITE 4243 08:01:1234 0 EOF\n\
            3: FLOCK  ADVISORY  READ 4244 fe:10:1234 0 EOF\n\
            4: FLOCK  ADVISORY  READ 4245 08:01:99 0 EOF\n";
        let dev = rustix::fs::makedev;
        assert_eq!(holders(locks, (dev(8, 1), 1234)), [4242]);
        assert_eq!(holders(locks, (dev(0xfe, 0x10), 1234)), [4244]);
        // A subvolume's own number.
        assert_eq!(holders(locks, (dev(0, 77), 99)), [4245]);
        assert_eq!(holders(locks, (dev(8, 1), 5)), [0; 0]);
    }
}
