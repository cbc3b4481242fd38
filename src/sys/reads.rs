//! Reads of files: at a position, past the page cache, many in flight.

use std::io::{self, IoSliceMut};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use io_uring::{IoUring, opcode, types};
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

// `io_uring`: many reads in flight from one thread.
//
// The buffers belong to the ring and each is either the kernel's (its read is in flight) or
// ours; the methods check which, so that no caller can touch bytes that the kernel still writes. The ring
// keeps the file of each read open until the read has completed: a number that became free and was given to another
// file would be read in its place.

/// A ring with a fixed number of slots, each with a buffer for one read.
pub struct Ring {
    ring: IoUring,
    slots: ManuallyDrop<Vec<Slot>>,
    in_flight: usize,
}

struct Slot {
    buffer: Box<[u8]>,
    /// The file that is being read into it; none unless a read is in flight.
    file: Option<Arc<OwnedFd>>,
}

impl Slot {
    fn is_busy(&self) -> bool {
        self.file.is_some()
    }
}

/// A finished read: its slot, and the bytes read or what went wrong.
pub type Completion = (usize, io::Result<usize>);

/// True if this kernel gives us rings; asked once.
pub fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| Ring::new(1, 1).is_some())
}

impl Ring {
    /// Makes a ring; `None` where the kernel has none or forbids it (containers, seccomp,
    /// `kernel.io_uring_disabled`).
    pub fn new(slots: usize, buffer_size: usize) -> Option<Self> {
        let entries = u32::try_from(slots.next_power_of_two()).ok()?;
        // Linux 6.1: completions are run when we ask for them, not by interrupting our thread.
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            .or_else(|_| IoUring::new(entries))
            .ok()?;
        let slots = (0..slots)
            .map(|_| Slot {
                buffer: vec![0; buffer_size].into_boxed_slice(),
                file: None,
            })
            .collect();
        Some(Self {
            ring,
            slots: ManuallyDrop::new(slots),
            in_flight: 0,
        })
    }

    /// Reads in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Queues a read of `len` bytes at `offset` of the file into the slot's buffer from `skip` on.
    /// The ring holds the file until then as well.
    ///
    /// # Panics
    /// If the slot is in flight or the span does not fit its buffer: both are errors of the caller.
    pub fn read(&mut self, slot: usize, file: &Arc<OwnedFd>, offset: u64, skip: usize, len: usize) {
        let target = &mut self.slots[slot];
        assert!(!target.is_busy(), "slot {slot} is in flight");
        let span = &mut target.buffer[skip..skip + len];
        let entry = opcode::Read::new(
            types::Fd(file.as_raw_fd()),
            span.as_mut_ptr(),
            u32::try_from(len).expect("a buffer is smaller than 4 GiB"),
        )
        .offset(offset)
        .build()
        .user_data(slot as u64);
        // SAFETY: the slot owns what the entry names by address and by number until `completed` has
        // taken the read's end: the buffer, which is not touched while `file` is set, and the open file, so that its
        // number cannot become another one's. The ring is dropped only after all reads in flight, or leaves the slots
        // behind for ever.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("as many entries as slots");
        target.file = Some(Arc::clone(file));
        self.in_flight += 1;
    }

    /// Hands queued reads to the kernel and waits for at least `want` completions.
    pub fn wait(&mut self, want: usize) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(want) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map(drop),
            }
        }
    }

    /// The next finished read, if there is one.
    pub fn completed(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let slot = usize::try_from(entry.user_data()).expect("we chose a slot number");
        self.slots[slot].file = None;
        self.in_flight -= 1;
        let result = match entry.result() {
            n if n >= 0 => Ok(n as usize),
            e => Err(io::Error::from_raw_os_error(-e)),
        };
        Some((slot, result))
    }

    /// Makes every later call to the kernel fail, as it does when memory runs out.
    #[cfg(test)]
    pub fn break_down(&mut self) {
        let null = std::fs::File::open("/dev/null").expect("is there");
        // SAFETY: both descriptors are open; the ring's own one stays open, for another file.
        let done = unsafe { libc::dup2(null.as_raw_fd(), self.ring.as_raw_fd()) };
        assert!(done >= 0, "a descriptor can be replaced");
    }

    /// The first `len` bytes of a slot's buffer.
    ///
    /// # Panics
    /// If the slot's read is in flight.
    pub fn bytes(&self, slot: usize, len: usize) -> &[u8] {
        assert!(!self.slots[slot].is_busy(), "slot {slot} is in flight");
        &self.slots[slot].buffer[..len]
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.wait(1).is_err() {
                // The kernel may still write into the buffers: give them and their files up rather than free them.
                return;
            }
            while self.completed().is_some() {}
        }
        // SAFETY: nothing is in flight, so the kernel holds no pointer; this is the only drop.
        unsafe { ManuallyDrop::drop(&mut self.slots) };
    }
}

#[cfg(test)]
mod direct_tests {
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_read_is_of_the_file_it_was_asked_of_whatever_its_asker_closes() {
        let file = |content: &[u8]| {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(content).expect("written");
            Arc::new(OwnedFd::from(file))
        };
        let mut ring = Ring::new(2, 4096).expect("a ring");
        let wanted = file(b"wanted");
        ring.read(0, &wanted, 0, 0, 6);
        drop(wanted);
        // It gets the number that just became free.
        let _other = file(b"others");
        ring.wait(1).expect("it waits");
        let (slot, result) = ring.completed().expect("one is done");
        assert_eq!(result.expect("read"), 6);
        assert_eq!(ring.bytes(slot, 6), b"wanted");
    }
}
