//! Limits on the number of files and folders that are open at a time.

use crate::sys::{memory, process};

use super::address_space;

/// Descriptors that are not for reading: standard streams, report, rings, runtime.
const OTHER_DESCRIPTORS: usize = 28;

/// Descriptors that a run has open at a time, hardly ever more: a pool's files, and folders.
const USUAL: u64 = 4096;

/// Descriptors that must be free when a run begins: with ten it reads a tree of folders, compares and verifies, one
/// thing at a time; with six it waits for ever for what it holds itself.
const LEAST: usize = 10;

/// Fewer descriptors than a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "only {free} more files can be open at a time, and a search needs {LEAST}: \
     raise the limit (ulimit -n 64), or close descriptors that this program inherits"
)]
pub struct TooFew {
    free: usize,
}

/// Makes sure that there are enough.
///
/// # Errors
/// If there are not.
pub fn check() -> Result<(), TooFew> {
    let free = process::free_descriptors(LEAST);
    match free < LEAST {
        true => Err(TooFew { free }),
        false => Ok(()),
    }
}

/// Sets the process up for a run: limits, heap, and room for descriptors. For a program that does nothing else, before
/// it has a second thread. Without room for descriptors a run stops several times for some 10 ms, while room is made.
pub fn make_room() {
    address_space::spare();
    memory::map_large_blocks();
    process::make_room(process::raise_open_files().min(USUAL));
}

/// How descriptors are shared out.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Open files of each pool.
    pub files: usize,
    /// Open folders of each thread.
    pub folders: usize,
    /// Walkers at most.
    pub walkers: usize,
}

impl Share {
    /// Shares out as many as the system lets this process have.
    pub fn of_all() -> Self {
        let descriptors = usize::try_from(process::open_files()).unwrap_or(usize::MAX);
        Self::of(descriptors.saturating_sub(OTHER_DESCRIPTORS))
    }

    /// The same with no more walkers than this.
    pub fn with_walkers(self, most: usize) -> Self {
        Self {
            walkers: self.walkers.min(most),
            ..self
        }
    }

    fn of(descriptors: usize) -> Self {
        Self {
            files: (descriptors / 4).clamp(2, 4096),
            folders: (descriptors / 64).clamp(1, 64),
            walkers: (descriptors / 8).clamp(1, 64),
        }
    }
}
