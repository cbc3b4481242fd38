//! Every system call and every `unsafe` of the house: thin, safe, named after the call.
//!
//! Where a kernel lacks something, "unsupported" is a value, not an error.

pub mod aligned;
pub mod allocate;
pub mod attributes;
pub mod cachestat;
pub mod dedupe;
pub mod direct;
pub mod dirent;
pub mod fadvise;
pub mod fault;
pub mod fiemap;
pub mod fsuuid;
pub mod ioprio;
pub mod large_page;
pub mod lease;
pub mod link;
pub mod mallopt;
pub mod meminfo;
pub mod mincore;
pub mod open;
pub mod parent;
pub mod pread;
pub mod rename;
pub mod ring;
pub mod rlimit;
pub mod rusage;
pub mod seek;
pub mod stat;
pub mod statfs;
pub mod sync;
pub mod sysinfo;
pub mod tmpfile;
pub mod unlink;
pub mod user_namespace;
pub mod way;
pub mod write;
pub mod xfs;
