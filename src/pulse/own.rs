//! A thread's own signs of life, which its calls give wherever they are made.
//!
//! What acts on files makes its calls in many places. [`beat`] stands before each of them (`sys::fault`) and does
//! nothing in a thread that nobody watches.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Pulse, Subject, Ward};

struct Own {
    ward: Arc<Ward>,
    pulse: Arc<Pulse>,
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// Does work on this thread, and lets the ward look after it. Without a ward nobody does.
pub fn watched<T>(ward: Option<Arc<Ward>>, work: impl FnOnce() -> T) -> T {
    /// Whatever ends the work, nobody looks after the thread any longer.
    struct Leave(Option<Own>);

    impl Drop for Leave {
        fn drop(&mut self) {
            rest();
            OWN.set(self.0.take());
        }
    }

    let own = ward.map(|ward| Own {
        pulse: ward.admit(Subject::Path),
        ward,
    });
    let _leave = Leave(OWN.replace(own));
    work()
}

/// Who looks after this thread: for threads that it starts.
pub fn ward() -> Option<Arc<Ward>> {
    OWN.with_borrow(|own| own.as_ref().map(|own| Arc::clone(&own.ward)))
}

/// This thread asks about this path from now on, until it [rests](rest).
pub fn ask_about(path: &[u8]) {
    OWN.with_borrow(|own| {
        if let Some(own) = own {
            own.pulse.ask_about(0, path);
        }
    });
}

/// As [`ask_about`], of a path that has to be found out: only if somebody looks after this thread.
pub fn ask_about_what(path: impl FnOnce() -> Option<Vec<u8>>) {
    if OWN.with_borrow(Option::is_some) {
        ask_about(&path().unwrap_or_default());
    }
}

/// This thread is about to make another call. That counts while it asks about something.
#[inline]
pub fn beat() {
    OWN.with_borrow(|own| {
        if let Some(own) = own
            && own.pulse.count().1
        {
            own.pulse.beat();
        }
    });
}

/// This thread waits for no file system.
pub fn rest() {
    OWN.with_borrow(|own| {
        if let Some(own) = own {
            own.pulse.rest();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_while_something_is_asked_and_somebody_looks() {
        let ward = Arc::new(Ward::default());
        let count = || ward.pulses()[0].count();
        ask_about(b"nobody looks");
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
            // A thread that it starts is looked after by the same ward.
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
