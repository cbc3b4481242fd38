//! `fallocate`: space on the disk before there is anything to write into it.

use std::os::fd::AsFd;

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::{Errno, Result};

use super::fault;

/// Takes space for these bytes of a file, whose length stays; `None` where the file system cannot.
///
/// # Errors
/// If there is not so much space.
pub fn beyond_the_end(fd: impl AsFd, offset: u64, length: u64) -> Result<Option<()>> {
    fault::point()?;
    loop {
        return match fallocate(&fd, FallocateFlags::KEEP_SIZE, offset, length) {
            Err(Errno::INTR) => continue,
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::FBIG)) => Err(error),
            Err(_) => Ok(None),
            Ok(()) => Ok(Some(())),
        };
    }
}

/// Gives back the space behind a file's end.
pub fn give_back(fd: impl AsFd) -> Result<()> {
    let length = rustix::fs::fstat(&fd)?.st_size;
    ftruncate(fd, u64::try_from(length).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn space_is_taken_and_given_back_and_the_length_stays() {
        let file = tempfile::tempfile().expect("a file");
        let blocks = || file.metadata().map(|m| (m.len(), m.blocks()));
        if beyond_the_end(&file, 0, 1 << 20)
            .expect("there is space")
            .is_some()
        {
            let (length, taken) = blocks().expect("metadata");
            assert!(length == 0 && taken >= 2048, "{taken} blocks");
            give_back(&file).expect("given back");
            assert_eq!(blocks().expect("metadata"), (0, 0));
        }
    }
}
