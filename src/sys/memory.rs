//! Memory: aligned buffers, large pages, what the allocator does, and how much is left.

use std::fs;
use std::path::Path;
use std::sync::Once;

use bytes::{Buf, BytesMut};

use super::page_cache::page_size;

// Memory that direct I/O takes: it begins at a multiple of 4096.

/// The alignment in bytes of memory and offsets of direct reads: the largest logical block that disks have. (Most take
/// 512; asking each is not worth it.)
pub const ALIGNMENT: usize = 4096;

/// Zeroed bytes that begin at a multiple of [`ALIGNMENT`].
pub fn aligned(len: usize) -> BytesMut {
    let mut bytes = BytesMut::zeroed(len + ALIGNMENT - 1);
    bytes.advance(bytes.as_ptr().align_offset(ALIGNMENT));
    bytes.truncate(len);
    bytes
}

// Memory in large pages.
//
// `madvise(2)`, `MADV_HUGEPAGE`; Linux, `Documentation/admin-guide/mm/transhuge.rst`. Where the kernel has
// none to give, it is ordinary memory.

/// Bytes of a large page on most machines.
const LARGE_PAGE: usize = 2 << 20;

/// Tables with room for this many bytes are put into large pages. A guess: it costs up to one large page of memory, of
/// which the end is not used yet.
const LARGE_TABLE: usize = LARGE_PAGE / 2;

/// Makes room for more elements at the end of a table, in large pages if the table is large. The kernel then hands out
/// memory in few pieces, each of which it prepares at once.
pub fn reserve<T>(table: &mut Vec<T>, more: usize) {
    if table.capacity() - table.len() < more {
        table.reserve(more);
        if table.capacity() * size_of::<T>() >= LARGE_TABLE {
            prefer_large_pages(table);
        }
    }
}

/// The advice holds for the whole mapping of the table: a mapping in parts cannot grow without being copied.
fn prefer_large_pages<T>(table: &mut Vec<T>) {
    let page = page_size() as usize;
    let before = table.as_ptr().addr() % page;
    let len = (before + table.capacity() * size_of::<T>()).next_multiple_of(page);
    // SAFETY: the pages of memory that is ours. It is advice: it changes no byte, also of what else is in these pages.
    unsafe {
        let start = table.as_mut_ptr().cast::<u8>().wrapping_sub(before);
        libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE);
    }
}

// `mallopt`: how the allocator gives memory back.

/// Blocks of this many bytes have mappings of their own: the C library's default to begin with.
#[cfg(target_env = "gnu")]
const MAPPED: libc::c_int = 128 << 10;

/// Bytes that may lie free at the end of a heap, of which each thread has its own: half of the C library's
/// default, and nothing is asked for in advance. A million sparse files took 74.6 MB before and 73.6 MB
/// then, 300,000 tiny ones 43.7 and 43.0 MB, in the same time (medians of three).
#[cfg(target_env = "gnu")]
const FREE: libc::c_int = 64 << 10;

/// Keeps large blocks in mappings of their own, which grow without being copied and are given
/// back at once. Left alone, the C library would stop doing so for blocks as large as one that was
/// freed: 300,000 files of real folders then took 59 MB instead of 48 MB, a million sparse ones 84 MB instead of 77 MB,
/// in the same time. Other C libraries than GNU's have nothing to be told.
pub fn map_large_blocks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: each takes two numbers and stores one, under the allocator's own lock; the allocator
        // itself changes the same settings while threads run.
        #[cfg(target_env = "gnu")]
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
            libc::mallopt(libc::M_TRIM_THRESHOLD, FREE);
            libc::mallopt(libc::M_TOP_PAD, 0);
        }
    });
}

// How much memory this process holds, and how much more there is to be had.

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The memory of this process, in bytes.
    pub held: u64,
    /// The memory that it can still get without reclaim, in bytes.
    pub available: u64,
}

/// Asks the kernel; nothing without `/proc`.
pub fn of_this_process() -> Option<Memory> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    // Size, resident pages, those of them that are shared: the program's own file and others, which can be dropped.
    let mut pages = statm.split(' ').skip(1).map(str::parse);
    let (resident, shared): (u64, u64) = (pages.next()?.ok()?, pages.next()?.ok()?);
    let held = resident.saturating_sub(shared) * page_size();
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_group = left_in_group(Path::new("/sys/fs/cgroup"), &groups, held).unwrap_or(u64::MAX);
    Some(Memory {
        held,
        available: kilobytes.saturating_mul(1024).min(of_group),
    })
}

/// Memory that the control group of this process may still take, if one limits it. `groups` is what `/proc/self/cgroup`
/// says: `0::/path` in the unified hierarchy, `7:memory:/path` in that of the memory controller before (version 1).
///
/// What the kernel can take back, as the page cache, does not count as taken. Memory file systems and other processes
/// of the group do.
fn left_in_group(top: &Path, groups: &str, held: u64) -> Option<u64> {
    let left = groups.lines().filter_map(|line| {
        let (_, line) = line.split_once(':')?;
        let (controllers, path) = line.split_once(':')?;
        let (top, file, taken) = match controllers {
            "" => (top.to_owned(), "memory.max", ["anon", "shmem"]),
            _ if controllers.split(',').any(|name| name == "memory") => {
                let taken = ["total_rss", "total_shmem"];
                (top.join("memory"), "memory.limit_in_bytes", taken)
            }
            _ => return None,
        };
        let group = top.join(path.trim_start_matches('/'));
        let groups = group
            .ancestors()
            .take_while(|above| above.starts_with(&top));
        let left = groups.filter_map(|group| {
            let most = fs::read_to_string(group.join(file)).ok()?;
            let most: u64 = most.trim().parse().ok()?;
            let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            let of_group = stat.lines().filter_map(|line| {
                let (name, number) = line.split_once(' ')?;
                number.parse::<u64>().ok().filter(|_| taken.contains(&name))
            });
            Some(most.saturating_sub(of_group.sum::<u64>().max(held)))
        });
        left.min()
    });
    left.min()
}

#[cfg(test)]
mod aligned_tests {
    use super::*;

    #[test]
    fn memory_begins_where_direct_reads_want_it() {
        for len in [0, 1, 4096, 100_000] {
            let memory = aligned(len);
            assert_eq!(memory.len(), len);
            assert_eq!(memory.as_ptr().addr() % ALIGNMENT, 0);
        }
    }
}

#[cfg(test)]
mod meminfo_tests {
    use super::*;

    #[test]
    fn the_least_limit_of_a_group_and_those_above_it_holds() {
        let top = tempfile::tempdir().expect("a folder");
        let write = |path: &str, limit: &str| {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, limit).expect("written");
        };
        let most = |groups: &str| left_in_group(top.path(), groups, 0);
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
        write("a/memory.stat", "anon 700\nfile 900\nshmem 300\n");
        write(
            "memory/docker/c/memory.stat",
            "rss 1\ntotal_rss 400\ntotal_shmem 100\n",
        );
        assert_eq!(most("0::/a/b\n"), Some(2000));
        assert_eq!(most(version_1), Some(1500));
        let held = |held| left_in_group(top.path(), "0::/a\n", held);
        assert_eq!((held(1200), held(4000)), (Some(1800), Some(0)));
    }
}
