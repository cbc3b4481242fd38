//! How much memory this process holds, and how much more there is to be had.

use std::fs;
use std::path::Path;

use super::cachestat::page_size;
use super::rlimit;

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What this process holds.
    pub held: u64,
    /// What it can get besides before something has to give way.
    pub available: u64,
    /// Address space that it can still take (`ulimit -v`).
    pub addresses: u64,
}

/// Asks the kernel; nothing without `/proc`.
pub fn of_this_process() -> Option<Memory> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    let held = pages * page_size();
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let most = most_of_group(Path::new("/sys/fs/cgroup"), &groups);
    let of_group = most.map_or(u64::MAX, |most| most.saturating_sub(held));
    Some(Memory {
        held,
        available: kilobytes.saturating_mul(1024).min(of_group),
        addresses: rlimit::free_address_space().unwrap_or(u64::MAX),
    })
}

/// What the control group of this process may hold, if anybody said so. `groups` is what `/proc/self/cgroup` says:
/// `0::/path` in the unified hierarchy, `7:memory:/path` in that of the memory controller before (version 1).
fn most_of_group(top: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let (_, line) = line.split_once(':')?;
        let (controllers, path) = line.split_once(':')?;
        let (top, file) = match controllers {
            "" => (top.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (top.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = top.join(path.trim_start_matches('/'));
        let limits = group
            .ancestors()
            .take_while(|above| above.starts_with(&top));
        let limits = limits.filter_map(|group| {
            let most = fs::read_to_string(group.join(file)).ok()?;
            most.trim().parse::<u64>().ok()
        });
        limits.min()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_a_group_and_those_above_it_holds() {
        let top = tempfile::tempdir().expect("a folder");
        let write = |path: &str, limit: &str| {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, limit).expect("written");
        };
        let most = |groups: &str| most_of_group(top.path(), groups);
        write("a/memory.max", "3000\n");
        write("a/b/memory.max", "max\n");
        write("memory/docker/c/memory.limit_in_bytes", "2000\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("cpu/docker/c/memory.limit_in_bytes", "1\n");
        assert_eq!(most("0::/a/b\n"), Some(3000));
        assert_eq!(most("0::/\n"), None);
        let version_1 = "12:cpu,cpuacct:/docker/c\n7:memory:/docker/c\n";
        assert_eq!(most(version_1), Some(2000));
        assert_eq!(most("7:memory:/\n"), Some(9_223_372_036_854_771_712));
        let both = format!("{version_1}0::/a\n");
        assert_eq!(most(&both), Some(2000));
        assert_eq!(most(""), None);
    }
}
