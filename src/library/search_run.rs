//! Runs a search beside the calling thread, which takes sets, problems and progress.

use std::io;
use std::ops::ControlFlow;
use std::panic;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, select, tick, unbounded};

use super::cancel::{Cancel, WhenLeft};
use super::error::{Cause, Error};
use super::progress::{Progress, TICK};
use super::set::{Set, Summary};
use crate::engine::{self, Config, Control, Delivery};
use crate::event::{Notice, Observer, Problem};

/// Sets that the search may be ahead of whoever takes them.
const SETS_AHEAD: usize = 64;

/// The calls for what a search says, all made on the calling thread.
pub(super) struct Calls<'a> {
    /// Takes a set; breaks to end early.
    pub each: &'a mut dyn FnMut(Set) -> ControlFlow<()>,
    /// Hears of a path that could not be read.
    pub heard: &'a mut dyn FnMut(Problem),
    /// Hears how far the search is.
    pub progress: &'a mut dyn FnMut(&[Progress]),
}

/// Searches on a thread of its own, while this one makes the calls.
pub(super) fn run(
    config: &Config,
    delivery: Delivery,
    cancel: &Cancel,
    calls: Calls<'_>,
) -> Result<Summary, Error> {
    let control = Control::default();
    if cancel.is_cancelled() {
        control.cancel();
    }
    let (to_sets, sets) = bounded(SETS_AHEAD);
    let (to_problems, problems) = unbounded();
    let mut bad_roots = Vec::new();
    let mut ended_early = false;
    let found = thread::scope(|scope| {
        let control = &control;
        let engine = move || {
            let listener = Listener(to_problems);
            engine::find(config, delivery, &listener, control, &mut |set| {
                let sent = to_sets.send(Set::from(set));
                sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
            })
        };
        let engine = thread::Builder::new().spawn_scoped(scope, engine)?;
        // Nobody takes anything more then. If the engine has ended, this changes nothing.
        let left = WhenLeft(|| control.cancel());
        attend(sets, problems, |event| {
            if cancel.is_cancelled() {
                control.cancel();
            }
            match event {
                Event::Set(set) => ended_early = (calls.each)(set).is_break(),
                Event::Problem(problem) => {
                    if problem.kind.is_of_root() {
                        bad_roots.push(format!("{}: {problem}", problem.path.display()));
                    }
                    (calls.heard)(problem);
                }
                Event::Tick => {
                    let lines = control.progress().into_iter();
                    (calls.progress)(&lines.map(Progress::from).collect::<Vec<_>>());
                }
            }
            match ended_early {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        drop(left);
        io::Result::Ok(
            engine
                .join()
                .unwrap_or_else(|panicked| panic::resume_unwind(panicked)),
        )
    });
    match found.map_err(Cause::Thread)? {
        found if ended_early => Ok(Summary {
            incomplete: true,
            ..found.map(Summary::from).unwrap_or_default()
        }),
        Ok(_) if !bad_roots.is_empty() && bad_roots.len() >= config.roots.len() => {
            Err(Cause::NoPath(bad_roots.swap_remove(0)).into())
        }
        found => Ok(found.map_err(Cause::from)?.into()),
    }
}

/// An event for the calling thread.
enum Event {
    Set(Set),
    Problem(Problem),
    /// Nothing for a while, or it is time again.
    Tick,
}

/// Hears the engine out, or breaks off. Both receivers are gone then, so that the engine ends.
fn attend(
    sets: Receiver<Set>,
    problems: Receiver<Problem>,
    mut hear: impl FnMut(Event) -> ControlFlow<()>,
) {
    let ticks = tick(TICK);
    loop {
        let event = select! {
            recv(sets) -> set => match set {
                Ok(set) => Event::Set(set),
                // The engine has ended, and nobody has anything more to say.
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
struct Listener(Sender<Problem>);

impl Observer for Listener {
    fn problem(&self, problem: Problem) {
        // Whoever broke off hears nothing more.
        let _ignored = self.0.send(problem);
    }

    fn notice(&self, notice: Notice) {
        tracing::info!("{}", notice.0);
    }
}
