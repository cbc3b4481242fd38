//! `sysinfo`: how much memory lies free.

/// The share of the memory that is used by nobody, not even as page cache; 0 to 1.
pub fn free_share() -> f64 {
    let info = rustix::system::sysinfo();
    match info.totalram {
        0 => 0.0,
        total => info.freeram as f64 / total as f64,
    }
}
