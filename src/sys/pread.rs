//! Positioned reads.

use std::io::IoSliceMut;
use std::os::fd::AsFd;

use rustix::io::{Errno, ReadWriteFlags, Result};

/// Reads until `buffer` is full or the file ends; returns how much was read.
pub fn full(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize> {
    super::fault::point()?;
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::io::pread(&fd, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// Reads only what is in the page cache (`RWF_NOWAIT`); `None` if that is not all that was
/// asked for, or if the file system cannot tell.
///
/// Since Linux 5.10 a miss also starts the read in the background, so that a real read that
/// follows finds it under way.
pub fn cached(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Option<()> {
    let wanted = buffer.len();
    let got = rustix::io::preadv2(
        fd,
        &mut [IoSliceMut::new(buffer)],
        offset,
        ReadWriteFlags::NOWAIT,
    );
    (got == Ok(wanted)).then_some(())
}
