//! Limits on the number of files and folders that are open at a time.

use crate::sys::{memory, process};

use super::address_space;

/// Descriptors that are not for reading: standard streams, report, rings, runtime.
const OTHER_DESCRIPTORS: usize = 28;

/// The usual number of open descriptors of a run, hardly ever more: a pool's files, and folders.
const USUAL: u64 = 4096;

/// Minimum number of free descriptors at the start of a run. With ten, a run reads a tree of folders, compares and
/// verifies, one thing at a time. With six, it waits forever for descriptors that it uses itself.
const LEAST: usize = 10;

/// Limit of descriptors from which a run uses the default cache: up to six for each file system.
const PLENTY: u64 = 256;

/// Fewer descriptors than a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "only {free} more files can be open at a time, and a search needs {LEAST}: \
     raise the limit (ulimit -n 64), or close descriptors that this program inherits"
)]
pub struct TooFew {
    free: usize,
}

/// Checks that enough descriptors are free.
///
/// # Errors
/// If there are too few.
pub fn check() -> Result<(), TooFew> {
    let free = process::free_descriptors(LEAST);
    match free < LEAST {
        true => Err(TooFew { free }),
        false => Ok(()),
    }
}

/// True if this many descriptors are free.
pub fn are_free(descriptors: usize) -> bool {
    process::free_descriptors(descriptors) == descriptors
}

/// True if a cache takes no descriptors that the reads need.
pub fn are_plenty() -> bool {
    process::open_files() >= PLENTY
}

/// Sets the process up for a run: limits, heap, and room for descriptors. For a program that does nothing else, before
/// it has a second thread. Without this call, a run stops several times for some 10 ms while the kernel makes room for
/// descriptors.
pub fn make_room() {
    address_space::spare();
    memory::map_large_blocks();
    process::make_room(process::raise_open_files().min(USUAL));
}

/// The shares of the descriptors.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Open files of each pool.
    pub files: usize,
    /// Open folders of each thread.
    pub folders: usize,
    /// Maximum number of walkers.
    pub walkers: usize,
}

impl Share {
    /// Divides the maximum number of descriptors of this process.
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
