//! What the machine has: memory, how much of it lies free, and processors.

use std::sync::OnceLock;
use std::thread;

/// Bytes of memory that the machine has.
pub fn total() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(info.mem_unit.into())
}

/// The share of the memory that is used by nobody, not even as page cache; 0 to 1.
pub fn free_share() -> f64 {
    let info = rustix::system::sysinfo();
    match info.totalram {
        0 => 0.0,
        total => info.freeram as f64 / total as f64,
    }
}

/// Processors that this process may use; asked once, since control groups are read for it.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}
