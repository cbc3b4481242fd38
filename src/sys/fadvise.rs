//! `posix_fadvise`: hints about reads to come. A refused hint is no error.

use std::num::NonZeroU64;
use std::os::fd::AsFd;

pub use rustix::fs::Advice;

/// Gives a hint for `len` bytes from `offset`; 0 bytes mean "to the end".
pub fn advise(fd: impl AsFd, offset: u64, len: u64, advice: Advice) {
    // A hint that the file system does not take changes nothing for us.
    let _ignored = rustix::fs::fadvise(fd, offset, NonZeroU64::new(len), advice);
}
