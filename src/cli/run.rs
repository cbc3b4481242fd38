//! Waits for several things at once: the work's end, Ctrl-C, and the next moment to draw.

use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use seekless::engine::are_descriptors_free;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::exit::Exit;

/// A run shorter than this draws nothing.
const FIRST_TICK: Duration = Duration::from_millis(300);

/// Often enough to look alive, seldom enough to cost nothing.
const TICK: Duration = Duration::from_millis(100);

/// Descriptors that must be free before the runtime is started: those of its selector and its signals (about seven), and
/// the least that the work needs.
const DESCRIPTORS: usize = 18;

/// Progress and signals beside the work.
pub trait Watcher {
    /// Some time has passed.
    fn tick(&mut self);

    /// The user wants it to end: asks the work to stop.
    fn interrupt(&mut self);

    /// The user wants it to end at once: leaves nothing lying about.
    fn abandon(&mut self);
}

/// Does the work on a thread of its own and watches over it.
///
/// The first SIGINT, SIGTERM or SIGHUP interrupts; the second ends the process. A SIGHUP that was ignored when the
/// program started (`nohup`) stays so.
pub fn watched<T: Send>(work: impl FnOnce() -> T + Send, watcher: &mut impl Watcher) -> T {
    let earlier = listening().take();
    let Some((runtime, mut signals)) = earlier.or_else(listen) else {
        // The work can be done all the same, only unwatched.
        return work();
    };
    let done = thread::scope(|scope| {
        let (done, until_done) = oneshot::channel();
        let worker = scope.spawn(move || {
            let result = work();
            // The other end waits until this one is used or dropped.
            let _ = done.send(());
            result
        });
        runtime.block_on(watch(until_done, &mut signals, watcher));
        match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    *listening() = Some((runtime, signals));
    done
}

/// Who listens for signals between two pieces of work: a signal that nobody listens for is lost.
static LISTENING: Mutex<Option<(Runtime, Signals)>> = Mutex::new(None);

fn listening() -> MutexGuard<'static, Option<(Runtime, Signals)>> {
    LISTENING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen() -> Option<(Runtime, Signals)> {
    // Without them the runtime would panic.
    if !are_descriptors_free(DESCRIPTORS) {
        return None;
    }
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let signals = {
        let _within = runtime.enter();
        Signals::listen()
    };
    Some((runtime, signals))
}

/// The signals that end a run; `None` for one that cannot be waited for, or is ignored.
struct Signals {
    interrupts: Option<Signal>,
    terminations: Option<Signal>,
    hangups: Option<Signal>,
}

impl Signals {
    /// Listens from now on. Has to be called within a runtime.
    fn listen() -> Self {
        Self {
            interrupts: signal(SignalKind::interrupt()).ok(),
            terminations: signal(SignalKind::terminate()).ok(),
            hangups: match ignores_hangups() {
                true => None,
                false => signal(SignalKind::hangup()).ok(),
            },
        }
    }
}

async fn watch(
    mut until_done: oneshot::Receiver<()>,
    signals: &mut Signals,
    watcher: &mut impl Watcher,
) {
    let mut ticks = interval_at(Instant::now() + FIRST_TICK, TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut interrupted = false;
    loop {
        tokio::select! {
            biased;
            _ = &mut until_done => return,
            () = next(&mut signals.interrupts) => {}
            () = next(&mut signals.terminations) => {}
            () = next(&mut signals.hangups) => {}
            _ = ticks.tick() => {
                watcher.tick();
                continue;
            }
        }
        if interrupted {
            watcher.abandon();
            process::exit(Exit::Interrupted.code().into());
        }
        interrupted = true;
        watcher.interrupt();
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

/// Waits for a signal, for ever if it cannot be waited for.
async fn next(signal: &mut Option<Signal>) {
    let arrived = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if arrived.is_none() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Counter {
        ticks: u32,
    }

    impl Watcher for Counter {
        fn tick(&mut self) {
            self.ticks += 1;
        }
        fn interrupt(&mut self) {}
        fn abandon(&mut self) {}
    }

    #[test]
    fn short_work_is_done_without_a_tick() {
        let mut counter = Counter::default();
        assert_eq!(watched(|| 7, &mut counter), 7);
        assert_eq!(counter.ticks, 0);
    }

    #[test]
    fn long_work_is_watched() {
        let mut counter = Counter::default();
        watched(|| thread::sleep(FIRST_TICK + 3 * TICK), &mut counter);
        assert!(counter.ticks >= 1, "{}", counter.ticks);
    }
}
