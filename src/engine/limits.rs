//! The limits of a run.
//!
//! Limited are open files and folders, and address space (`ulimit -v`, `RLIMIT_AS`).

use crate::device::Policy;
use crate::sys::{memory, process};
use crate::units::Bytes;

/// Descriptors that are not for reading: standard streams, report, rings, runtime.
const OTHER_DESCRIPTORS: usize = 28;

/// The usual number of open descriptors of a run, hardly ever more: a pool's files, and folders.
const USUAL: u64 = 4096;

/// Minimum number of free descriptors at the start of a run. With ten, a run reads a tree of folders, compares and
/// verifies, one thing at a time. With six, it waits forever for descriptors that it uses itself.
const LEAST_DESCRIPTORS: usize = 10;

/// Limit of descriptors from which a run uses the default cache: up to three for each file system.
const PLENTY: u64 = 256;

/// Minimum address space left at the start of a run. The limit also counts memory that is only mapped, as the stacks
/// and heaps of threads; nothing looks at it later.
const LEAST_ADDRESSES: Bytes = Bytes(4 << 30);

/// A limit of the process that leaves less than a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLittle {
    /// Free descriptors.
    #[error(
        "only {0} more files can be open at a time, and a search needs {LEAST_DESCRIPTORS}: \
         raise the limit (ulimit -n 64), or close descriptors that this program inherits"
    )]
    Descriptors(usize),
    /// Address space that is left.
    #[error(
        "a search needs {LEAST_ADDRESSES} of address space, and only {0} are left: \
         raise the limit (ulimit -v unlimited)"
    )]
    AddressSpace(Bytes),
}

/// Checks that enough descriptors are free, and that enough address space is left.
///
/// # Errors
/// If there is too little.
pub fn check() -> Result<(), TooLittle> {
    let free = process::free_descriptors(LEAST_DESCRIPTORS);
    let left = process::free_address_space().map_or(LEAST_ADDRESSES, Bytes);
    match () {
        () if free < LEAST_DESCRIPTORS => Err(TooLittle::Descriptors(free)),
        () if left < LEAST_ADDRESSES => Err(TooLittle::AddressSpace(left)),
        () => Ok(()),
    }
}

/// True if this many descriptors are free.
pub fn are_free(descriptors: usize) -> bool {
    process::free_descriptors(descriptors) == descriptors
}

/// True if a cache takes nothing that the reads need.
pub fn are_plenty() -> bool {
    process::open_files() >= PLENTY && process::files_are_unlimited()
}

/// Sets the process up for a run: limits, heap, and room for descriptors. For a program that does nothing else, before
/// it has a second thread. Without this call, a run stops several times for some 10 ms while the kernel makes room for
/// descriptors.
pub fn make_room() {
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

    fn of(descriptors: usize) -> Self {
        Self {
            files: (descriptors / 4).clamp(2, 4096),
            folders: (descriptors / 64).clamp(1, 64),
            walkers: (descriptors / 8).clamp(1, 64),
        }
    }
}

/// Number of threads that replace rings. In a prototype, cold, 64 threads took 3.1 s for the prefixes of 250,000 files.
/// Two rings with 64 reads in flight each took 2.7 s, and 8 threads up to 3.9 s.
const MOST_THREADS: usize = 64;

/// A volume's policy as far as the number of files that can be open allows.
pub fn fitting_descriptors(policy: &Policy, open_files: usize, rings: bool) -> Policy {
    // Without rings what is in flight is threads.
    let (threads, depth) = if rings || policy.seeks() {
        (policy.random_threads, policy.depth)
    } else {
        ((policy.random_threads * policy.depth).min(MOST_THREADS), 1)
    };
    let random_threads = threads.clamp(1, open_files.max(1));
    let sequential_threads = policy.sequential_threads.clamp(1, open_files.max(1));
    Policy {
        random_threads,
        depth: depth.clamp(1, (open_files / random_threads).max(1)),
        sequential_threads,
        sequential_depth: policy
            .sequential_depth
            .clamp(1, (open_files / sequential_threads).max(1)),
        ..*policy
    }
}
