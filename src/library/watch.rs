//! The caller's side of a run: what ends it, who hears of it, and the settings that searches and comparisons share:
//! which files take part, and how they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::{self, Builder};
use std::time::{Duration, SystemTime};
use std::{env, fmt, panic};

use super::Callback;
use super::error::{Cause, Error};
use crate::action::Reads;
use crate::engine::{self, Config, Control, LEAST_RATE, ProgressLine as Progress};
use crate::event::{Notice, Observer, Problem};
use crate::heartbeat::current;
use crate::read::PageUse;
use crate::scan::FilterSpec;
use crate::scan::filter::Filter;
use crate::tree::{Scope, Tree};
use crate::units::nanoseconds;

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

/// The filter, unless no file can pass it. Relative patterns start in the current folder. In a search, files that are
/// older than asked for take part: they may be copies.
pub(super) fn built(mut spec: FilterSpec, is_search: bool) -> Result<Filter, Error> {
    if spec.working_folder.as_os_str().is_empty() {
        spec.working_folder = env::current_dir().unwrap_or_default();
    }
    let checked = spec.check(nanoseconds(SystemTime::now()));
    checked.map_err(Cause::from)?;
    spec.newer_ns.take_if(|_| is_search);
    Ok(spec.build().map_err(Cause::from)?)
}

/// Classifies the files of a comparison, beside the calling thread. The problems that the caller does not hear of are
/// returned.
pub(super) fn classified(
    config: &Config,
    scope: Scope,
    mut watch: Watch<'_>,
) -> Result<(Tree, Vec<Problem>), Error> {
    let tree = watch.during::<(), _>(
        |()| (),
        |listener, control| engine::classify(config, scope, listener, control),
    )?;
    Ok((tree.map_err(Cause::from)?, watch.problems))
}

/// Checks the settings that all runs share.
pub(super) fn check(config: &Config) -> Result<(), Error> {
    if config.roots.is_empty() {
        return Err(Cause::NoRoots.into());
    }
    check_rate(config.bytes_per_second.map(|rate| rate.0))
}

/// Checks a limit of bytes per second.
pub(super) fn check_rate(bytes_per_second: Option<u64>) -> Result<(), Error> {
    match bytes_per_second {
        Some(rate) if rate < LEAST_RATE.0 => Err(Cause::SlowRate.into()),
        _ => Ok(()),
    }
}

/// The methods of a builder with the fields `config` and `watch`.
macro_rules! reading_settings {
    () => {
        /// Ends early when this is cancelled. The result is then incomplete.
        pub fn cancel(mut self, cancel: &crate::library::Cancel) -> Self {
            self.watch.cancel = cancel.clone();
            self
        }

        /// Limits reading to this many bytes per second and device: at least 1 kB (1,000 bytes). The limit does not
        /// apply to cached data or to listing folders. By default, nothing is limited.
        pub fn bytes_per_second(mut self, bytes: u64) -> Self {
            self.config.bytes_per_second = Some(crate::units::Bytes(bytes));
            self
        }

        /// Only reads while no other program uses the disk. It sets the I/O priority of the threads that the run
        /// starts.
        pub fn io_idle(mut self, idle: bool) -> Self {
            self.config.io_idle = idle;
            self
        }

        /// The time to wait for a file system that does not answer, once there is nothing else to do. The default is
        /// one minute.
        pub fn patience(mut self, patience: std::time::Duration) -> Self {
            self.config.patience = Some(patience);
            self
        }

        /// Calls this about ten times a second, on the calling thread, with the progress of each stage on each device.
        pub fn on_progress(
            mut self,
            tell: impl FnMut(&[crate::library::Progress]) + Send + 'a,
        ) -> Self {
            self.watch.on_progress = Some(Box::new(tell));
            self
        }

        /// Calls this on the calling thread for each path that could not be read or is skipped, with the reason.
        /// Without it, the result of `run` contains them.
        pub fn on_problem(mut self, tell: impl FnMut(&crate::event::Problem) + Send + 'a) -> Self {
            self.watch.on_problem = Some(Box::new(tell));
            self
        }
    };
}

pub(super) use reading_settings;

/// Reads that keep to a limit, if there is one.
pub(super) fn reads(bytes_per_second: Option<u64>) -> Result<Reads, Error> {
    check_rate(bytes_per_second)?;
    Ok(match bytes_per_second {
        // What is compared before an action is read again when it is copied.
        Some(_) => Reads::new(bytes_per_second, PageUse::KeepWhileFree),
        None => Reads::default(),
    })
}
