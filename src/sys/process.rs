//! Limits and properties of this process and of the machine.

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::{io, thread};

use rustix::io::Errno;
use rustix::param::page_size;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::open::{self, CWD};

/// The name of this machine.
pub fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

// How many files may be open at once.

/// Raises the soft limit on open descriptors to the hard one; returns what holds afterwards.
pub fn raise_open_files() -> u64 {
    let now = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: now.maximum,
        maximum: now.maximum,
    };
    // Refusal leaves the old limit in force, and the code works with 64 as well.
    let _ignored = setrlimit(Resource::Nofile, wanted);
    open_files()
}

/// Descriptors that this process may have.
pub fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(1 << 20)
}

/// Descriptors that can still be opened, counted up to this many.
pub fn free_descriptors(most: usize) -> usize {
    // Every process has a root folder, and this needs no permission to read it. There may be no /dev/null.
    let root = || open::folder_handle(CWD, c"/").ok();
    let held: Vec<OwnedFd> = (0..most).map_while(|_| root()).collect();
    held.len()
}

/// True if files that the process writes may grow without limit. Beyond a limit, a write kills the process (`SIGXFSZ`).
pub fn files_are_unlimited() -> bool {
    getrlimit(Resource::Fsize).current.is_none()
}

/// Bytes of address space that this process may still take; `None` without a limit.
pub fn free_address_space() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').next().and_then(|pages| pages.parse().ok());
    let taken = pages.unwrap_or(0_u64).saturating_mul(page_size() as u64);
    Some(limit.saturating_sub(taken))
}

/// How many descriptors may still be opened, without trying: what is open already is listed in `/proc`.
pub fn unused_descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    usize::try_from(limit)
        .unwrap_or(usize::MAX)
        .saturating_sub(open)
}

/// Has the kernel make room for this many descriptors at once.
///
/// Its table grows by doubling. In a process of several threads each growth waits until every core has
/// passed through the scheduler (`expand_fdtable` in `fs/file.c`), some 10 ms; before there are any it costs
/// next to nothing.
pub fn make_room(descriptors: u64) {
    let last = i32::try_from(descriptors)
        .unwrap_or(i32::MAX)
        .saturating_sub(1);
    // It is as good without room, only slower.
    let _closed = rustix::io::fcntl_dupfd_cloexec(io::stdin(), last);
}

// `ioprio_set(2)`: whose reads wait when several want the disk. Kernel headers: linux/ioprio.h.

const WHO_PROCESS: libc::c_int = 1;
const CLASS_SHIFT: libc::c_int = 13;
const CLASS_IDLE: libc::c_int = 3;

/// The calling thread reads only when nobody else does, and so do the threads that it starts, until
/// this is dropped.
#[derive(Debug)]
pub struct Idle {
    before: libc::c_int,
}

impl Idle {
    /// Enters the idle class.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn enter() -> Result<Self, Errno> {
        let before = get()?;
        set(CLASS_IDLE << CLASS_SHIFT)?;
        Ok(Self { before })
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        // Going back to a class that one comes from is always allowed, real time apart.
        let _ignored = set(self.before);
    }
}

/// Class and level of the calling thread, as one number.
fn get() -> Result<libc::c_int, Errno> {
    // SAFETY: the call takes numbers only and changes nothing.
    let got = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };
    libc::c_int::try_from(got)
        .ok()
        .filter(|&priority| priority >= 0)
        .ok_or_else(last_error)
}

fn set(priority: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the call takes numbers only; 0 is the calling thread.
    let done = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, priority) };
    (done == 0).then_some(()).ok_or_else(last_error)
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

// `getrusage`: what the calling thread had to wait for.

/// How often this thread gave up its core to wait (for a disk, mostly).
pub fn thread_waits() -> u64 {
    // SAFETY: rusage is plain integers, for which all zeros is a value; the kernel fills it in.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    let done = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if done == 0 { usage.ru_nvcsw as u64 } else { 0 }
}

// What the machine has: memory, how much of it lies free, and processors.

/// The share of the memory that is used by nobody, not even as page cache; 0 to 1.
pub fn free_share() -> f64 {
    let info = rustix::system::sysinfo();
    match info.totalram {
        0 => 0.0,
        total => info.freeram as f64 / total as f64,
    }
}

/// Processors that this process may use; asked once, since control groups are read for it.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

// Which users this process can tell apart.

/// The user that the kernel shows for users without a mapping, if `/proc` does not say otherwise.
const NOBODY: u32 = 65534;

/// True if this number stands for users outside of the user namespace, root among them.
///
/// Sandboxes (bwrap, flatpak) map one user only: `/` and `/home` then seem to belong to nobody.
pub fn is_unmapped(uid: u32) -> bool {
    let overflow = fs::read_to_string("/proc/sys/kernel/overflowuid");
    let overflow = overflow.ok().and_then(|text| text.trim().parse().ok());
    if uid != overflow.unwrap_or(NOBODY) {
        return false;
    }
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !maps(&map, uid))
}

/// Each line of the map: first number inside, first number outside, how many.
fn maps(map: &str, uid: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(first)), Some(_), Some(Ok(count))) => {
                let uid = u64::from(uid);
                (first..first.saturating_add(count)).contains(&uid)
            }
            // An unreadable map makes no user trusted.
            _ => true,
        }
    })
}

#[cfg(test)]
mod rlimit_tests {
    use super::*;

    /// Places in the kernel's table of descriptors.
    fn places() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("a status");
        let line = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
        line.expect("a size").trim().parse().expect("a number")
    }

    #[test]
    fn room_is_there_before_it_is_needed() {
        let wanted = (places() * 2).min(raise_open_files());
        make_room(wanted);
        assert!(places() >= wanted);
    }
}

#[cfg(test)]
mod ioprio_tests {
    use super::*;

    #[test]
    fn the_idle_class_is_inherited_and_left_again() {
        let class = || get().expect("known") >> CLASS_SHIFT;
        let before = get();
        let idle = Idle::enter().expect("anybody may be idle");
        assert_eq!(class(), CLASS_IDLE);
        let started = std::thread::spawn(move || get().expect("known") >> CLASS_SHIFT);
        assert_eq!(started.join().expect("it ends"), CLASS_IDLE);
        drop(idle);
        assert_eq!(get(), before);
    }
}

#[cfg(test)]
mod user_namespace_tests {
    use super::*;

    #[test]
    fn only_a_namespace_that_lacks_the_user_has_it_unmapped() {
        let whole = "         0          0 4294967295\n";
        let sandbox = "      1000       1000          1\n";
        let container = "         0     100000      65536\n";
        assert!(maps(whole, NOBODY));
        assert!(!maps(sandbox, NOBODY));
        assert!(maps(container, NOBODY));
        assert!(maps("odd\n", NOBODY));
        assert!(!maps("", NOBODY));
    }
}
