//! Threads of a scan, any of which may block forever in a call to a file system that does not answer.
//!
//! For this reason they are not joined. Each thread sends its result when it ends. The receiver waits until all threads
//! have ended, or until the run has given up on the rest.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::heartbeat::{Heartbeat, Subject, Watchlist, current};

/// Interval between two checks whether the run still waits.
pub const TICK: Duration = Duration::from_millis(50);

/// The time that threads have to end. Threads that the kernel does not block are much faster.
const GRACE: Duration = Duration::from_millis(400);

/// A message from a thread.
enum Word {
    /// It has ended.
    Ended(thread::Result<()>),
    /// It asks the receiver to check for work.
    Look,
}

/// Lets a thread wake the receiver before its next tick.
pub struct Waker(Sender<Word>);

impl Waker {
    /// Wakes the receiver.
    pub fn wake(&self) {
        // Nobody listens any more only when nobody waits.
        let _ignored = self.0.send(Word::Look);
    }
}

/// Threads at work.
pub struct Workers {
    watchlist: Arc<Watchlist>,
    stop: Arc<AtomicBool>,
    to: Sender<Word>,
    ended: Receiver<Word>,
    at_work: usize,
    over_since: Option<Instant>,
}

impl Workers {
    /// No threads.
    pub fn new(watchlist: &Arc<Watchlist>, stop: &Arc<AtomicBool>) -> Self {
        let (to, ended) = unbounded();
        Self {
            watchlist: Arc::clone(watchlist),
            stop: Arc::clone(stop),
            to,
            ended,
            at_work: 0,
            over_since: None,
        }
    }

    /// Starts a thread and returns its heartbeat; none if the system provides no thread.
    pub fn start(
        &mut self,
        name: &str,
        subject: Subject,
        work: impl FnOnce() + Send + 'static,
    ) -> Option<Arc<Heartbeat>> {
        let (to, heartbeat) = (self.to.clone(), self.watchlist.admit(subject));
        let own = Arc::clone(&heartbeat);
        let named = thread::Builder::new().name(name.to_owned());
        let spawned = named.spawn(move || {
            let work = AssertUnwindSafe(|| current::watched(Some(own), work));
            // Nobody listens any more only when nobody waits.
            let _ignored = to.send(Word::Ended(catch_unwind(work)));
        });
        self.at_work += usize::from(spawned.is_ok());
        spawned.is_ok().then_some(heartbeat)
    }

    /// Does work on the calling thread, and returns its heartbeat.
    pub fn do_here<R>(&self, subject: Subject, work: impl FnOnce() -> R) -> Arc<Heartbeat> {
        let heartbeat = self.watchlist.admit(subject);
        current::watched(Some(Arc::clone(&heartbeat)), work);
        heartbeat
    }

    /// Threads at work.
    pub fn at_work(&self) -> usize {
        self.at_work
    }

    /// True if the threads at work are to end.
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.watchlist.is_given_up()
    }

    /// A handle that wakes [`Self::next`].
    pub fn waker(&self) -> Waker {
        Waker(self.to.clone())
    }

    /// True if a thread ends within a tick, and before a thread wakes the receiver.
    pub fn within_a_tick(&mut self) -> bool {
        match self.ended.recv_timeout(TICK) {
            Ok(Word::Ended(Ok(()))) => {
                self.at_work -= 1;
                true
            }
            Ok(Word::Ended(Err(panic))) => resume_unwind(panic),
            Ok(Word::Look) | Err(_) => false,
        }
    }

    /// Waits until the next thread ends; false if there is none, or if the run has given up. Calls `each_tick` now and
    /// then while it waits, and when a thread wakes it.
    pub fn next(&mut self, mut each_tick: impl FnMut(&mut Self)) -> bool {
        while self.at_work > 0 {
            if self.within_a_tick() {
                return true;
            }
            each_tick(self);
            if self.is_over() {
                let since = *self.over_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE {
                    return false;
                }
            }
        }
        false
    }
}
