//! The limits of a run, and the description of how it reads each root within them.
//!
//! Limited are the memory for data in flight (read ahead and not yet processed; the tables grow with the number of files),
//! open files and folders, and address space (`ulimit -v`, `RLIMIT_AS`).

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::device::{DeviceMap, Order, Policy, SystemRoot};
use crate::read::has_rings;
use crate::sys::{memory, process};
use crate::units::Bytes;

use super::config::{Config, Mechanism};

/// Minimum memory of a run: one folder, one sample and one step of a whole file at a time.
pub const LEAST: Bytes = Bytes(8_000_000);

/// Maximum share of the machine's memory that a run takes by default. The policies of devices stay far below it on all
/// but the smallest machines: 9 MB for two cores and a solid-state disk.
const SHARE: u64 = 32;

/// The usual number of threads that read past the page cache.
const PAST_CACHE: u64 = 16;

/// Bytes of a batch of found files on its way to the tables, with names of 30 bytes.
const BATCH: u64 = 64 << 10;

/// Bytes of a walker: its listing's buffer and the batch that it fills.
const WALKER: u64 = (64 << 10) + BATCH;

/// The limit of data in flight.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    bytes: Bytes,
    is_told: bool,
    /// The policy of the pools for the volumes so far.
    pools: Policy,
    /// Bytes of the pools that serve one volume each.
    apart: u64,
}

impl Memory {
    /// The given limit, or else a share of the machine's memory.
    pub fn new(told: Option<Bytes>) -> Self {
        let share = Bytes(process::total() / SHARE);
        Self {
            bytes: told.unwrap_or(share).max(LEAST),
            is_told: told.is_some(),
            pools: Policy::NOTHING,
            apart: 0,
        }
    }

    /// Number of batches that walkers may be ahead of the tables. With 64 instead of 16 nothing was faster, and 300,000
    /// files took 0.9 MB more.
    pub fn scan_ahead(&self) -> usize {
        (self.bytes.0 / 8 / BATCH).clamp(2, 16) as usize
    }

    /// Bytes of the buffer with which each thread reads past the page cache.
    pub fn past_cache(&self) -> u64 {
        self.bytes.0 / 8 / PAST_CACHE
    }

    /// Maximum number of walkers.
    pub fn walkers(&self) -> usize {
        (self.bytes.0 / 8 / WALKER).max(1) as usize
    }

    /// Bytes for the buffers of readers.
    fn left(&self) -> u64 {
        (self.bytes.0 / 8 * 5).saturating_sub(self.apart)
    }

    /// Cuts a volume's policy until its pools and the pools before it fit. The largest item is cut first.
    pub fn fit(&mut self, policy: Policy) -> Policy {
        let pools = self.pools;
        let policy = reduced(policy, self.left(), |policy| pools.max(policy));
        self.pools = pools.max(policy);
        policy
    }

    /// As [`Self::fit`], for pools that serve one volume only: no other volume shares their memory.
    pub fn fit_apart(&mut self, policy: Policy) -> Policy {
        let left = self.left();
        let left = left - self.pools.bytes_in_flight().min(left / 2);
        let policy = reduced(policy, left, |policy| policy);
        self.apart += policy.bytes_in_flight();
        policy
    }

    /// A description of the limit, for people. `setting` is what the user can set.
    pub fn explain(&self, setting: &str) -> String {
        let why = if self.is_told {
            format!("set by {setting}")
        } else {
            format!("1/{SHARE} of the memory; {setting} changes it")
        };
        format!("in flight: at most {} ({why})", self.bytes)
    }
}

/// Cuts a policy until these pools of it fit.
fn reduced(mut policy: Policy, bytes: u64, pools: impl Fn(Policy) -> Policy) -> Policy {
    while pools(policy).bytes_in_flight() > bytes
        && let Some(less) = policy.less()
    {
        policy = less;
    }
    policy
}

/// Descriptors that are not for reading: standard streams, report, rings, runtime.
const OTHER_DESCRIPTORS: usize = 28;

/// The usual number of open descriptors of a run, hardly ever more: a pool's files, and folders.
const USUAL: u64 = 4096;

/// Minimum number of free descriptors at the start of a run. With ten, a run reads a tree of folders, compares and
/// verifies, one thing at a time. With six, it waits forever for descriptors that it uses itself.
const LEAST_DESCRIPTORS: usize = 10;

/// Limit of descriptors from which a run uses the default cache: up to three for each file system.
const PLENTY: u64 = 256;

/// Minimum address space left at the start of a run. The limit also counts memory that is only mapped, as the stacks of
/// threads.
const LEAST_ADDRESSES: Bytes = Bytes(128 << 20);

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
    process::open_files() >= PLENTY
        && process::free_address_space().is_none()
        && process::files_are_unlimited()
}

/// Sets the process up for a run: limits, heap, and room for descriptors. For a program that does nothing else, before
/// it has a second thread. Without this call, a run stops several times for some 10 ms while the kernel makes room for
/// descriptors.
pub fn make_room() {
    if process::free_address_space().is_some() {
        memory::share_one_heap();
    }
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

/// A text for each root that is there: device, class, executor, pool sizes, and why; and for what they have in common.
/// `memory_limit` names what the user can set.
pub fn explain(config: &Config, memory_limit: &str) -> Vec<String> {
    let mut device_map = DeviceMap::new(
        SystemRoot::default(),
        config.overrides.clone(),
        process::cores(),
    );
    let mut memory = Memory::new(config.memory);
    let rings = has_rings() && config.uses(Mechanism::Ring);
    let share = Share::of_all();
    let mut texts = Vec::new();
    for root in &config.roots {
        // The search reports the others.
        let Ok(metadata) = fs::metadata(&root.path) else {
            continue;
        };
        let id = device_map.volume(metadata.dev(), &root.path);
        let volume = device_map.get(id);
        let wanted = fitting_descriptors(&volume.policy, share.files, rings);
        let fitting = if seeks_in(&volume.policy) {
            wanted
        } else {
            memory.fit(wanted)
        };
        let mut text = format!("{}: {}", root.path.display(), volume.explain());
        if fitting_descriptors(&volume.policy, share.files, true) != wanted {
            text += &format!(
                "\n  io_uring is not available here: scattered reads {} threads x 1 in flight",
                wanted.random_threads
            );
        }
        if fitting != wanted {
            text += &format!(
                "\n  reduced to fit into memory: scattered reads {} x {} in flight, whole files {} x {}",
                fitting.random_threads,
                fitting.depth,
                fitting.sequential_threads,
                fitting.sequential_depth,
            );
        }
        texts.push(text);
    }
    texts.push(memory.explain(memory_limit));
    let unused = device_map.unused_overrides();
    texts.extend(unused.map(|row| format!("{row}: no given path is on this device")));
    texts
}

/// Number of threads that replace rings. In a prototype, cold, 64 threads took 3.1 s for the prefixes of 250,000 files.
/// Two rings with 64 reads in flight each took 2.7 s, and 8 threads up to 3.9 s.
const MOST_THREADS: usize = 64;

/// True if reads are best done in order of position.
pub fn seeks_in(policy: &Policy) -> bool {
    policy.order == Order::Physical
}

/// A volume's policy as far as the number of files that can be open allows.
pub fn fitting_descriptors(policy: &Policy, open_files: usize, rings: bool) -> Policy {
    // Without rings what is in flight is threads.
    let (threads, depth) = if rings || seeks_in(policy) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Policy = Policy {
        random_threads: 16,
        depth: 64,
        sequential_threads: 8,
        sequential_depth: 8,
        ..Policy::NOTHING
    };

    #[test]
    fn what_is_in_flight_fits_into_what_was_given() {
        for mebibytes in [8, 16, 33, 64, 500, 4096] {
            let given = Bytes(mebibytes << 20);
            let mut memory = Memory::new(Some(given));
            let one = memory.fit(LARGE);
            let other = memory.fit(Policy {
                random_threads: 64,
                depth: 2,
                ..LARGE
            });
            let scan =
                memory.scan_ahead() as u64 * BATCH + memory.walkers().min(64) as u64 * WALKER;
            let all = one.max(other).bytes_in_flight() + scan;
            assert!(all <= given.0, "{mebibytes} MiB: {all}, {one:?}, {other:?}");
            for policy in [one, other] {
                let Policy {
                    random_threads,
                    depth,
                    sequential_threads,
                    sequential_depth,
                    ..
                } = policy;
                let least = random_threads.min(depth).min(sequential_threads);
                assert!(least.min(sequential_depth) >= 1, "{policy:?}");
            }
        }
    }

    #[test]
    fn plenty_of_memory_cuts_nothing() {
        let mut memory = Memory::new(Some(Bytes(4 << 30)));
        assert_eq!(memory.fit(LARGE), LARGE);
    }
}
