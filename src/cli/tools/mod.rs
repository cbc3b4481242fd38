//! Commands about disks, the cache and the program itself.

pub mod cache;
pub mod devices;
pub mod man;
pub mod probe;
