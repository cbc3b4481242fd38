//! Runs work beside the calling thread, which hears of problems and progress and takes results.

use std::io;
use std::ops::ControlFlow;
use std::panic;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, select, tick, unbounded};

use super::Callback;
use super::cancel::{Cancel, WhenLeft};
use super::error::{Cause, Error};
use super::progress::{Progress, TICK};
use crate::engine::Control;
use crate::event::{Notice, Observer, Problem};

/// Results that the work may be ahead of whoever takes them.
const AHEAD: usize = 64;

/// The calls for what the work says, all made on the calling thread.
pub(super) struct Calls<'a, 'b, R> {
    /// Takes a result; breaks to end early.
    pub take: &'a mut dyn FnMut(R) -> ControlFlow<()>,
    /// Hears of a path that could not be read.
    pub hear: &'a mut dyn FnMut(Problem),
    /// Hears of progress.
    pub progress: Option<Callback<'b, [Progress]>>,
}

/// Runs work of the engine on a thread of its own, while this one makes the calls.
pub(super) fn beside<R: Send, T: Send>(
    cancel: &Cancel,
    mut calls: Calls<'_, '_, R>,
    work: impl FnOnce(Sender<R>, &Listener, &Control) -> T + Send,
) -> Result<T, Error> {
    let control = Control::default();
    if cancel.is_cancelled() {
        control.cancel();
    }
    let (to_results, results) = bounded(AHEAD);
    let (to_problems, told) = unbounded();
    let worked = thread::scope(|scope| {
        let control = &control;
        let work = move || work(to_results, &Listener(to_problems), control);
        let working = thread::Builder::new().spawn_scoped(scope, work)?;
        // Nobody takes anything more then. If the work has ended, this changes nothing.
        let left = WhenLeft(|| control.cancel());
        attend(results, told, |event| {
            if cancel.is_cancelled() {
                control.cancel();
            }
            match event {
                Event::Result(result) => return (calls.take)(result),
                Event::Problem(problem) => (calls.hear)(problem),
                Event::Tick => {
                    if let Some(tell) = &mut calls.progress {
                        let lines = control.progress().into_iter();
                        tell(&lines.map(Progress::from).collect::<Vec<_>>());
                    }
                }
            }
            ControlFlow::Continue(())
        });
        drop(left);
        let worked = working.join();
        io::Result::Ok(worked.unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
    });
    Ok(worked.map_err(Cause::Thread)?)
}

/// An event for the calling thread.
enum Event<R> {
    Result(R),
    Problem(Problem),
    /// Nothing for a while, or it is time again.
    Tick,
}

/// Hears the work out, or breaks off. Both receivers are gone then, so that the work ends.
fn attend<R>(
    results: Receiver<R>,
    problems: Receiver<Problem>,
    mut hear: impl FnMut(Event<R>) -> ControlFlow<()>,
) {
    let ticks = tick(TICK);
    loop {
        let event = select! {
            recv(results) -> result => match result {
                Ok(result) => Event::Result(result),
                // The work has ended, and nobody has anything more to say.
                Err(_) => break,
            },
            recv(problems) -> problem => match problem {
                Ok(problem) => Event::Problem(problem),
                Err(_) => Event::Tick,
            },
            recv(ticks) -> _ => Event::Tick,
        };
        if hear(event).is_break() {
            return;
        }
    }
    for problem in problems {
        if hear(Event::Problem(problem)).is_break() {
            return;
        }
    }
}

/// Sends problems to the calling thread.
pub(super) struct Listener(Sender<Problem>);

impl Observer for Listener {
    fn problem(&self, problem: Problem) {
        // Whoever broke off hears nothing more.
        let _ignored = self.0.send(problem);
    }

    fn notice(&self, notice: Notice) {
        tracing::info!("{}", notice.0);
    }
}
