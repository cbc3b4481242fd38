//! `seekless find`: a run from its arguments to its exit status.

pub mod compare;
pub mod folders;
pub mod report_output;
pub mod resolve;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, thread};

use seekless::action::plan::Ranking;
use seekless::decide::Summary;
use seekless::engine::{self, Control, Delivery};
use seekless::lock::locked;

use self::report_output::{ReportOutput, told};
use self::resolve::{FindRun, resolve};
use crate::cli::act::plan_summary::no_match;
use crate::cli::args::find::FindArgs;
use crate::cli::front::problems::{Listener, seen};
use crate::cli::resolve::catalog_roots;
use crate::cli::resolve::environment::begin;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::{NotWritten, dropping};
use crate::cli::terminal::{console, watch};
use crate::cli::undo::journal_place::JournalPlace;
use crate::cli::undo::sweep;

/// A set that is final reaches a pipe's other end this soon, without a system call for each.
const FLUSH: Duration = Duration::from_millis(100);

/// Finds, reports and tells how it went.
pub fn find(args: FindArgs) -> Result<Exit, Stop> {
    let mut run = begin(args.talk, args.reads.patience(), |around| {
        resolve(args, around)
    })?;
    if run.config.roots.is_empty() {
        console::complain("the list of paths on standard input is empty: nothing to search");
        // A question about nothing has no answer: the program that writes the list has probably failed.
        if run.args.exit_code {
            return Ok(Exit::Nothing);
        }
    }
    if !run.args.talk.quiet {
        catalog_roots::tell(&run.config);
    }
    let ranking = run.ranking.take();
    search(&run, ranking)
}

/// Searches, while progress is drawn and signals are heard. `words` answer the first signal; `place` is what the work
/// would leave behind if the program ended.
pub fn watched<P: Send + 'static, T>(
    words: &'static str,
    place: &Arc<Mutex<Option<P>>>,
    work: impl FnOnce(&Control, &Listener) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let control = Arc::<Control>::default();
    let listener = Listener::new();
    let done = watch::search(&control, words, dropping(place), || {
        work(&control, &listener)
    });
    watch::over();
    listener.sum_up();
    done
}

fn search(run: &FindRun, mut ranking: Option<Ranking>) -> Result<Exit, Stop> {
    let mut wanted = catalog_roots::wanted_place(run.args.wanted.as_deref(), &run.config)?;
    let output = ReportOutput::open(run).or_else(refuse)?;
    let output = Arc::new(Mutex::new(Some(output)));
    let words = "interrupted: reporting what was found so far (press Ctrl-C again to quit at once)";
    let found = watched(words, &output, |control, listener| {
        thread::scope(|scope| {
            // Dropped when the work is over, which ends the thread.
            let (_over, until_over) = mpsc::channel();
            if run.delivery == Delivery::AsFinal {
                scope.spawn(|| flush_now_and_then(&output, control, until_over));
            }
            if wanted.is_some() {
                listener.keep_wanted();
            }
            let summary = drive(run, &mut ranking, &output, control, listener)?;
            // A part of a list would look like all of it.
            if !summary.interrupted {
                catalog_roots::write_wanted(wanted.take(), listener.wanted())?;
            }
            // An interruption that came too late to cut anything short leaves a whole report.
            let exit = if summary.interrupted {
                Exit::Interrupted
            } else {
                listener.exit(run.config.roots.len(), seen(&summary))
            };
            Ok((summary, exit))
        })
    });
    let idle = ranking.iter().flat_map(Ranking::unmatched_rules);
    idle.for_each(|rule| console::complain(no_match("--keep", rule)));
    let (summary, exit) = found?;
    let notes = || {
        if let Ok(place) = JournalPlace::of(None) {
            sweep::notice(&place);
        }
    };
    Ok(told(run, &summary, notes, exit))
}

/// Runs the engine and writes what it finds.
fn drive(
    run: &FindRun,
    ranking: &mut Option<Ranking>,
    output: &Shared<ReportOutput>,
    control: &Control,
    listener: &Listener,
) -> Result<Summary, Stop> {
    let mut failed = None;
    let found = engine::find(&run.config, run.delivery, listener, control, &mut |set| {
        let mut sorted = None;
        let set = match ranking {
            Some(ranking) => {
                let set = sorted.insert(set.clone());
                ranking.sort(set);
                &*set
            }
            None => set,
        };
        let written = locked(output).as_mut().map(|output| output.set(set));
        written.unwrap_or(Ok(())).map_err(|error| {
            failed = Some(error);
            io::ErrorKind::Other.into()
        })
    });
    let unwritten = |error: NotWritten| {
        // With --exit-code, whoever closed the pipe did not hear all of the answer.
        let closed = (!run.args.exit_code).then_some(Exit::Done);
        error.ends(closed)
    };
    if let Some(error) = failed {
        return Err(unwritten(error));
    }
    let summary = found.or_else(refuse)?;
    // An empty report would say that there is nothing, and replace one that knows more.
    if listener.exit(run.config.roots.len(), seen(&summary)) == Exit::Nothing {
        return Err(Exit::Nothing.into());
    }
    let output = locked(output).take();
    let written = output.map(|output| output.finish(&summary));
    written.unwrap_or(Ok(())).map_err(unwritten)?;
    Ok(summary)
}

/// The output belongs to the engine's thread; the watcher takes it only to flush it or to throw
/// it away.
type Shared<T> = Mutex<Option<T>>;

/// Lets sets reach a reader who watches, also when none follows for a while. A thread of its own
/// does it, because a reader who is slow holds up whoever writes.
fn flush_now_and_then(output: &Shared<ReportOutput>, control: &Control, until_over: Receiver<()>) {
    while let Err(RecvTimeoutError::Timeout) = until_over.recv_timeout(FLUSH) {
        let flushed = locked(output).as_mut().map(ReportOutput::flush);
        if let Some(Err(_)) = flushed {
            // Nobody will read the rest. What could not be flushed is still there, and meets the
            // same error when the engine's thread ends the report.
            return control.cancel();
        }
    }
}
