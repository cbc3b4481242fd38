//! `sysinfo`: how much memory there is, and how much lies free.

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
