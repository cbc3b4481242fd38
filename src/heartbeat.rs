//! Signs of life of threads that make calls to file systems.
//!
//! A server, a daemon or a disk may leave a call without an answer for ever, and no thread can be called back from it.
//! So each thread that makes such calls counts them, and another one looks now and then which count stands still. The
//! count is one relaxed store: nothing is locked, and no clock is read, for a file.

pub mod current;
mod silence;

pub use silence::Silence;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::lock::locked;

/// The subject of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A folder, by its number, and a name in it.
    Folder,
    /// A volume, by its place in the scheduler.
    Volume,
    /// A path.
    Path,
}

/// In place of a number: the wait for a path is limited.
const LIMITED: u32 = u32::MAX;

/// One thread's signs of life, on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub struct Heartbeat {
    /// The kind of its subject.
    pub subject: Subject,
    /// A count; the lowest bit is set while it is at work.
    count: AtomicU32,
    at: AtomicU32,
    name: Mutex<Vec<u8>>,
    silent: AtomicBool,
}

impl Heartbeat {
    fn new(subject: Subject) -> Self {
        Self {
            subject,
            count: AtomicU32::new(0),
            at: AtomicU32::new(0),
            name: Mutex::default(),
            silent: AtomicBool::new(false),
        }
    }

    /// Another call is about to be made, or has been answered.
    pub fn beat(&self) {
        let count = self.count.load(Ordering::Relaxed);
        self.count
            .store((count | 1).wrapping_add(2), Ordering::Relaxed);
    }

    /// It waits for other threads, not for a file system.
    pub fn rest(&self) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count & !1, Ordering::Relaxed);
    }

    /// It asks about this from now on.
    pub fn ask(&self, at: u32) {
        self.at.store(at, Ordering::Relaxed);
        self.beat();
    }

    /// It asks about a name in this, or about a path, from now on.
    pub fn ask_about(&self, at: u32, name: &[u8]) {
        let mut held = self.name();
        held.clear();
        held.extend_from_slice(name);
        drop(held);
        self.ask(at);
    }

    /// The count, and whether it is at work.
    pub fn count(&self) -> (u32, bool) {
        let count = self.count.load(Ordering::Relaxed);
        (count, count & 1 == 1)
    }

    /// True if the run gives up on the call without the watch.
    fn is_limited(&self) -> bool {
        self.subject == Subject::Path && self.at() == LIMITED
    }

    /// The number that it asks about.
    pub fn at(&self) -> u32 {
        self.at.load(Ordering::Relaxed)
    }

    /// The name that it asks about.
    pub fn name(&self) -> MutexGuard<'_, Vec<u8>> {
        locked(&self.name)
    }

    /// Says whether it has waited for an answer for long.
    pub fn set_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::Relaxed);
    }

    /// True if it has waited for an answer for long.
    pub fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }
}

/// All threads of a run that ask file systems.
#[derive(Debug, Default)]
pub struct Watchlist {
    heartbeats: Mutex<Vec<Arc<Heartbeat>>>,
    /// Device numbers of file systems that do not answer.
    devices: Mutex<Vec<u64>>,
    any_devices: AtomicBool,
    given_up: AtomicBool,
}

impl Watchlist {
    /// Takes a thread in, in the place of one that has ended if there is one.
    pub fn admit(&self, subject: Subject) -> Arc<Heartbeat> {
        let mut heartbeats = locked(&self.heartbeats);
        let is_free = |heartbeat: &&Arc<Heartbeat>| {
            let is_left = Arc::strong_count(heartbeat) == 1 && !heartbeat.count().1;
            is_left && heartbeat.subject == subject
        };
        if let Some(free) = heartbeats.iter().find(is_free) {
            return Arc::clone(free);
        }
        let heartbeat = Arc::new(Heartbeat::new(subject));
        heartbeats.push(Arc::clone(&heartbeat));
        heartbeat
    }

    /// All of them, in the order in which they were taken in.
    pub fn heartbeats(&self) -> Vec<Arc<Heartbeat>> {
        locked(&self.heartbeats).clone()
    }

    /// Says which devices do not answer.
    pub fn set_devices(&self, devices: Vec<u64>) {
        self.any_devices
            .store(!devices.is_empty(), Ordering::Relaxed);
        *locked(&self.devices) = devices;
    }

    /// True if any device does not answer.
    pub fn any_devices(&self) -> bool {
        self.any_devices.load(Ordering::Relaxed)
    }

    /// True if this device does not answer.
    pub fn is_silent(&self, device: u64) -> bool {
        locked(&self.devices).contains(&device)
    }

    /// Says that nobody waits any more for those that are silent.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// True if nobody waits any more for those that are silent.
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_life_is_another_count() {
        let watchlist = Watchlist::default();
        let heartbeat = watchlist.admit(Subject::Folder);
        let mut seen = vec![heartbeat.count()];
        for _ in 0..5 {
            heartbeat.ask_about(7, b"name");
            seen.push(heartbeat.count());
            heartbeat.rest();
            assert!(!heartbeat.count().1);
        }
        seen.dedup();
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert_eq!((heartbeat.at(), &heartbeat.name()[..]), (7, &b"name"[..]));
        assert_eq!(watchlist.heartbeats().len(), 1);
    }
}
