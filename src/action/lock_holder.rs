//! Finds the process that has locked a folder, in `/proc`.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

use super::ways::folder_entry::Identity;
use crate::file::trust;
use crate::sys::attributes;

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
