//! Calls that may never return.

use std::io::{self, ErrorKind};
use std::thread;
use std::time::Duration;

use crossbeam_channel::bounded;

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
