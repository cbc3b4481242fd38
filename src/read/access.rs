//! The rules for all reads of a run: the budgets of the devices, the treatment of pages of the page cache, and the end.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::BytesMut;

use crate::device::VolumeId;
use crate::heartbeat::current;
use crate::lock::locked;
use crate::sys::memory::aligned;
use crate::sys::open;
use crate::sys::page_cache::{self, Advice};

use super::budget::Budgets;
use super::page_use::PageUse;

/// Shorter files go through the page cache and stay there.
pub(super) const LONG: u64 = PIECE as u64;

/// The rules for all reads of a run.
#[derive(Clone)]
pub struct Access {
    /// The limits of bytes per second from each device.
    pub budgets: Arc<Budgets>,
    /// What becomes of pages that were not in the page cache before.
    pub page_use: PageUse,
    /// The bytes of files that are being read.
    pub in_progress: Arc<InProgress>,
    /// Set when no further read may begin.
    pub stop: Arc<AtomicBool>,
}

impl Access {
    /// Settings with at most this many bytes per second from each device, and this treatment of pages.
    pub fn new(rate: Option<u64>, page_use: PageUse) -> Self {
        Self {
            budgets: Arc::new(Budgets::new(rate)),
            page_use,
            in_progress: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// True if the run was told to stop. Threads call it between any two calls that may take long, so it counts as a
    /// sign of life.
    pub fn stopped(&self) -> bool {
        current::beat();
        self.stop.load(Ordering::Relaxed)
    }

    /// True if these rules depend on the device of a file of this size.
    pub fn matters_for(&self, size: u64) -> bool {
        self.budgets.are_limited() || size >= LONG
    }

    /// True if these rules depend on how much of a file of this size is in the page cache.
    pub(super) fn asks_about(&self, size: u64) -> bool {
        self.budgets.are_limited() || size >= LONG && self.page_use.may_drop()
    }

    /// True if a file of this size must be read past the page cache: it is to stay out of the cache, and hardly any of
    /// it is there. `missing` returns the number of bytes that are not, if it is known.
    pub(super) fn goes_past_cache(&self, size: u64, missing: impl FnOnce() -> Option<u64>) -> bool {
        // What is there would be read from the disk as well.
        let is_cold = |missing| missing >= size - size / 8;
        self.page_use.keeps_out(size) && missing().is_some_and(is_cold)
    }

    /// Keeps the kernel from reading ahead in a file if reads are limited: readahead is not subtracted from the budget.
    pub(super) fn stop_readahead(&self, fd: impl AsFd) {
        if self.budgets.are_limited() {
            page_cache::advise(fd, 0, 0, Advice::Random);
        }
    }

    /// Takes bytes out of the budget of a volume's device, and waits until they may be read. False if the run was told
    /// to stop before: they must not be read.
    #[must_use]
    pub(super) fn spend(&self, volume: VolumeId, bytes: u64) -> bool {
        if !self.budgets.are_limited() {
            return true;
        }
        current::resting(|| self.budgets.take(volume, bytes, &self.stop))
    }
}

/// The thread makes calls to the file system of this volume, about this file, from now on.
pub(super) fn ask(volume: VolumeId, fd: impl AsFd) {
    current::ask_of_file(volume.0, || open::link_to(fd));
}

/// Reads before this offset are not counted: they take no noticeable time.
pub(super) const COUNTED_FROM: u64 = 1 << 20;

/// The bytes read so far of files that are still open, by the number of their volume.
#[derive(Debug, Default)]
pub struct InProgress {
    by_volume: Mutex<Vec<Arc<AtomicU64>>>,
}

impl InProgress {
    /// Bytes read so far of the files of a volume that are still open.
    pub fn bytes(&self, volume: VolumeId) -> u64 {
        let volumes = locked(&self.by_volume);
        let bytes = volumes.get(volume.at());
        bytes.map_or(0, |bytes| bytes.load(Ordering::Relaxed))
    }

    /// Begins to count the reads of a file.
    pub(super) fn begin(&self, volume: VolumeId) -> ReadSoFar {
        let mut volumes = locked(&self.by_volume);
        if volumes.len() <= volume.at() {
            volumes.resize_with(volume.at() + 1, Arc::default);
        }
        ReadSoFar {
            all: Arc::clone(&volumes[volume.at()]),
            own: AtomicU64::new(0),
        }
    }
}

/// The bytes that were read of one file. They count until this is dropped.
#[derive(Debug)]
pub struct ReadSoFar {
    all: Arc<AtomicU64>,
    own: AtomicU64,
}

impl ReadSoFar {
    pub(super) fn add(&self, bytes: u64) {
        self.own.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for ReadSoFar {
    fn drop(&mut self) {
        let own = *self.own.get_mut();
        self.all.fetch_sub(own, Ordering::Relaxed);
    }
}

/// Bytes read at a time. Swept from 16 KiB to 4 MiB on cached files: 128-256 KiB hashed fastest,
/// since the piece is still in the second-level cache when it is hashed.
pub const PIECE: usize = 256 << 10;

/// Bytes read at a time past the page cache. There is no readahead there, and a virtual machine's host processes
/// each request: 10 GB in six files, cold, on a network SSD took 7.2 s by 256 KiB, 6.4 s by 512 KiB and 5.7 s by 1 MiB
/// (medians of five in turns; 16 threads).
pub const LARGE: usize = 1 << 20;

/// A buffer that grows to the longest piece.
#[derive(Default)]
pub struct Buffer(BytesMut);

impl Buffer {
    /// The first bytes, as a destination for a read.
    pub fn first_mut(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len {
            self.0 = aligned(len);
        }
        &mut self.0[..len]
    }

    /// The first bytes as they were read.
    pub fn first(&self, len: usize) -> &[u8] {
        &self.0[..len]
    }
}
