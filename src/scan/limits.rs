//! Limits for a scan that would not end by itself.
//!
//! A FUSE file system is a program and may show anything: a folder with endless names, or endlessly nested folders.
//! `docs/explanation/correctness.md` gives the reason for each limit.

use crate::sys::memory::{self, Memory};

/// Maximum number of names in one folder.
pub const NAMES: u64 = 100_000_000;

/// Maximum depth of nested folders.
pub const DEPTH: u32 = 16_384;

/// Maximum number of folders with one inode number: each further one is compared with all of them.
pub const ALIKE: usize = 256;

/// After this many names, check how much memory is left.
pub const LOOK: usize = 1 << 14;

/// Minimum memory of a process, bytes: a process that uses less is not checked.
const LITTLE: u64 = 64 << 20;

/// True if memory is nearly used up, and this process uses much of it.
pub fn is_memory_short() -> bool {
    memory::of_this_process().is_some_and(is_short)
}

/// Address space for everything but tables: threads that start later, and their buffers.
const RESERVE: u64 = 24 << 20;

/// True if the tables could not grow much longer. All tables are lists that double when they are full. The system
/// provides memory when it is used, so a quarter of the memory of the process is enough: the largest hash table is a
/// sixth, and exists twice while it grows. Address space is taken at once, and lists of one length double together. If
/// other processes use the memory, listing less would not help.
fn is_short(memory: Memory) -> bool {
    memory.addresses < memory.held.saturating_add(RESERVE)
        || memory.held >= LITTLE && memory.available < memory.held / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_short_when_this_process_holds_most_of_it() {
        let short = |held: u64, available: u64| {
            is_short(Memory {
                held: held << 20,
                available: available << 20,
                addresses: u64::MAX,
            })
        };
        assert!(short(7000, 1700));
        assert!(!short(7000, 1800));
        assert!(!short(60, 1), "others hold it");
        assert!(short(500, 120));
    }

    #[test]
    fn tables_may_double_within_the_addresses_that_are_left() {
        let short = |held: u64, addresses: u64| {
            is_short(Memory {
                held: held << 20,
                available: 100 << 30,
                addresses: addresses << 20,
            })
        };
        assert!(short(20, 43));
        assert!(!short(20, 44));
        assert!(short(200, 223));
        assert!(!short(200, 224));
    }
}
