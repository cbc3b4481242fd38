//! How much memory this process holds, and how much more there is to be had.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::cachestat::page_size;

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What this process holds.
    pub held: u64,
    /// What it can get besides before something has to give way.
    pub available: u64,
}

/// Asks the kernel; nothing without `/proc`.
pub fn of_this_process() -> Option<Memory> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = statm.split(' ').map_while(|word| word.parse::<u64>().ok());
    let (mapped, held) = (pages.next()? * page_size(), pages.next()? * page_size());
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    let mut available = kilobytes.saturating_mul(1024);
    if let Some(most) = getrlimit(Resource::As).current {
        available = available.min(most.saturating_sub(mapped));
    }
    if let Some(most) = most_of_group() {
        available = available.min(most.saturating_sub(held));
    }
    Some(Memory { held, available })
}

/// What the control group of this process may hold, if anybody said so.
fn most_of_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = Path::new("/sys/fs/cgroup").join(group);
    let limits = group.ancestors().filter_map(|group| {
        let most = fs::read_to_string(group.join("memory.max")).ok()?;
        most.trim().parse().ok()
    });
    limits.min()
}
