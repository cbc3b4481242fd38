//! The heartbeat of the current thread.
//!
//! Calls are made in many places, so the heartbeat is a thread-local variable. `sys::fault` calls [`beat`] before each
//! call. In a thread that nobody watches, these functions do nothing.

use std::cell::{Cell, RefCell};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::{Calls, Heartbeat, LIMITED, Subject};

thread_local! {
    static CURRENT: RefCell<Option<Arc<Heartbeat>>> = const { RefCell::new(None) };
    /// Those of the heartbeat, for what is asked of every file.
    static CALLS: Cell<Option<&'static Calls>> = const { Cell::new(None) };
}

/// Does work on this thread, which has this heartbeat in the meantime. Without one nobody watches it.
pub fn watched<T>(heartbeat: Option<Arc<Heartbeat>>, work: impl FnOnce() -> T) -> T {
    /// Ends the watch, also after a panic.
    struct Leave(Option<Arc<Heartbeat>>);

    impl Drop for Leave {
        fn drop(&mut self) {
            rest();
            enter(self.0.take());
        }
    }

    let _leave = Leave(enter(heartbeat));
    work()
}

fn enter(heartbeat: Option<Arc<Heartbeat>>) -> Option<Arc<Heartbeat>> {
    CALLS.set(heartbeat.as_ref().map(|heartbeat| heartbeat.calls));
    CURRENT.replace(heartbeat)
}

/// A heartbeat for a thread that this one starts, if this one is watched.
pub fn child() -> Option<Arc<Heartbeat>> {
    let watchlist = CURRENT.with_borrow(|current| current.as_ref()?.watchlist.upgrade());
    Some(watchlist?.admit(Subject::Path))
}

#[inline]
fn with_current(act: impl FnOnce(&Heartbeat)) {
    CURRENT.with_borrow(|current| {
        if let Some(current) = current {
            act(current);
        }
    });
}

/// This thread makes calls about this path from now on, until it [rests](rest).
pub fn ask_about(path: &[u8]) {
    with_current(|current| current.ask_about(0, path));
}

/// This thread makes calls about a name in the folder of this number.
pub fn ask_about_name(at: u32, name: &[u8]) {
    with_current(|current| current.ask_about_name(at, name));
}

/// This thread makes calls to the file system of this volume from now on.
#[inline]
pub fn ask_of(volume: u16) {
    with_current(|current| {
        if current.subject == Subject::Volume {
            current.ask(volume.into());
        }
    });
}

/// As [`ask_of`], in a thread that asks about volumes; in another one as [`ask_about`], with the link of `/proc` that
/// leads to the file, which stays open until the answer comes.
#[inline]
pub fn ask_of_file(volume: u16, link: impl FnOnce() -> String) {
    with_current(|current| match current.subject {
        Subject::Volume => current.ask(volume.into()),
        _ => current.ask_about(0, link().as_bytes()),
    });
}

/// This thread makes calls about this path until the value is dropped, then about whatever it did before.
pub fn call(path: &Path) -> Call {
    Call::about(0, path)
}

/// As [`call`], for calls that the run does not wait for longer than it wants: they are named, and not given up on.
pub fn limited_call(path: &Path) -> Call {
    Call::about(LIMITED, path)
}

/// A [`call`].
#[must_use]
pub struct Call {
    /// What this thread made calls about before, unless it rested.
    before: Option<(u32, Vec<u8>)>,
}

impl Call {
    fn about(at: u32, path: &Path) -> Self {
        let mut before = None;
        with_current(|current| {
            let is_at_work = current.is_at_work();
            before = is_at_work.then(|| (current.at(), current.text().clone()));
            current.ask_about(at, path.as_os_str().as_bytes());
        });
        Self { before }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        match self.before.take() {
            Some((at, name)) => ask_about_name(at, &name),
            None => rest(),
        }
    }
}

/// As [`ask_about`], for a path that costs work to find out.
pub fn ask_about_what(path: impl FnOnce() -> Option<Vec<u8>>) {
    with_current(|current| current.ask_about(0, &path().unwrap_or_default()));
}

/// Does work that waits for people or for other threads: in the meantime this thread rests.
pub fn resting<T>(work: impl FnOnce() -> T) -> T {
    let at_work = CALLS.get().filter(|calls| calls.is_at_work());
    rest();
    let done = work();
    if let Some(calls) = at_work {
        calls.beat();
    }
    done
}

/// Counts a call that this thread is about to make, unless it rests.
#[inline]
pub fn beat() {
    if let Some(calls) = CALLS.get()
        && calls.is_at_work()
    {
        calls.beat();
    }
}

/// This thread waits for no file system.
pub fn rest() {
    if let Some(calls) = CALLS.get() {
        calls.rest();
    }
}
