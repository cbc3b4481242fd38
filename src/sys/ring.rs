//! `io_uring`: many reads in flight from one thread.
//!
//! The buffers belong to the ring and each is either the kernel's (its read is in flight) or
//! ours; the methods check which, so that no caller can touch bytes that the kernel still writes. The ring
//! keeps the file of each read open until the read has completed: a number that became free and was given to another
//! file would be read in its place.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use io_uring::{IoUring, opcode, types};

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
