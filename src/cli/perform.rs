//! Carries a plan out, with progress, and tells what became of it.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seekless::action::plan::Plan;
use seekless::action::{self, ActionKind, Actor, Journal, Outcome, Raw, Reversal, RunHeader, Step};
use seekless::engine::ProgressLine;
use seekless::report::escape::escape;
use seekless::units::Bytes;

use super::console::Console;
use super::draw::Draw;
use super::exit::Exit;
use super::journal_place::JournalPlace;
use super::patience::{ENDING, NOTHING_DONE, Watchdog, run_watched};
use super::progress_text::count;
use super::resolve_act::ActRun;
use super::run::Watcher;
use super::summary::plural;

/// Bytes of the files of steps that are carried out together: between two such parcels an
/// interruption is heeded. A second's work on a spinning disk.
const PARCEL: u64 = 128 << 20;

/// Different notes that are counted; there are few.
const NOTES: usize = 16;

/// Carries out all steps of a plan.
pub fn plan(run: &ActRun, place: &JournalPlace, plan: &mut Plan, console: &Console) -> Exit {
    let counters = Arc::new(Counters::default());
    let tally = Mutex::default();
    let mut watch = Watch {
        counters: &counters,
        tally: &tally,
        place,
        total: (plan.totals().steps, plan.totals().bytes),
        action: plan.action(),
        draw: Draw::new(console.bars().clone()),
        watchdog: Watchdog::new(run.patience, console),
        console,
    };
    let done = run_watched(
        watch.watchdog.watchlist(),
        || carry_out(run, place, plan, &counters, &tally, console),
        &mut watch,
    );
    watch.draw.clear();
    if let Err(error) = done {
        console.complain(&error);
        return Exit::Nothing;
    }
    let tally = locked(&tally);
    if run.talk.summary {
        lines(&tally, place, plan)
            .iter()
            .for_each(|line| console.line(line));
    }
    if counters.stop.load(Ordering::Relaxed) {
        Exit::Interrupted
    } else if (tally.failed > 0 || tally.unwritten) && tally.done + tally.already == 0 {
        Exit::Nothing
    } else if tally.skipped + tally.failed > 0 || tally.unwritten {
        Exit::SomeLeft
    } else {
        Exit::Done
    }
}

/// What others may see while it goes on.
#[derive(Debug, Default)]
struct Counters {
    stop: AtomicBool,
    steps: AtomicU64,
    bytes: AtomicU64,
    /// Of the file at hand.
    partly: AtomicU64,
}

impl Counters {
    fn count(&self, step: &Step) {
        self.partly.store(0, Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
        let size = step.victim.expected.size;
        // Only one thread writes it.
        let bytes = self.bytes.load(Ordering::Relaxed).saturating_add(size);
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// What became of the steps.
#[derive(Debug, Default)]
struct Tally {
    run: String,
    done: u64,
    already: u64,
    skipped: u64,
    failed: u64,
    /// The journal could not be written: nothing more was done.
    unwritten: bool,
    freed: u64,
    notes: BTreeMap<String, u64>,
}

fn carry_out(
    run: &ActRun,
    place: &JournalPlace,
    plan: &mut Plan,
    counters: &Arc<Counters>,
    tally: &Mutex<Tally>,
    console: &Console,
) -> Result<(), String> {
    let header = RunHeader {
        version: 0,
        started_ns: run.started_ns,
        command: run
            .command
            .iter()
            .map(|word| Raw(word.as_bytes().to_vec()))
            .collect(),
    };
    let journal = Journal::create(&place.folder, header);
    let journal = journal.map_err(|e| format!("{}; nothing was done", place.with_way_out(&e)))?;
    let (partly, ended) = (Arc::clone(counters), Arc::clone(counters));
    let acting = action::Settings {
        further_names: plan.by_name(),
        ..run.acting.clone()
    };
    let actor = Actor::new(acting, journal)
        .with_progress(move |bytes| partly.partly.store(bytes, Ordering::Relaxed))
        .with_ends(move |step| ended.count(step));
    actor.run_name().clone_into(&mut locked(tally).run);
    let mut work = Work {
        tally,
        actor,
        waiting: Vec::new(),
        steps: 0,
        bytes: 0,
        counters,
        console,
    };
    let walked = plan.each_group(|group| work.push(group));
    let walked = walked.and_then(|()| work.flush());
    work.finish();
    match walked {
        Ok(()) | Err(Stop::Asked | Stop::Unwritten) => {}
        Err(Stop::Broken(error)) => {
            console.complain(&format!("cannot read the plan any further: {error}"));
            locked(tally).failed += 1;
        }
    }
    if let Err(error) = work.actor.end_of_run() {
        // Everything that was done is written down; only the next run takes this one for cut short.
        tracing::info!("{error}");
    }
    Ok(())
}

/// What became of the steps so far. Nobody asks a file system while holding it.
fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why no further step is taken.
enum Stop {
    Asked,
    Unwritten,
    Broken(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

struct Work<'a> {
    actor: Actor,
    waiting: Vec<Vec<Step>>,
    steps: usize,
    bytes: u64,
    tally: &'a Mutex<Tally>,
    counters: &'a Counters,
    console: &'a Console,
}

impl Work<'_> {
    /// What belongs together is never divided: an interruption comes before all of it or after.
    fn push(&mut self, group: Vec<Step>) -> Result<(), Stop> {
        self.steps += group.len();
        let sizes = group.iter().map(|step| step.victim.expected.size);
        self.bytes += sizes.sum::<u64>();
        self.waiting.push(group);
        match self.steps >= self.actor.portion() || self.bytes >= PARCEL {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), Stop> {
        if self.counters.stop.load(Ordering::Relaxed) {
            return Err(Stop::Asked);
        }
        let groups = std::mem::take(&mut self.waiting);
        (self.steps, self.bytes) = (0, 0);
        let (tally, console) = (self.tally, self.console);
        self.actor.perform_groups(groups, &mut |_, step, outcome| {
            locked(tally).add(console, &step.victim.path, outcome);
        });
        match self.actor.is_over() {
            true => Err(Stop::Unwritten),
            false => Ok(()),
        }
    }

    /// Hears of what was done last.
    fn finish(&mut self) {
        let (tally, console) = (self.tally, self.console);
        self.actor.finish(&mut |_, step, outcome| {
            locked(tally).add(console, &step.victim.path, outcome);
        });
    }
}

impl Tally {
    fn add(&mut self, console: &Console, path: &[u8], outcome: Outcome) {
        match outcome {
            // Said once: it is no matter of this file, and all others would meet the same.
            Outcome::Failed(why) if why.is_unwritten() => {
                if !std::mem::replace(&mut self.unwritten, true) {
                    console.complain(&why.to_string());
                }
            }
            Outcome::Done(done) => {
                self.done += 1;
                self.freed += done.freed;
                for note in done.notes {
                    tracing::info!("{}: {note}", escape(path));
                    if self.notes.len() < NOTES || self.notes.contains_key(&note) {
                        *self.notes.entry(note).or_default() += 1;
                    }
                }
            }
            Outcome::Already => self.already += 1,
            Outcome::Skipped(why) => {
                self.skipped += 1;
                console.complain(&format!("{}: {why}", escape(path)));
            }
            Outcome::Failed(why) => {
                self.failed += 1;
                console.complain(&format!("{}: {why}", escape(path)));
            }
        }
    }
}

fn lines(tally: &Tally, place: &JournalPlace, plan: &Plan) -> Vec<String> {
    let action = plan.action();
    let files = |number: u64| format!("{} {}", count(number), plural(number, "file", "files"));
    let mut lines = vec![format!(
        "Done: {} {}, {} of disk space came free.",
        action.name(),
        files(tally.done),
        Bytes(tally.freed),
    )];
    for (note, times) in &tally.notes {
        lines.push(format!("{}: {note}.", files(*times)));
    }
    if tally.already > 0 {
        lines.push(format!("{} needed nothing done.", files(tally.already)));
    }
    if tally.skipped > 0 {
        lines.push(format!(
            "{} left alone, as said above.",
            files(tally.skipped)
        ));
    }
    if tally.failed > 0 {
        lines.push(format!(
            "{} could not be done, as said above.",
            files(tally.failed)
        ));
    }
    let left = plan
        .totals()
        .steps
        .saturating_sub(tally.done + tally.already + tally.skipped + tally.failed);
    if left > 0 {
        lines.push(format!("INCOMPLETE: {} not reached.", files(left)));
    }
    if tally.done > 0 {
        match action.row().undo {
            Reversal::GivesBack => {
                lines.push(format!("To take it back: {}", place.undo(&tally.run)));
            }
            Reversal::NothingToDo => lines.push(
                "There is nothing to undo: each file is its own still, with all its bytes."
                    .to_owned(),
            ),
            Reversal::Impossible => {}
        }
    }
    lines
}

struct Watch<'a> {
    counters: &'a Counters,
    tally: &'a Mutex<Tally>,
    place: &'a JournalPlace,
    total: (u64, u64),
    action: ActionKind,
    draw: Draw,
    watchdog: Watchdog<'a>,
    console: &'a Console,
}

impl Watch<'_> {
    /// Ends the process in the middle of a step, as if the run had been killed there.
    fn leave(&mut self, exit: Exit) -> ! {
        self.draw.clear();
        let run = locked(self.tally).run.clone();
        if run.is_empty() {
            self.console.complain(NOTHING_DONE);
            process::exit(exit.worse(Exit::Nothing).code().into());
        }
        let undo = match self.action.row().undo {
            Reversal::GivesBack => {
                format!(", {} takes back the whole run", self.place.undo(&run))
            }
            Reversal::NothingToDo | Reversal::Impossible => String::new(),
        };
        self.console.complain(&format!(
            "run {run} ends here, as if it had been killed: {} of {} steps have ended, and the current one may be half \
             done. When that file system answers again, {} restores unfinished files{undo}",
            count(self.counters.steps.load(Ordering::Relaxed)),
            count(self.total.0),
            self.place.sweep(&run),
        ));
        process::exit(exit.code().into());
    }
}

impl Watcher for Watch<'_> {
    fn tick(&mut self) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        self.draw.update(&[ProgressLine {
            stage: self.action.name(),
            device: String::new(),
            files_done: read(&self.counters.steps),
            files_total: self.total.0,
            bytes_done: read(&self.counters.bytes).saturating_add(read(&self.counters.partly)),
            bytes_total: self.total.1,
            total_is_final: true,
        }]);
        if let Some(exit) = self.watchdog.look() {
            self.leave(exit);
        }
    }

    fn interrupt(&mut self) {
        self.counters.stop.store(true, Ordering::Relaxed);
        self.watchdog.interrupt();
        self.console.complain(ENDING);
    }

    fn abandon(&mut self) {
        self.draw.clear();
    }
}
