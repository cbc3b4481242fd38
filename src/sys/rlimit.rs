//! How many files may be open at once.

use std::fs::File;
use std::io;

use rustix::param::page_size;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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

/// Descriptors that can still be opened, counted up to so many.
pub fn free_descriptors(most: usize) -> usize {
    let null = || File::open("/dev/null").ok();
    let held: Vec<File> = (0..most).map_while(|_| null()).collect();
    held.len()
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

/// Has the kernel make room for so many descriptors at once.
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

#[cfg(test)]
mod tests {
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
