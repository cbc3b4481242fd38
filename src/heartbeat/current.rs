//! The heartbeat of the current thread.
//!
//! Actions make their calls in many places, so the heartbeat is a thread-local variable. `sys::fault` calls [`beat`]
//! before each call. In a thread that nobody watches, [`beat`] does nothing.

use std::cell::RefCell;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::{Heartbeat, LIMITED, Subject, Watchlist};

struct Current {
    watchlist: Arc<Watchlist>,
    heartbeat: Arc<Heartbeat>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Does work on this thread while the watchlist watches it. Without a watchlist nobody watches it.
pub fn watched<T>(watchlist: Option<Arc<Watchlist>>, work: impl FnOnce() -> T) -> T {
    /// Ends the watch, also after a panic.
    struct Leave(Option<Current>);

    impl Drop for Leave {
        fn drop(&mut self) {
            rest();
            CURRENT.set(self.0.take());
        }
    }

    let current = watchlist.map(|watchlist| Current {
        heartbeat: watchlist.admit(Subject::Path),
        watchlist,
    });
    let _leave = Leave(CURRENT.replace(current));
    work()
}

/// The watchlist that watches this thread, for threads that it starts.
pub fn watchlist() -> Option<Arc<Watchlist>> {
    CURRENT.with_borrow(|current| {
        current
            .as_ref()
            .map(|current| Arc::clone(&current.watchlist))
    })
}

/// This thread makes calls about this path from now on, until it [rests](rest).
pub fn ask_about(path: &[u8]) {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current {
            current.heartbeat.ask_about(0, path);
        }
    });
}

/// This thread makes calls about this path until the value is dropped.
pub fn call(path: &Path) -> Call {
    ask_about(path.as_os_str().as_bytes());
    Call
}

/// As [`call`], for calls that the run does not wait for longer than it wants: they are named, and not given up on.
pub fn limited_call(path: &Path) -> Call {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current {
            let path = path.as_os_str().as_bytes();
            current.heartbeat.ask_about(LIMITED, path);
        }
    });
    Call
}

/// A [`call`]; when it is dropped, this thread rests.
#[must_use]
pub struct Call;

impl Drop for Call {
    fn drop(&mut self) {
        rest();
    }
}

/// As [`ask_about`], for a path that costs work to find out: does nothing in a thread that nobody watches.
pub fn ask_about_what(path: impl FnOnce() -> Option<Vec<u8>>) {
    if CURRENT.with_borrow(Option::is_some) {
        ask_about(&path().unwrap_or_default());
    }
}

/// Does work that may wait for people: in the meantime this thread rests.
pub fn resting<T>(work: impl FnOnce() -> T) -> T {
    let is_at_work = CURRENT.with_borrow(|current| {
        let current = current.as_ref();
        current.is_some_and(|current| current.heartbeat.count().1)
    });
    rest();
    let done = work();
    if is_at_work {
        CURRENT.with_borrow(|current| current.iter().for_each(|it| it.heartbeat.beat()));
    }
    done
}

/// Counts a call that this thread is about to make, unless it rests.
#[inline]
pub fn beat() {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current
            && current.heartbeat.count().1
        {
            current.heartbeat.beat();
        }
    });
}

/// This thread waits for no file system.
pub fn rest() {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current {
            current.heartbeat.rest();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_in_watched_threads_that_do_not_rest() {
        let watchlist = Arc::new(Watchlist::default());
        let count = || watchlist.heartbeats()[0].count();
        ask_about(b"unwatched");
        beat();
        assert!(super::watchlist().is_none() && watchlist.heartbeats().is_empty());
        watched(Some(Arc::clone(&watchlist)), || {
            beat();
            assert_eq!(count(), (0, false), "nothing is asked");
            ask_about_what(|| Some(b"path".to_vec()));
            let before = count();
            beat();
            assert!(before.1 && count().1 && count() != before);
            assert_eq!(&watchlist.heartbeats()[0].name()[..], b"path");
            // The same watchlist watches a thread that it starts.
            let theirs = super::watchlist();
            let other = std::thread::spawn(|| watched(theirs, || ask_about(b"other")));
            other.join().expect("it ends");
            assert_eq!(&watchlist.heartbeats()[1].name()[..], b"other");
            assert!(!watchlist.heartbeats()[1].count().1, "it has ended");
            rest();
            assert!(!count().1);
        });
        watched(Some(Arc::clone(&watchlist)), || ask_about(b"again"));
        assert_eq!(
            watchlist.heartbeats().len(),
            2,
            "threads that have ended make room"
        );
    }
}
