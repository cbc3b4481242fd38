//! The program's first thread watches the one that does the work: it draws progress and receives signals, names file
//! systems that do not answer, and ends the program when nobody waits for them any longer. The kernel hands signals to
//! the first thread, so they interrupt no call of the work.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::future::poll_fn;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use seekless::device::Mounts;
use seekless::engine::{Config, Control, ProgressLine, are_descriptors_free, make_room};
use seekless::event::{Problem, ProblemKind};
use seekless::heartbeat::{Heartbeat, Subject, Watchlist, current};
use seekless::lock::locked;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::console;
use super::progress::Draw;
use crate::cli::terminal::exit::Exit;

/// A phase shorter than this draws nothing.
const FIRST_TICK: Duration = Duration::from_millis(300);

/// Often enough to look alive, seldom enough to cost nothing.
const TICK: Duration = Duration::from_millis(100);

/// After a wait this long, work that is interrupted does not end by itself.
const STUCK: Duration = Duration::from_millis(500);

/// Descriptors that must be free before the runtime is started: those of its selector and its signals (about seven),
/// and the least that the work needs.
const DESCRIPTORS: usize = 18;

/// The answer to the first signal during work that changes files.
pub const ENDING: &str = "interrupted: stopping after the current step (press Ctrl-C again to stop at once; no file \
is lost)";

/// The message if the place of a result does not answer. The last call may be the one that only makes it durable.
const MAYBE_NOT_WRITTEN: &str = "the result may not have been written";
const ELSEWHERE: &str = ": write it elsewhere with -o, or wait longer with --patience";

const WAY_OUT: &str = ": omit the paths that do not answer, or wait longer with --patience";

/// The message if a run ends before its first step, since file systems do not answer.
pub const NOTHING_DONE: &str =
    "nothing was done: omit the paths that do not answer, or wait longer with --patience";

/// What becomes of a part of the work if the user, or the watch, ends it early.
pub enum End {
    /// The program ends at once. The words say what was done. If a file system does not answer, the way out follows.
    Leaves(&'static str, &'static str),
    /// The work is told, and ends soon.
    Stops(Stops),
    /// Nothing is left to end.
    Over,
}

/// How to end work that cannot end at once.
pub struct Stops {
    /// Tells the work to end.
    pub tell: Box<dyn Fn() + Send>,
    /// The answer to the first signal.
    pub words: &'static str,
    /// Takes away what the work would leave behind.
    pub discard: Box<dyn FnMut() + Send>,
    /// What it means that a file system does not answer, and the exit status.
    pub unanswered: Box<dyn Fn() -> (String, Exit) + Send>,
}

impl End {
    /// Nothing was done.
    pub const NOTHING: Self = Self::Leaves("nothing was done", WAY_OUT);
    /// The result is written.
    pub const WRITING: Self = Self::Leaves(MAYBE_NOT_WRITTEN, ELSEWHERE);

    /// Changes files in steps, and ends after the current one. `way_out` is the message if it cannot.
    pub fn step(stop: &Arc<AtomicBool>, way_out: String) -> Self {
        let stop = Arc::clone(stop);
        Self::Stops(Stops {
            tell: Box::new(move || stop.store(true, Ordering::Relaxed)),
            words: ENDING,
            discard: Box::new(|| ()),
            unanswered: Box::new(move || (way_out.clone(), Exit::SomeLeft)),
        })
    }
}

/// What the watch knows of the work.
struct Watch {
    watchlist: Arc<Watchlist>,
    /// File systems that were reported as waited for.
    named: HashSet<PathBuf>,
    draw: Draw,
    progress: Progress,
    end: End,
    began: Instant,
    is_interrupted: bool,
}

/// The lines to draw.
type Progress = Box<dyn FnMut() -> Vec<ProgressLine> + Send>;

static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

/// Does the work of a command on a thread of its own and watches over it.
///
/// The first SIGINT, SIGTERM or SIGHUP interrupts; the second ends the process. A SIGHUP that was ignored when the
/// program started (`nohup`) stays so.
pub fn watched<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // As long as nothing else runs.
    make_room();
    let Some((runtime, mut signals)) = listen() else {
        // The work can be done all the same, only unwatched.
        return work();
    };
    let watchlist = Watchlist::new(Config::default().patience());
    let heartbeat = watchlist.admit(Subject::Path);
    *locked(&WATCH) = Some(Watch {
        watchlist,
        named: HashSet::new(),
        draw: Draw::new(),
        progress: Box::new(Vec::new),
        end: End::NOTHING,
        began: Instant::now(),
        is_interrupted: false,
    });
    thread::scope(|scope| {
        let (done, until_done) = oneshot::channel();
        let worker = scope.spawn(move || {
            let result = current::watched(Some(heartbeat), work);
            // The other end waits until this one is used or dropped.
            let _ = done.send(());
            result
        });
        runtime.block_on(receive(until_done, &mut signals));
        match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Gives up on a file system after this time without an answer.
pub fn wait_for(patience: Duration) {
    if let Some(watch) = &mut *locked(&WATCH) {
        watch.watchlist.wait_for(patience);
    }
}

/// Does a part of the work that draws progress and ends in a way of its own.
pub fn during<T>(
    end: End,
    progress: impl FnMut() -> Vec<ProgressLine> + Send + 'static,
    work: impl FnOnce() -> T,
) -> T {
    let before = enter(end, Box::new(progress));
    let done = work();
    if let Some((end, progress)) = before {
        enter(end, progress);
    }
    done
}

/// Searches. `words` answer the first signal; `discard` removes what the run would leave behind.
pub fn search<T>(
    control: &Arc<Control>,
    words: &'static str,
    discard: impl FnMut() + Send + 'static,
    work: impl FnOnce() -> T,
) -> T {
    let [told, shown] = [Arc::clone(control), Arc::clone(control)];
    let end = End::Stops(Stops {
        tell: Box::new(move || told.cancel()),
        words,
        discard: Box::new(discard),
        unanswered: Box::new(|| (format!("{MAYBE_NOT_WRITTEN}{ELSEWHERE}"), Exit::Nothing)),
    });
    during(end, move || shown.progress(), work)
}

/// Does a part of the work that ends in a way of its own.
pub fn ending<T>(end: End, work: impl FnOnce() -> T) -> T {
    during(end, Vec::new, work)
}

/// Does work about one path. `words` say what it means if it ends early.
pub fn about<T>(path: &Path, words: &'static str, work: impl FnOnce() -> T) -> T {
    ending(End::Leaves(words, ""), || {
        current::ask_about(path.as_os_str().as_bytes());
        work()
    })
}

/// From now on nothing is left to end.
pub fn over() {
    enter(End::Over, Box::new(Vec::new));
}

fn enter(end: End, progress: Progress) -> Option<(End, Progress)> {
    current::rest();
    let mut watch = locked(&WATCH);
    let watch = watch.as_mut()?;
    watch.draw.clear();
    watch.draw = Draw::new();
    watch.began = Instant::now();
    let before = std::mem::replace(&mut watch.end, end);
    Some((before, std::mem::replace(&mut watch.progress, progress)))
}

impl Watch {
    fn tick(&mut self) {
        if self.began.elapsed() >= FIRST_TICK {
            self.draw.update(&(self.progress)());
        }
        let looked = self.watchlist.look();
        for silent in looked.silent {
            let (path, file) = place_of(&silent);
            let problem = Problem {
                path,
                kind: ProblemKind::NotAnswering,
                cause: None,
            };
            let line = format!("{}: {problem} ({file})", console::path(&problem.path));
            if self.named.insert(problem.path) {
                console::complain(&line);
            }
        }
        let is_stuck = self.is_interrupted && self.watchlist.still() >= STUCK;
        if !is_stuck && looked.lost.is_empty() {
            return;
        }
        let Some(longest) = self.watchlist.longest() else {
            return;
        };
        let (place, file) = place_of(&longest);
        let place = console::path(&place);
        console::complain(&if is_stuck {
            format!("{place}: does not answer ({file}); the run ends without waiting for it")
        } else {
            let waited = longest.quiet().as_secs();
            format!(
                "{place}: did not answer for {waited} s ({file}); the run no longer waits for it"
            )
        });
        let (words, exit) = match &self.end {
            End::Leaves(words, way_out) => (format!("{words}{way_out}"), Exit::Nothing),
            End::Stops(stops) => (stops.unanswered)(),
            End::Over => (String::new(), Exit::SomeLeft),
        };
        if !words.is_empty() {
            console::complain(&words);
        }
        self.leave(if is_stuck { Exit::Interrupted } else { exit });
    }

    /// The user wants the work to end: at once, if this was said before.
    fn interrupt(&mut self) {
        if std::mem::replace(&mut self.is_interrupted, true) {
            self.leave(Exit::Interrupted);
        }
        match &self.end {
            End::Leaves("", _) => {
                // The terminal is in the middle of a line.
                let _ = writeln!(io::stderr());
                self.leave(Exit::Interrupted);
            }
            End::Leaves(words, _) => {
                self.draw.clear();
                console::complain(format!("interrupted; {words}"));
                self.leave(Exit::Interrupted);
            }
            End::Stops(stops) => {
                (stops.tell)();
                console::complain(stops.words);
            }
            End::Over => {}
        }
    }

    fn leave(&mut self, exit: Exit) -> ! {
        if let End::Stops(stops) = &mut self.end {
            (stops.discard)();
        }
        self.draw.clear();
        process::exit(exit.code().into());
    }
}

/// The mount point of the path that a thread waits for, and the path for people to read. Makes no call to that file
/// system.
fn place_of(heartbeat: &Heartbeat) -> (PathBuf, String) {
    let name = heartbeat.name();
    let path = Path::new(OsStr::from_bytes(&name));
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let point = Mounts::read().point_above(&path);
    let file = console::path(&path).into_owned();
    (point.unwrap_or(path), file)
}

/// The runtime, and the signals that end a run: those that can be waited for.
fn listen() -> Option<(Runtime, Vec<Signal>)> {
    // Without them the runtime would panic.
    if !are_descriptors_free(DESCRIPTORS) {
        return None;
    }
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let within = runtime.enter();
    let hangup = (!ignores_hangups()).then(SignalKind::hangup);
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    let signals = kinds.into_iter().chain(hangup);
    let signals = signals.filter_map(|kind| signal(kind).ok()).collect();
    drop(within);
    Some((runtime, signals))
}

async fn receive(mut until_done: oneshot::Receiver<()>, signals: &mut [Signal]) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let next = poll_fn(|context| {
            let mut signals = signals.iter_mut();
            if signals.any(|signal| signal.poll_recv(context).is_ready()) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let is_signal = tokio::select! {
            biased;
            _ = &mut until_done => return,
            () = next => true,
            _ = ticks.tick() => false,
        };
        if let Some(watch) = &mut *locked(&WATCH) {
            if is_signal {
                watch.interrupt();
            } else {
                watch.tick();
            }
        }
    }
}

/// True if whoever started the program wants it to go on when the terminal goes away.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The first signal is the lowest bit.
    let bit = 1u64 << (SignalKind::hangup().as_raw_value() - 1);
    ignored.is_some_and(|ignored| ignored & bit != 0)
}
