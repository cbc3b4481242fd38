//! `seekless find`: a run from its arguments to its exit status.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use seekless::acting::searched_trees;
use seekless::action::plan::Ranking;
use seekless::decide::Summary;

use super::begin::begin;
use super::console::Console;
use super::exit::Exit;
use super::find_args::FindArgs;
use super::find_report;
use super::hidden_links::HiddenLinks;
use super::in_force::InForce;
use super::journal_place::JournalPlace;
use super::listener::{Listener, seen};
use super::output::{self, NotWritten, ReportOutput, dropping};
use super::plan_summary::no_match;
use super::resolve::{FindRun, resolve};
use super::{next_command, sanitize, summary, sweep, watch};
use seekless::engine::{self, Control, Delivery};

/// Finds, reports and tells how it went.
pub fn find(args: FindArgs, in_force: &InForce) -> Result<Exit, Exit> {
    watch::wait_for(args.patience.time());
    let (mut run, console) = begin(|around| resolve(args, around), |run: &FindRun| run.talk)?;
    if run.config.roots.is_empty() {
        console.complain("the list of paths on standard input is empty: nothing to search");
        // A question about nothing has no answer: the program that writes the list has probably failed.
        if run.exit_code {
            return Ok(Exit::Nothing);
        }
    }
    let ranking = run.ranking.take();
    if let Some(wanted) = &run.wanted {
        let selected = find_report::select(&run, wanted, ranking, &console);
        let selected = selected.or_else(|error| console.refuse(error))?;
        return find_report::report(run, selected, in_force, &console);
    }
    search(&run, ranking, in_force, &console)
}

/// How the engine's part of a run ended.
enum FindOutcome {
    Told(Box<Summary>),
    NothingDone,
    NotWritten(NotWritten),
    Failed(engine::Error),
}

fn search(
    run: &FindRun,
    mut ranking: Option<Ranking>,
    in_force: &InForce,
    console: &Console,
) -> Result<Exit, Exit> {
    let output = ReportOutput::open(run, console).or_else(|error| console.refuse(error))?;
    let output = Arc::new(Mutex::new(Some(output)));
    let control = Arc::<Control>::default();
    let listener = Listener::new(console);
    let words = "interrupted: reporting what was found so far (press Ctrl-C again to quit at once)";
    let mut hidden = HiddenLinks::default();
    let outcome = thread::scope(|scope| {
        // Dropped when the work is over, which ends the thread.
        let (_over, until_over) = mpsc::channel();
        if run.delivery == Delivery::AsFinal {
            scope.spawn(|| flush_now_and_then(&output, &control, until_over));
        }
        watch::search(&control, words, dropping(&output), || {
            drive(run, &mut ranking, &output, &control, &listener, &mut hidden)
        })
    });
    watch::over();
    listener.sum_up();
    let idle = ranking.iter().flat_map(Ranking::unmatched_rules);
    idle.for_each(|rule| console.complain(&no_match("--keep", rule)));
    let summary = match outcome {
        FindOutcome::Told(summary) => summary,
        FindOutcome::NothingDone => return Err(Exit::Nothing),
        // With --exit-code, whoever closed the pipe did not hear all of the answer.
        FindOutcome::NotWritten(NotWritten::Closed) if !run.exit_code => return Ok(Exit::Done),
        FindOutcome::NotWritten(error) => return console.refuse(error),
        FindOutcome::Failed(error) => return console.refuse(error),
    };
    if run.talk.summary {
        if !run.summary_is_result() {
            for line in summary::lines(&summary, run.summary_of(), run.talk.columns) {
                console.line(&line);
            }
        }
        in_force
            .line()
            .iter()
            .for_each(|line| console.sentence(line));
        hidden.lines().iter().for_each(|line| console.line(line));
        // What a run that was killed left here is among the files that were just looked at.
        if let Ok(place) = JournalPlace::of(None) {
            sweep::notice(&place, || searched_trees(&run.config), console);
        }
        next_command::lines(run, &summary)
            .iter()
            .for_each(|line| console.sentence(line));
    }
    // An interruption that came too late to cut anything short leaves a whole report.
    let exit = if summary.interrupted {
        Exit::Interrupted
    } else {
        listener.exit(run.config.roots.len(), seen(&summary))
    };
    Ok(if run.exit_code {
        exit.of_question(summary.sets > 0)
    } else {
        exit
    })
}

/// Runs the engine and writes what it finds; the only part that is on another thread.
fn drive(
    run: &FindRun,
    ranking: &mut Option<Ranking>,
    output: &Shared<ReportOutput>,
    control: &Control,
    listener: &Listener<'_>,
    hidden: &mut HiddenLinks,
) -> FindOutcome {
    if tracing::enabled!(tracing::Level::INFO) {
        // The search names the paths that it cannot look at.
        for text in engine::explain(&run.config, "--memory") {
            text.lines()
                .for_each(|line| tracing::info!("{}", sanitize::message(line)));
        }
    }
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
        if set.members.len() > 1 {
            for member in &set.members {
                let path = member.names.first().map_or(&[][..], Vec::as_slice);
                hidden.note(member.dev, Path::new(OsStr::from_bytes(path)));
            }
        }
        let written = lock(output)
            .as_mut()
            .map_or(Ok(()), |output| output.set(set));
        written.map_err(|error| {
            failed = Some(error);
            io::ErrorKind::Other.into()
        })
    });
    if let Some(error) = failed {
        return FindOutcome::NotWritten(error);
    }
    match found {
        Err(error) => FindOutcome::Failed(error),
        // An empty report would say that there is nothing, and replace one that knows more.
        Ok(summary) if listener.exit(run.config.roots.len(), seen(&summary)) == Exit::Nothing => {
            FindOutcome::NothingDone
        }
        Ok(summary) => {
            let output = lock(output).take();
            match output.map_or(Ok(()), |output| output.finish(&summary)) {
                Ok(()) => FindOutcome::Told(Box::new(summary)),
                Err(error) => FindOutcome::NotWritten(error),
            }
        }
    }
}

/// The output belongs to the engine's thread; the watcher takes it only to flush it or to throw
/// it away.
type Shared<T> = Mutex<Option<T>>;

fn lock<T>(shared: &Shared<T>) -> MutexGuard<'_, Option<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets sets reach a reader who watches, also when none follows for a while. A thread of its own
/// does it, because a reader who is slow holds up whoever writes.
fn flush_now_and_then(output: &Shared<ReportOutput>, control: &Control, until_over: Receiver<()>) {
    while let Err(RecvTimeoutError::Timeout) = until_over.recv_timeout(output::PATIENCE) {
        let flushed = lock(output)
            .as_mut()
            .map_or(Ok(()), ReportOutput::flush_when_due);
        if flushed.is_err() {
            // Nobody will read the rest. What could not be flushed is still there, and meets the
            // same error when the engine's thread ends the report.
            return control.cancel();
        }
    }
}
