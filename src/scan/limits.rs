//! Limits that end a scan which would not end by itself.
//!
//! A FUSE file system is a program and may show anything: a folder with endless names, or endlessly nested folders.
//! `docs/correctness.md` gives the reason for each limit.

use crate::sys::meminfo::{self, Memory};

/// Names in one folder.
pub const NAMES: u64 = 100_000_000;

/// Nested folders.
pub const DEPTH: u32 = 16_384;

/// Folders with one inode number: each further one is compared with all of them.
pub const ALIKE: usize = 256;

/// After so many names, check how much memory is left.
pub const LOOK: usize = 1 << 14;

/// A process that holds less is not checked.
const LITTLE: u64 = 64 << 20;

/// True if memory is nearly used up, and it is this process that holds much of it.
pub fn is_memory_short() -> bool {
    meminfo::of_this_process().is_some_and(is_short)
}

/// True if less is left than an eighth of what the process holds: its tables could not grow much longer. If other
/// processes hold the memory, listing less would not help.
fn is_short(memory: Memory) -> bool {
    memory.held >= LITTLE && memory.available < memory.held / 8
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
            })
        };
        assert!(short(7000, 800));
        assert!(!short(7000, 900));
        assert!(!short(60, 1), "others hold it");
        assert!(short(500, 60));
    }
}
