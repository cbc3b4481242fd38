//! Every system call and every `unsafe` of the house: thin, safe, named after the call.
//!
//! Where a kernel lacks something, "unsupported" is a value, not an error.

pub mod cachestat;
pub mod dirent;
pub mod fadvise;
pub mod fiemap;
pub mod fsuuid;
pub mod open;
pub mod pread;
pub mod ring;
pub mod rlimit;
pub mod rusage;
pub mod stat;
pub mod statfs;
