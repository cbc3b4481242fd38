//! The pulse of the current thread.
//!
//! Actions make their calls in many places, so the pulse is a thread-local variable. `sys::fault` calls [`beat`] before
//! each call. In a thread that nobody watches, [`beat`] does nothing.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Pulse, Subject, Ward};

struct Current {
    ward: Arc<Ward>,
    pulse: Arc<Pulse>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Does work on this thread while the ward watches it. Without a ward nobody watches it.
pub fn watched<T>(ward: Option<Arc<Ward>>, work: impl FnOnce() -> T) -> T {
    /// Ends the watch, also after a panic.
    struct Leave(Option<Current>);

    impl Drop for Leave {
        fn drop(&mut self) {
            rest();
            CURRENT.set(self.0.take());
        }
    }

    let current = ward.map(|ward| Current {
        pulse: ward.admit(Subject::Path),
        ward,
    });
    let _leave = Leave(CURRENT.replace(current));
    work()
}

/// The ward that watches this thread, for threads that it starts.
pub fn ward() -> Option<Arc<Ward>> {
    CURRENT.with_borrow(|current| current.as_ref().map(|current| Arc::clone(&current.ward)))
}

/// This thread makes calls about this path from now on, until it [rests](rest).
pub fn ask_about(path: &[u8]) {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current {
            current.pulse.ask_about(0, path);
        }
    });
}

/// As [`ask_about`], for a path that costs work to find out: does nothing in a thread that nobody watches.
pub fn ask_about_what(path: impl FnOnce() -> Option<Vec<u8>>) {
    if CURRENT.with_borrow(Option::is_some) {
        ask_about(&path().unwrap_or_default());
    }
}

/// Counts a call that this thread is about to make, unless it rests.
#[inline]
pub fn beat() {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current
            && current.pulse.count().1
        {
            current.pulse.beat();
        }
    });
}

/// This thread waits for no file system.
pub fn rest() {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current {
            current.pulse.rest();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_in_watched_threads_that_do_not_rest() {
        let ward = Arc::new(Ward::default());
        let count = || ward.pulses()[0].count();
        ask_about(b"unwatched");
        beat();
        assert!(super::ward().is_none() && ward.pulses().is_empty());
        watched(Some(Arc::clone(&ward)), || {
            beat();
            assert_eq!(count(), (0, false), "nothing is asked");
            ask_about_what(|| Some(b"path".to_vec()));
            let before = count();
            beat();
            assert!(before.1 && count().1 && count() != before);
            assert_eq!(&ward.pulses()[0].name()[..], b"path");
            // The same ward watches a thread that it starts.
            let theirs = super::ward();
            let other = std::thread::spawn(|| watched(theirs, || ask_about(b"other")));
            other.join().expect("it ends");
            assert_eq!(&ward.pulses()[1].name()[..], b"other");
            assert!(!ward.pulses()[1].count().1, "it has ended");
            rest();
            assert!(!count().1);
        });
        watched(Some(Arc::clone(&ward)), || ask_about(b"again"));
        assert_eq!(ward.pulses().len(), 2, "threads that have ended make room");
    }
}
