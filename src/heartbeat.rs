//! Signs of life of threads that make calls to file systems.
//!
//! A server, a daemon or a disk may leave a call without an answer for ever, and no thread can be called back from it.
//! So each thread that makes such calls counts them, and another one looks now and then which count stands still. The
//! count is one relaxed store: nothing is locked, and no clock is read, for a file.

pub mod current;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;

use crate::lock::locked;

/// The time after which a call without an answer is reported. A disk takes about as long to spin up.
const NAMED: Duration = Duration::from_secs(10);

/// Longest time that counts between two looks. While the run was stopped or the machine slept, no thread could answer.
const STEP: Duration = Duration::from_secs(1);

/// Where `/proc` has a link to each open file. The path of such a link stands for that of the file.
pub const OPEN_FILES: &str = "/proc/self/fd/";

/// In place of a number: the wait for a path is limited.
const LIMITED: u32 = u32::MAX;

/// What a thread asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Volumes, by their place in the scheduler.
    Volume,
    /// Paths, which have a slash, or names in a folder, by its number.
    Path,
}

/// One thread's signs of life.
#[derive(Debug)]
pub struct Heartbeat {
    /// The kind of its subject.
    pub subject: Subject,
    calls: &'static Calls,
    at: AtomicU32,
    name: Mutex<Vec<u8>>,
    seen: Mutex<Seen>,
    watchlist: Weak<Watchlist>,
}

/// A count of calls, on a cache line of its own; the lowest bit is set while its thread is at work. It is never freed,
/// so that a thread needs no lock to reach its own; a later heartbeat uses it again.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Calls(AtomicU32);

/// Those that no heartbeat uses.
static UNUSED: Mutex<Vec<&'static Calls>> = Mutex::new(Vec::new());

impl Calls {
    fn unused() -> &'static Self {
        let unused = locked(&UNUSED).pop();
        let calls = unused.unwrap_or_else(|| Box::leak(Box::default()));
        calls.0.store(0, Ordering::Relaxed);
        calls
    }

    fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    fn beat(&self) {
        let next = (self.count() | 1).wrapping_add(2);
        self.0.store(next, Ordering::Relaxed);
    }

    fn rest(&self) {
        self.0.store(self.count() & !1, Ordering::Relaxed);
    }

    #[inline]
    fn is_at_work(&self) -> bool {
        self.count() & 1 == 1
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.calls.rest();
        locked(&UNUSED).push(self.calls);
    }
}

/// What the last look found of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    count: u32,
    /// For how long the count has stood still.
    quiet: Duration,
    /// It was reported.
    is_silent: bool,
    /// The device that does not answer it.
    device: Option<u64>,
    /// Nobody waits for it any more.
    is_lost: bool,
}

impl Heartbeat {
    fn ask(&self, at: u32) {
        self.at.store(at, Ordering::Relaxed);
        self.calls.beat();
    }

    fn ask_about_name(&self, at: u32, name: &[u8]) {
        name.clone_into(&mut self.text());
        self.ask(at);
    }

    fn ask_about(&self, at: u32, path: &[u8]) {
        if path.contains(&b'/') {
            self.ask_about_name(at, path);
        } else {
            self.ask_about_name(at, &[b"./", path].concat());
        }
    }

    /// True while it makes calls to file systems.
    pub fn is_at_work(&self) -> bool {
        self.calls.is_at_work()
    }

    /// The number that it asks about.
    pub fn at(&self) -> u32 {
        self.at.load(Ordering::Relaxed)
    }

    fn text(&self) -> MutexGuard<'_, Vec<u8>> {
        locked(&self.name)
    }

    /// The path, or the name, that it asks about.
    pub fn name(&self) -> Vec<u8> {
        let name = self.text().clone();
        let link = name.starts_with(OPEN_FILES.as_bytes());
        let path = link.then(|| fs::read_link(OsStr::from_bytes(&name)).ok());
        path.flatten()
            .map_or(name, |path| path.into_os_string().into_vec())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        locked(&self.seen)
    }

    /// For how long it has waited for an answer, at the last look.
    pub fn quiet(&self) -> Duration {
        self.seen().quiet
    }

    /// True if it was reported as waiting for an answer.
    pub fn is_silent(&self) -> bool {
        self.seen().is_silent
    }

    /// Takes note of the device that it waits for.
    pub fn set_device(&self, device: Option<u64>) {
        self.seen().device = device;
    }

    /// True if the run gives up on the call without the watch.
    fn is_limited(&self) -> bool {
        self.subject == Subject::Path && self.at() == LIMITED
    }
}

/// All threads of a run that ask file systems, and how long the run waits for them.
#[derive(Debug)]
pub struct Watchlist {
    heartbeats: Mutex<Vec<Arc<Heartbeat>>>,
    clock: Mutex<Clock>,
    /// Something has moved since the last look.
    moved: AtomicBool,
    any_silent: AtomicBool,
    given_up: AtomicBool,
}

#[derive(Debug)]
struct Clock {
    /// How long a run waits while no other thread makes progress.
    patience: Duration,
    looked: Instant,
    /// For how long nothing has moved while a thread was silent.
    quiet: Duration,
    /// For how long nothing has moved while a thread was at work.
    still: Duration,
}

/// What a look found.
#[derive(Debug, Default)]
pub struct Looked {
    /// Threads that have become silent.
    pub silent: Vec<Arc<Heartbeat>>,
    /// Threads that were silent and have their answer.
    pub answered: Vec<Arc<Heartbeat>>,
    /// Silent threads that nobody waits for any more: nothing else has moved for long enough.
    pub lost: Vec<Arc<Heartbeat>>,
}

impl Watchlist {
    /// Knows no threads yet. A run that waits only for silent threads gives up after this time.
    pub fn new(patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            heartbeats: Mutex::default(),
            clock: Mutex::new(Clock {
                patience,
                looked: Instant::now(),
                quiet: Duration::ZERO,
                still: Duration::ZERO,
            }),
            moved: AtomicBool::new(false),
            any_silent: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
        })
    }

    /// The run gives up after this time from now on.
    pub fn wait_for(&self, patience: Duration) {
        self.clock().patience = patience;
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        locked(&self.clock)
    }

    /// Takes a thread in, in the place of one that has ended if there is one.
    pub fn admit(self: &Arc<Self>, subject: Subject) -> Arc<Heartbeat> {
        let mut heartbeats = locked(&self.heartbeats);
        let is_free = |heartbeat: &&Arc<Heartbeat>| {
            let is_left = Arc::strong_count(heartbeat) == 1 && !heartbeat.is_at_work();
            is_left && heartbeat.subject == subject
        };
        if let Some(free) = heartbeats.iter().find(is_free) {
            return Arc::clone(free);
        }
        let heartbeat = Arc::new(Heartbeat {
            subject,
            calls: Calls::unused(),
            at: AtomicU32::new(0),
            name: Mutex::default(),
            seen: Mutex::default(),
            watchlist: Arc::downgrade(self),
        });
        heartbeats.push(Arc::clone(&heartbeat));
        heartbeat
    }

    /// All of them, in the order in which they were taken in.
    pub fn heartbeats(&self) -> Vec<Arc<Heartbeat>> {
        locked(&self.heartbeats).clone()
    }

    /// Something was found or read, which counts as a move of a thread.
    pub fn moved(&self) {
        self.moved.store(true, Ordering::Relaxed);
    }

    /// Compares the counts with those of the last look.
    pub fn look(&self) -> Looked {
        let mut clock = self.clock();
        let step = clock.looked.elapsed().min(STEP);
        clock.looked = Instant::now();
        drop(clock);
        self.look_after(step)
    }

    fn look_after(&self, step: Duration) -> Looked {
        let mut clock = self.clock();
        let mut looked = Looked::default();
        let mut moved = self.moved.swap(false, Ordering::Relaxed);
        let (mut any_silent, mut any_awaited, mut any_at_work) = (false, false, false);
        for heartbeat in self.heartbeats() {
            let count = heartbeat.calls.count();
            let is_at_work = count & 1 == 1;
            let mut seen = heartbeat.seen();
            any_at_work |= is_at_work && !seen.is_lost;
            if count != seen.count || !is_at_work {
                moved |= count != seen.count;
                let before = std::mem::take(&mut *seen);
                seen.count = count;
                drop(seen);
                if before.is_silent {
                    looked.answered.push(heartbeat);
                }
                continue;
            }
            seen.quiet += step;
            if seen.quiet >= NAMED.min(clock.patience) {
                any_silent = true;
                any_awaited |= !seen.is_lost && !heartbeat.is_limited();
                let was_silent = std::mem::replace(&mut seen.is_silent, true);
                drop(seen);
                if !was_silent {
                    looked.silent.push(heartbeat);
                }
            }
        }
        self.any_silent.store(any_silent, Ordering::Relaxed);
        let longer = |so_far: Duration, counts| {
            if counts && !moved {
                so_far + step
            } else {
                Duration::ZERO
            }
        };
        clock.quiet = longer(clock.quiet, any_awaited);
        clock.still = longer(clock.still, any_at_work);
        if clock.quiet >= clock.patience && any_awaited {
            clock.quiet = Duration::ZERO;
            let mut lost = self.heartbeats();
            lost.retain(|heartbeat| heartbeat.is_silent() && self.give_up(heartbeat));
            looked.lost = lost;
        }
        looked
    }

    /// Gives up on a silent thread: it counts again when it moves. False if it was given up before.
    pub fn give_up(&self, heartbeat: &Heartbeat) -> bool {
        if heartbeat.subject != Subject::Volume {
            self.given_up.store(true, Ordering::Relaxed);
        }
        !std::mem::replace(&mut heartbeat.seen().is_lost, true)
    }

    /// For how long no thread has moved, while one was at work.
    pub fn still(&self) -> Duration {
        self.clock().still
    }

    /// The thread at work whose count has stood still the longest.
    pub fn longest(&self) -> Option<Arc<Heartbeat>> {
        let heartbeats = self.heartbeats().into_iter();
        let longest = heartbeats.max_by_key(|heartbeat| heartbeat.quiet());
        longest.filter(|longest| !longest.quiet().is_zero())
    }

    /// True if this device does not answer a thread.
    pub fn is_silent(&self, device: u64) -> bool {
        let waits = |heartbeat: &Arc<Heartbeat>| heartbeat.seen().device == Some(device);
        self.any_silent() && self.heartbeats().iter().any(waits)
    }

    /// True if any thread is silent.
    pub fn any_silent(&self) -> bool {
        self.any_silent.load(Ordering::Relaxed)
    }

    /// True if nobody waits any more for silent threads that list folders or look at paths.
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

/// Does the work in a thread of its own if it may wait for this time only, since nothing can interrupt a call to a file
/// system that does not answer.
///
/// # Errors
/// `TimedOut` if it has not ended by then, or if there can be no thread.
pub fn within<T: Send + 'static>(
    patience: Option<Duration>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let Some(patience) = patience else {
        return Ok(work());
    };
    let (done, ended) = bounded(1);
    let thread = thread::Builder::new().name("waiting".to_owned());
    // Send fails if the caller stopped waiting.
    thread.spawn(move || done.send(work()))?;
    let unanswered = |_| io::Error::new(ErrorKind::TimedOut, "its file system does not answer");
    ended.recv_timeout(patience).map_err(unanswered)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn silent_after(watchlist: &Watchlist, seconds: u64) -> Vec<Arc<Heartbeat>> {
        let looks = (0..seconds).flat_map(|_| watchlist.look_after(SECOND).silent);
        looks.collect()
    }

    fn lost_after(watchlist: &Watchlist, seconds: u64) -> Vec<Arc<Heartbeat>> {
        let looks = (0..seconds).flat_map(|_| watchlist.look_after(SECOND).lost);
        looks.collect()
    }

    fn are(lost: &[Arc<Heartbeat>], expected: &Arc<Heartbeat>) -> bool {
        matches!(lost, [one] if Arc::ptr_eq(one, expected))
    }

    #[test]
    fn who_moves_or_rests_is_not_silent() {
        let watchlist = Watchlist::new(60 * SECOND);
        let [stuck, busy, idle] = [0; 3].map(|_| watchlist.admit(Subject::Volume));
        stuck.calls.beat();
        idle.calls.beat();
        idle.calls.rest();
        let mut named = Vec::new();
        for _ in 0..100 {
            busy.calls.beat();
            named.extend(silent_after(&watchlist, 1));
            assert_eq!(watchlist.clock().quiet, Duration::ZERO, "one still works");
            assert_eq!(watchlist.still(), Duration::ZERO);
        }
        assert!(are(&named, &stuck), "once");
        assert_eq!(watchlist.longest().expect("one").quiet(), 99 * SECOND);
        busy.calls.rest();
        for seconds in 0..60 {
            assert!(watchlist.clock().quiet <= seconds * SECOND);
            watchlist.look_after(SECOND);
        }
        assert!(watchlist.clock().quiet >= 59 * SECOND);
        stuck.calls.beat();
        assert!(are(&watchlist.look_after(SECOND).answered, &stuck));
        assert!(!stuck.is_silent() && watchlist.clock().quiet == Duration::ZERO);
        assert!(silent_after(&watchlist, 9).is_empty());
        assert_eq!(watchlist.still(), 9 * SECOND);
        assert!(are(&silent_after(&watchlist, 1), &stuck), "again");
        // What is read or found by others counts as well.
        watchlist.moved();
        watchlist.look_after(SECOND);
        assert_eq!(watchlist.clock().quiet, Duration::ZERO);
        stuck.calls.rest();
        silent_after(&watchlist, 2);
        assert_eq!(watchlist.still(), Duration::ZERO, "who rests is not stuck");
        assert!(watchlist.longest().is_none());
    }

    #[test]
    fn who_was_given_up_counts_again_when_it_moves() {
        let watchlist = Watchlist::new(5 * SECOND);
        let [first, second] = [0; 2].map(|_| watchlist.admit(Subject::Volume));
        first.calls.beat();
        assert!(are(&lost_after(&watchlist, 11), &first));
        assert!(lost_after(&watchlist, 20).is_empty(), "nobody waits for it");
        assert_eq!(watchlist.still(), Duration::ZERO);
        second.calls.beat();
        assert!(are(&lost_after(&watchlist, 11), &second), "only once");
        first.calls.beat();
        assert!(are(&lost_after(&watchlist, 11), &first));
        assert!(!watchlist.is_given_up(), "only readers were given up");
    }

    #[test]
    fn a_call_whose_wait_is_limited_is_named_and_not_given_up() {
        let watchlist = Watchlist::new(5 * SECOND);
        let heartbeat = watchlist.admit(Subject::Path);
        heartbeat.ask_about(LIMITED, b"cache");
        assert!(are(&silent_after(&watchlist, 10), &heartbeat));
        assert!(lost_after(&watchlist, 100).is_empty() && watchlist.still() > 5 * SECOND);
    }

    #[test]
    fn work_that_does_not_end_is_not_waited_for() {
        let (never, ends) = bounded::<()>(0);
        let waited = within(Some(Duration::from_millis(10)), move || ends.recv());
        assert!(waited.is_err_and(|error| error.kind() == ErrorKind::TimedOut));
        drop(never);
        for patience in [None, Some(Duration::from_secs(60))] {
            assert_eq!(within(patience, || 7).ok(), Some(7));
        }
    }
}
