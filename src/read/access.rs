//! The settings of all reads of a run: the budgets of the devices, the treatment of page cache pages, and the signs of
//! life of the reading threads.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::heartbeat::{Heartbeat, current};
use crate::sys::open;

use super::behind::{Behind, PageUse};
use super::budget::Budgets;
use super::buffer::{LargePages, PIECE};

/// Shorter files go through the page cache and stay there.
pub(super) const LONG: u64 = PIECE as u64;

/// The rules for all reads of a run.
#[derive(Clone)]
pub struct Access {
    /// How much may be read from each device.
    pub budgets: Arc<Budgets>,
    /// The thread that drops pages.
    pub behind: Behind,
    /// Buffers for reads past the page cache; none if there are no such reads.
    pub past_cache: Option<LargePages>,
}

impl Access {
    /// Reads at this rate at most, in bytes a second from each device, and does this with the pages. `large` bytes of
    /// buffers serve long reads past the page cache.
    pub fn new(rate: Option<u64>, page_use: PageUse, large: Option<u64>) -> Self {
        Self {
            budgets: Arc::new(Budgets::new(rate)),
            behind: Behind::new(page_use),
            past_cache: large.map(LargePages::new),
        }
    }

    /// True if it matters for a file of this size where it lies.
    pub fn matters_for(&self, size: u64) -> bool {
        self.budgets.are_limited() || size >= LONG
    }

    /// True if it matters to these rules how much of a file of this size is in the page cache.
    pub(super) fn asks_about(&self, size: u64) -> bool {
        self.budgets.are_limited() || size >= LONG && self.behind.gives_back_at_all()
    }

    /// True if this many bytes of a file of this size are to be read past the page cache: nothing of it is to get in
    /// there, and hardly any of the bytes are there. `missing` says how many are not, if it can be told.
    pub(super) fn goes_past_cache(
        &self,
        (size, is_whole): (u64, bool),
        wanted: u64,
        missing: impl FnOnce() -> Option<u64>,
    ) -> bool {
        // What is there would be read from the disk as well.
        let is_cold = |missing| missing >= wanted - wanted / 8;
        self.past_cache.is_some()
            && self.behind.keeps_out(size, is_whole)
            && missing().is_some_and(is_cold)
    }

    /// Takes bytes out of the budget of a volume's device, and waits until they may be read.
    pub(super) fn spend(&self, volume: usize, bytes: u64, signs: &Signs) {
        if self.budgets.are_limited() {
            signs.rest();
            self.budgets.take(volume, bytes, &signs.stop);
        }
    }
}

/// How a reading thread hears that it is to end, and shows that it lives.
#[derive(Clone)]
pub struct Signs {
    stop: Arc<AtomicBool>,
    /// None for the heartbeat of the current thread, which the system calls themselves count.
    heartbeat: Option<Arc<Heartbeat>>,
}

impl Signs {
    /// Those of a thread that reads for a search.
    pub(super) fn new(stop: Arc<AtomicBool>, heartbeat: Arc<Heartbeat>) -> Self {
        Self {
            stop,
            heartbeat: Some(heartbeat),
        }
    }

    /// Those of whichever thread reads, and reads to the end.
    pub fn of_current_thread() -> Self {
        Self {
            stop: Arc::default(),
            heartbeat: None,
        }
    }

    /// True if the run was told to stop. It is asked between any two calls that may take long, so it counts as a sign
    /// of life.
    pub fn stopped(&self) -> bool {
        self.beat();
        self.stop.load(Ordering::Relaxed)
    }

    /// The thread makes a call to a file system.
    pub(super) fn beat(&self) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.beat();
        }
    }

    /// The thread makes calls to the file system of this volume, about this file, from now on.
    pub(super) fn ask(&self, volume: usize, fd: impl AsFd) {
        match &self.heartbeat {
            Some(heartbeat) => heartbeat.ask(volume as u32),
            None => open::ask_about(fd),
        }
    }

    /// As [`Self::ask`], where nothing is open yet.
    pub(super) fn ask_of(&self, volume: usize) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.ask(volume as u32);
        }
    }

    /// The thread asks no file system until it does so again.
    pub fn rest(&self) {
        match &self.heartbeat {
            Some(heartbeat) => heartbeat.rest(),
            None => current::rest(),
        }
    }
}
