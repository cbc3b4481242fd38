//! Runs work beside the calling thread, which hears of problems and progress and takes results.

use std::panic;
use std::sync::Arc;
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, never, select, tick, unbounded};

use super::cancel::Cancel;
use super::error::{Cause, Error};
use super::watch::Watch;
use crate::engine::Control;
use crate::event::{Notice, Observer, Problem};

/// How often callbacks hear of progress.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Maximum number of results that wait for the caller.
const AHEAD: usize = 64;

/// Work of the engine on a thread of its own. It ends when this is dropped, also by a callback that panics.
pub(super) struct Beside<R, T> {
    control: Arc<Control>,
    cancel: Cancel,
    results: Receiver<R>,
    told: Receiver<Problem>,
    ticks: Receiver<Instant>,
    working: Option<JoinHandle<T>>,
}

impl<R: Send + 'static, T: Send + 'static> Beside<R, T> {
    pub fn start(
        cancel: &Cancel,
        work: impl FnOnce(Sender<R>, &Listener, &Control) -> T + Send + 'static,
    ) -> Result<Self, Error> {
        let control = Arc::new(Control::default());
        if cancel.is_cancelled() {
            control.cancel();
        }
        let (to_results, results) = bounded(AHEAD);
        let (to_problems, told) = unbounded();
        let its = Arc::clone(&control);
        let work = move || work(to_results, &Listener(to_problems), &its);
        let working = Builder::new().spawn(work).map_err(Cause::Thread)?;
        Ok(Self {
            control,
            cancel: cancel.clone(),
            results,
            told,
            ticks: tick(TICK),
            working: Some(working),
        })
    }

    /// Waits for the next result; `None` once the work has ended. Meanwhile `watch` hears of problems and progress.
    pub fn next(&mut self, watch: &mut Watch<'_>) -> Option<R> {
        loop {
            if self.cancel.is_cancelled() {
                self.control.cancel();
            }
            select! {
                recv(self.results) -> result => match result {
                    Ok(result) => return Some(result),
                    // The work has ended. It may have told something before.
                    Err(_) => {
                        self.told.iter().for_each(|problem| watch.hear(problem));
                        return None;
                    }
                },
                recv(self.told) -> problem => match problem {
                    Ok(problem) => watch.hear(problem),
                    Err(_) => return self.results.recv().ok(),
                },
                recv(self.ticks) -> _ => {
                    if let Some(tell) = &mut watch.on_progress {
                        tell(&self.control.progress());
                    }
                }
            }
        }
    }

    /// Ends the work early if results are left, and returns its answer.
    pub fn end(mut self) -> T {
        match self.leave() {
            Some(Ok(worked)) => worked,
            Some(Err(panicked)) => panic::resume_unwind(panicked),
            None => unreachable!("it is left only once"),
        }
    }
}

impl<R, T> Beside<R, T> {
    /// Ends the work, and waits until it has.
    fn leave(&mut self) -> Option<thread::Result<T>> {
        self.control.cancel();
        // The senders' next send fails.
        self.results = never();
        self.told = never();
        self.working.take().map(JoinHandle::join)
    }
}

impl<R, T> Drop for Beside<R, T> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Sends problems to the calling thread.
pub(super) struct Listener(Sender<Problem>);

impl Observer for Listener {
    fn problem(&self, problem: Problem) {
        // Send fails after the caller broke off.
        let _ignored = self.0.send(problem);
    }

    fn notice(&self, notice: Notice) {
        tracing::info!("{}", notice.0);
    }
}
