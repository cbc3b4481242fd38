//! Positioned reads.

use std::io::IoSliceMut;
use std::os::fd::AsFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
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

/// Reads only what is in the page cache (`RWF_NOWAIT`); false if that is not all that was asked for.
///
/// Since Linux 5.10 a miss also starts the read in the background, so that a real read that
/// follows finds it under way.
///
/// # Errors
///
/// [`Errno::OPNOTSUPP`] where the file system has no such reads (FUSE).
pub fn cached(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<bool> {
    let wanted = buffer.len();
    let got = rustix::io::preadv2(
        fd,
        &mut [IoSliceMut::new(buffer)],
        offset,
        ReadWriteFlags::NOWAIT,
    );
    match got {
        Ok(got) => Ok(got == wanted),
        Err(Errno::AGAIN) => Ok(false),
        Err(error) => Err(error),
    }
}

// `O_DIRECT`: reads of an open file that go past the page cache.
//
// Offsets, lengths and memory of such reads must be multiples of [`ALIGNMENT`](super::memory::ALIGNMENT).

/// Has all reads by this descriptor go past the page cache; false where the file system has no such reads.
pub fn begin_direct(fd: impl AsFd) -> bool {
    set_direct(fd, true).is_ok()
}

/// Has them go through it again.
pub fn end_direct(fd: impl AsFd) {
    // What could be set can be cleared.
    let _ignored = set_direct(fd, false);
}

fn set_direct(fd: impl AsFd, direct: bool) -> Result<()> {
    let mut flags = fcntl_getfl(&fd)?;
    flags.set(OFlags::DIRECT, direct);
    fcntl_setfl(&fd, flags)
}

/// Reads from `offset` until the first `least` bytes of `buffer` are there or the file ends; returns how
/// much was read, which may be more.
///
/// Some file systems take the flag and refuse the reads, all of them (overlayfs above one that has none) or those of
/// some files (compressed ones): then they go through the page cache from now on. Others that read by the same
/// descriptor may be refused at the same time, and do the same.
pub fn read_direct(fd: impl AsFd, buffer: &mut [u8], least: usize, offset: u64) -> Result<usize> {
    super::fault::point()?;
    let mut filled = 0;
    let mut was_refused = false;
    while filled < least {
        match rustix::io::pread(&fd, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(Errno::INTR) => {}
            // The rest after a read that ended on no multiple is refused as well.
            Err(Errno::INVAL | Errno::OPNOTSUPP) if !was_refused => {
                was_refused = true;
                end_direct(&fd);
            }
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use crate::sys::memory::aligned;

    use super::*;

    const LEN: usize = 10_000;

    fn file() -> (tempfile::NamedTempFile, Vec<u8>) {
        let mut file = tempfile::NamedTempFile::new_in(".").expect("a file");
        let bytes: Vec<u8> = (0..LEN).map(|i| (i / 7) as u8).collect();
        file.write_all(&bytes).expect("written");
        (file, bytes)
    }

    #[test]
    fn the_end_of_a_file_is_reached_and_nothing_beyond_it() {
        let (file, bytes) = file();
        let mut buffer = aligned(16 << 10);
        for direct in [false, true] {
            if direct && !begin_direct(file.as_file()) {
                return;
            }
            for (offset, least, there) in [
                (0, 100, LEN),
                (8192, LEN - 8192, LEN - 8192),
                (0, 16384, LEN),
            ] {
                let n = read_direct(file.as_file(), &mut buffer, least, offset).expect("read");
                assert!(n >= least.min(there) && n <= there, "{n} of {there}");
                assert_eq!(buffer[..n], bytes[offset as usize..][..n]);
            }
        }
    }

    #[test]
    fn threads_that_are_refused_at_the_same_time_all_read_on() {
        let (file, bytes) = file();
        for _ in 0..200 {
            if !begin_direct(file.as_file()) {
                return;
            }
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let mut buffer = aligned(LEN);
                        let n =
                            read_direct(file.as_file(), &mut buffer[1..101], 100, 3).expect("read");
                        assert_eq!(buffer[1..][..n], bytes[3..][..n]);
                    });
                }
            });
        }
    }

    #[test]
    fn what_is_refused_is_read_through_the_page_cache() {
        let (file, bytes) = file();
        if !begin_direct(file.as_file()) {
            return;
        }
        // Neither the memory nor the offset is what direct reads want.
        let mut buffer = aligned(LEN);
        let n = read_direct(file.as_file(), &mut buffer[1..101], 100, 3).expect("read");
        assert_eq!(buffer[1..][..n], bytes[3..][..n]);
        assert_eq!(n, 100);
    }
}
