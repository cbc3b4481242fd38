//! Names a file system that does not answer, and ends the program when the run has waited for it long enough or is
//! interrupted.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seekless::device::Mounts;
use seekless::engine::{Config, Control};
use seekless::event::{Problem, ProblemKind};
use seekless::heartbeat::{NAMED, Silence, Watchlist, current};

use super::console::Console;
use super::exit::Exit;
use super::journal_place::JournalPlace;
use super::run::{Watcher, watched};
use super::sanitize;

/// After a wait this long, the run cannot end by itself when it is interrupted.
const STUCK: Duration = Duration::from_millis(500);

/// Watches the engine's own thread.
#[derive(Debug, Default)]
pub struct Patience {
    named: Option<PathBuf>,
}

impl Patience {
    /// Names the file system that the run has waited for too long, once.
    pub fn look(&mut self, control: &Control, console: &Console) {
        let Some((path, waited)) = control.waits_for() else {
            return;
        };
        if waited >= NAMED && self.named.as_ref() != Some(&path) {
            console.complain(&not_answering(&path));
            self.named = Some(path);
        }
    }

    /// True if the run is in a call that does not return, so that it cannot end when it is interrupted.
    pub fn is_stuck(control: &Control) -> bool {
        control
            .waits_for()
            .is_some_and(|(_, waited)| waited >= STUCK)
    }
}

/// Names a file system that is waited for.
pub fn not_answering(path: &Path) -> String {
    let problem = Problem {
        path: path.to_owned(),
        kind: ProblemKind::NotAnswering,
        cause: None,
    };
    format!("{}: {problem}", sanitize::path(path))
}

/// Watches the threads that plan, act, undo and sweep. Once it gives up, no thread is joined.
pub struct Watchdog<'a> {
    watchlist: Arc<Watchlist>,
    silence: Silence,
    console: &'a Console,
    named: HashSet<PathBuf>,
    interrupted: bool,
}

impl<'a> Watchdog<'a> {
    /// Gives up when this time has passed after a file system was named.
    pub fn new(patience: Duration, console: &'a Console) -> Self {
        Self {
            watchlist: Arc::default(),
            silence: Silence::new(patience),
            console,
            named: HashSet::new(),
            interrupted: false,
        }
    }

    /// The threads that it watches.
    pub fn watchlist(&self) -> Arc<Watchlist> {
        Arc::clone(&self.watchlist)
    }

    /// The user wants the work to end: a call that does not return is not waited for.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Names each file system that is waited for, once. Says so and tells the exit status if the run no longer waits.
    pub fn look(&mut self) -> Option<Exit> {
        let heartbeats = self.watchlist.heartbeats();
        let wait = |at: usize| place_of(&heartbeats[at].name());
        for at in self.silence.look(&heartbeats).silent {
            heartbeats[at].set_silent(true);
            let (place, file) = wait(at);
            let line = not_answering(&place);
            if self.named.insert(place) {
                self.console.complain(&format!("{line} ({file})"));
            }
        }
        let is_stuck = self.interrupted && self.silence.still() >= STUCK;
        if !is_stuck && !self.silence.is_too_long() {
            return None;
        }
        let (at, waited) = self.silence.longest()?;
        let (place, file) = wait(at);
        let place = sanitize::path(&place);
        match is_stuck {
            true => self.console.complain(&format!(
                "{place}: does not answer ({file}); the run ends without waiting for it"
            )),
            false => self.console.complain(&format!(
                "{place}: did not answer for {} s ({file}); the run no longer waits for it",
                waited.as_secs()
            )),
        }
        Some(match is_stuck {
            true => Exit::Interrupted,
            false => Exit::SomeLeft,
        })
    }
}

/// Does the work on a thread of its own. The watchlist's [`Watchdog`] watches that thread and the threads that it
/// starts.
pub fn run_watched<T: Send>(
    watchlist: Arc<Watchlist>,
    work: impl FnOnce() -> T + Send,
    watcher: &mut impl Watcher,
) -> T {
    watched(|| current::watched(Some(watchlist), work), watcher)
}

/// The mount point of a path, and the path for people to read. Makes no call to that file system.
fn place_of(path: &[u8]) -> (PathBuf, String) {
    let path = Path::new(OsStr::from_bytes(path));
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let point = Mounts::read().point_above(&path);
    let file = sanitize::path(&path).into_owned();
    (point.unwrap_or(path), file)
}

/// Whether work that is done with [`patiently`] changes files, which decides how it ends early.
pub enum Changes<'a> {
    /// It changes nothing: the program can end at once.
    None,
    /// It can end at once as well. This says what the end means.
    Few(&'static str),
    /// It changes files in steps, and ends after the current one.
    Steps {
        /// Set to end the work.
        stop: &'a AtomicBool,
        /// Advice for the user if the program ended in the middle of the work.
        way_out: String,
    },
}

impl<'a> Changes<'a> {
    /// A sweep after this run.
    pub fn sweep(stop: &'a AtomicBool, place: &JournalPlace, run: &str) -> Self {
        Self::Steps {
            stop,
            way_out: format!(
                "not everything was cleaned up; to continue: {}",
                place.sweep(run)
            ),
        }
    }

    /// An undo of this run.
    pub fn undo(stop: &'a AtomicBool, place: &JournalPlace, run: &str) -> Self {
        Self::Steps {
            stop,
            way_out: place.not_all_undone(run),
        }
    }
}

/// Does work that makes calls to file systems, and gives up if these do not answer.
pub fn patiently<T: Send>(
    patience: Duration,
    console: &Console,
    changes: Changes<'_>,
    work: impl FnOnce() -> T + Send,
) -> T {
    let mut wait = Wait {
        watchdog: Watchdog::new(patience, console),
        console,
        changes,
    };
    run_watched(wait.watchdog.watchlist(), work, &mut wait)
}

/// Does work about one path in a command without `--patience`. `words` say what it means if the path does not answer.
pub fn patiently_about<T: Send>(
    path: &Path,
    console: &Console,
    words: &'static str,
    work: impl FnOnce() -> T + Send,
) -> T {
    let patience = Config::default().patience;
    patiently(patience, console, Changes::Few(words), || {
        current::ask_about(path.as_os_str().as_bytes());
        let done = work();
        current::rest();
        done
    })
}

struct Wait<'a> {
    watchdog: Watchdog<'a>,
    console: &'a Console,
    changes: Changes<'a>,
}

impl Watcher for Wait<'_> {
    fn tick(&mut self) {
        let Some(exit) = self.watchdog.look() else {
            return;
        };
        let exit = match &self.changes {
            Changes::None => {
                self.console.complain(NOTHING_DONE);
                Exit::Nothing
            }
            Changes::Few(words) => {
                self.console.complain(words);
                Exit::Nothing
            }
            Changes::Steps { way_out, .. } => {
                self.console.complain(way_out);
                exit
            }
        };
        process::exit(exit.code().into());
    }

    fn interrupt(&mut self) {
        match &self.changes {
            Changes::None => {
                self.console.complain("interrupted; nothing was done");
                process::exit(Exit::Interrupted.code().into());
            }
            Changes::Few(words) => {
                self.console.complain(&format!("interrupted; {words}"));
                process::exit(Exit::Interrupted.code().into());
            }
            Changes::Steps { stop, .. } => {
                stop.store(true, Ordering::Relaxed);
                self.watchdog.interrupt();
                self.console.complain(ENDING);
            }
        }
    }

    fn abandon(&mut self) {}
}

/// The message if a run that changes files is interrupted.
pub const ENDING: &str = "interrupted: stopping after the current step (press Ctrl-C again to stop at once; no file \
is lost)";

/// The message if the place of a result does not answer. The last call may be the one that only makes it durable.
pub const MAYBE_NOT_WRITTEN: &str = "the result may not have been written: write it elsewhere with -o, or wait longer with --patience";

/// The message if the run gives up before its first step.
pub const NOTHING_DONE: &str =
    "nothing was done: omit the paths that do not answer, or wait longer with --patience";
