//! Where a scan ends that has no end.
//!
//! A file system may be a program's, and show what it likes: a folder with names without end, or a folder in a folder
//! without end. `docs/correctness.md` says why these limits are where they are.

use crate::sys::meminfo::{self, Memory};

/// Names in one folder.
pub const NAMES: u64 = 100_000_000;

/// Names in one folder where links are followed: all of them are held at once.
pub const NAMES_WITH_LINKS: u64 = 10_000_000;

/// Folders in each other.
pub const DEPTH: u32 = 16_384;

/// Folders with one inode number: each further one is compared with all of them.
pub const ALIKE: usize = 256;

/// Names after which is looked how much memory is left.
pub const LOOK: u64 = 1 << 16;

/// Less is not worth a look.
const LITTLE: u64 = 64 << 20;

/// True if memory is nearly used up, and it is this process that holds much of it.
pub fn is_memory_short() -> bool {
    meminfo::of_this_process().is_some_and(is_short)
}

/// Less is left than an eighth of what is held: tables that grow would not fit much longer. What is short since others
/// hold it is no matter of how much is listed.
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
