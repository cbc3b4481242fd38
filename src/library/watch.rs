//! The caller's side of a run: what ends it, and who hears of it.

use std::fmt;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::{self, Builder};
use std::time::Duration;

use super::Callback;
use super::error::{Cause, Error};
use crate::engine::{Control, ProgressLine as Progress};
use crate::event::{Notice, Observer, Problem};
use crate::heartbeat::current;

/// How often callbacks hear of progress.
const TICK: Duration = Duration::from_millis(100);

/// Maximum number of results and problems that wait for the caller.
const AHEAD: usize = 64;

/// Ends a search, a comparison, a plan that is carried out, or an undo early.
///
/// Clones share one state, so that one of them can be kept by another thread or by a signal handler. What was done and
/// found before the end counts: no answer is wrong, and no step is left half done.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Not cancelled yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everything that holds a clone to end. Takes effect within about a tenth of a second in a search, and after
    /// the current portion of steps in an action.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }
}

/// The caller's side of a run: what ends it, and who hears of it.
#[derive(Default)]
pub(super) struct Watch<'a> {
    pub cancel: Cancel,
    pub on_progress: Option<Callback<'a, [Progress]>>,
    pub on_problem: Option<Callback<'a, Problem>>,
    /// The problems, unless the caller hears of each.
    pub problems: Vec<Problem>,
    /// The given paths that cannot be searched, with the reason.
    pub bad_roots: Vec<String>,
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}

/// A message to the calling thread.
pub(super) enum Heard<R> {
    Result(R),
    Problem(Problem),
}

/// Hands everything over to the calling thread.
#[derive(Debug)]
pub(super) struct Listener<R>(SyncSender<Heard<R>>);

impl<R: Send> Listener<R> {
    /// False if the caller broke off.
    pub fn tell(&self, heard: Heard<R>) -> bool {
        current::resting(|| self.0.send(heard).is_ok())
    }
}

impl<R: Send> Observer for Listener<R> {
    fn problem(&self, problem: Problem) {
        self.tell(Heard::Problem(problem));
    }

    fn notice(&self, notice: Notice) {
        tracing::info!("{}", notice.0);
    }
}

/// Ends work on another thread when it goes, also when a callback of the caller panics.
struct Ends<'a>(&'a Control);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Watch<'_> {
    /// Works on a thread of its own, while the calling thread takes results, and hears of problems and progress.
    pub fn during<R: Send, T: Send>(
        &mut self,
        mut take: impl FnMut(R),
        work: impl FnOnce(&Listener<R>, &Control) -> T + Send,
    ) -> Result<T, Error> {
        let control = Control::default();
        thread::scope(|scope| {
            let (to_here, heard) = mpsc::sync_channel(AHEAD);
            let its = &control;
            let working = Builder::new().spawn_scoped(scope, move || work(&Listener(to_here), its));
            let working = working.map_err(Cause::Thread)?;
            // Goes first, and then what is sent to `heard` is refused.
            let ends = Ends(&control);
            loop {
                if self.cancel.is_cancelled() {
                    control.cancel();
                }
                match heard.recv_timeout(TICK) {
                    Ok(Heard::Result(result)) => take(result),
                    Ok(Heard::Problem(problem)) => self.hear(problem),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Some(tell) = &mut self.on_progress {
                            tell(&control.progress());
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            drop(ends);
            Ok(working
                .join()
                .unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
        })
    }

    fn hear(&mut self, problem: Problem) {
        if problem.kind.is_of_root() {
            let path = problem.path.display();
            self.bad_roots.push(format!("{path}: {problem}"));
        }
        match &mut self.on_problem {
            Some(tell) => tell(&problem),
            None => self.problems.push(problem),
        }
    }
}
