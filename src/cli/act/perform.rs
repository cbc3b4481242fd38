//! Carries a plan out, with progress, and tells what became of it.

use std::sync::Arc;

use seekless::acting::Carry;
use seekless::action::plan::Plan;
use seekless::action::{ActionKind, ApplyControl, ApplyTally, Outcome, Reversal, Step};
use seekless::engine::ProgressLine;
use seekless::report::escape::escape;
use seekless::units::{Bytes, counted};

use super::plan_summary::{hard_links, names, symbolic_links};
use crate::cli::front::option_words::typed;
use crate::cli::front::problems::ProblemLimit;
use crate::cli::resolve::act::ActRun;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::progress_text::count;
use crate::cli::terminal::watch::{self, ENDING, End, NOTHING_DONE, Stops};
use crate::cli::undo::journal_place::JournalPlace;

/// Carries out all steps of a plan, and says what was not done; true if it was interrupted.
pub fn steps<T: Send>(
    place: &JournalPlace,
    plan: &mut Plan,
    limit: &ProblemLimit,
    console: &Console,
    work: impl Carry<T>,
) -> (T, bool) {
    let control = Arc::new(ApplyControl::default());
    let (action, total) = (plan.action(), total(plan));
    let [told, shown, left] = [0; 3].map(|_| Arc::clone(&control));
    let progress = move || {
        vec![ProgressLine {
            stage: action.name(),
            device: String::new(),
            files_done: shown.steps(),
            files_total: total.0,
            bytes_done: shown.bytes(),
            bytes_total: total.1,
            total_is_final: true,
        }]
    };
    let place = place.clone();
    let end = End::Stops(Stops {
        tell: Box::new(move || told.stop()),
        words: ENDING,
        discard: Box::new(|| ()),
        unanswered: Box::new(move || unfinished(&left, &place, action, total.0)),
    });
    let done = watch::during(end, progress, || {
        let tell = &mut |step: &Step, outcome: &Outcome| tell(console, limit, step, outcome);
        work(plan, &control, tell)
    });
    watch::over();
    (done, control.is_stopped())
}

/// Says what became of a plan.
pub fn told(
    run: &ActRun,
    place: &JournalPlace,
    (plan, tally): &(Plan, ApplyTally),
    is_stopped: bool,
    limit: &ProblemLimit,
    console: &Console,
) -> Exit {
    let complain_of = |folders: &[(Vec<u8>, String)]| {
        for (folder, why) in folders.iter().filter(|(_, why)| limit.meets(why)) {
            console.complain_about(&escape(folder), why);
        }
    };
    complain_of(&tally.folders.left);
    if let Some(error) = &tally.folders.unwritten {
        console.complain(&format!(
            "cannot record in the journal which folders to remove, so none was removed: {error}"
        ));
    }
    complain_of(&tally.times_left);
    limit.rest().iter().for_each(|line| console.complain(line));
    if let Some(error) = &tally.broken {
        console.complain(&format!("cannot read the rest of the plan: {error}"));
    }
    if run.talk.summary {
        lines(tally, place, plan)
            .iter()
            .for_each(|line| console.sentence(line));
    }
    if is_stopped && tally.unreached(plan) > 0 {
        Exit::Interrupted
    } else if tally.skipped + tally.failed > 0
        || tally.unwritten
        || !tally.folders.is_whole()
        || !tally.times_left.is_empty()
    {
        Exit::of_part(tally.done + tally.already)
    } else {
        Exit::Done
    }
}

/// Steps for duplicates and noise, and the bytes of their files.
fn total(plan: &Plan) -> (u64, u64) {
    let totals = plan.totals();
    let noise = plan.noise().map(|file| (1, file.expected.size));
    noise.fold((totals.steps, totals.bytes), |sum, file| {
        (sum.0 + file.0, sum.1 + file.1)
    })
}

/// Names what was not done, and why.
fn tell(console: &Console, limit: &ProblemLimit, step: &Step, outcome: &Outcome) {
    let path = escape(&step.victim.path);
    let complain = |words: &str| {
        if limit.meets_at(&path, words) {
            console.complain_about(&path, words);
        }
    };
    match outcome {
        // It is no matter of this file.
        Outcome::Failed(why) if outcome.is_unwritten() => console.complain(&typed(why)),
        Outcome::Done(done) => {
            for note in &done.notes {
                tracing::info!("{path}: {note}");
            }
        }
        Outcome::Already => {}
        Outcome::Skipped(why) => complain(&format!("{}; left alone", typed(why))),
        Outcome::Failed(why) => complain(&typed(why)),
    }
}

/// States the action and the number of files that it changed.
fn done(action: ActionKind, number: u64) -> String {
    let files = names(number);
    match action {
        ActionKind::Remove => format!("removed {files}"),
        ActionKind::Trash => format!("moved {files} to the trash"),
        ActionKind::Hardlink => format!("replaced {files} with {}", hard_links(number)),
        ActionKind::Symlink => format!("replaced {files} with {}", symbolic_links(number)),
        ActionKind::Reflink => format!("shared the blocks of {files}"),
        ActionKind::Move => format!("moved {files}"),
    }
}

fn lines(tally: &ApplyTally, place: &JournalPlace, plan: &Plan) -> Vec<String> {
    let action = plan.action();
    let done = done(action, tally.done);
    let mut lines = vec![match action {
        ActionKind::Trash => format!("Done: {done}."),
        _ => format!("Done: {done}, {} of disk space freed.", Bytes(tally.freed)),
    }];
    let said = |number: u64, noun: (&'static str, &'static str), words: &str| {
        (number > 0).then(|| format!("{} {words}", counted(number, noun.0, noun.1)))
    };
    let folders = &tally.folders;
    let file = ("file", "files");
    lines.extend(said(tally.noise, file, "of noise moved as well."));
    let empty = ("empty folder", "empty folders");
    lines.extend(said(folders.removed, empty, "removed."));
    let full = ("folder", "folders");
    lines.extend(said(folders.not_empty, full, "not removed: not empty."));
    let notes = tally.notes.iter();
    lines.extend(notes.map(|(note, times)| format!("{}: {note}.", names(*times))));
    lines.extend(said(tally.already, file, "needed no change."));
    let left_alone = "left alone, as reported above.";
    lines.extend(said(tally.skipped, file, left_alone));
    let refused = "could not be changed, as reported above.";
    lines.extend(said(tally.failed, file, refused));
    let left = said(tally.unreached(plan), file, "not processed.");
    lines.extend(left.map(|left| format!("INCOMPLETE: {left}")));
    if tally.done > 0 {
        match action.reversal() {
            Reversal::GivesBack => {
                lines.push(format!("To undo: {}", place.undo(&tally.run)));
            }
            Reversal::NothingToDo => lines.push(
                "Nothing to undo: each file is still a separate file with the same content."
                    .to_owned(),
            ),
            Reversal::Impossible => {}
        }
    }
    lines
}

/// Says what it means that the process ends in the middle of a step, as if the run had been killed there.
fn unfinished(
    control: &ApplyControl,
    place: &JournalPlace,
    action: ActionKind,
    steps: u64,
) -> (String, Exit) {
    let Some(run) = control.run_name() else {
        return (NOTHING_DONE.to_owned(), Exit::Nothing);
    };
    let undo = match action.reversal() {
        Reversal::GivesBack => format!(", '{}' undoes the whole run", place.undo(run)),
        Reversal::NothingToDo | Reversal::Impossible => String::new(),
    };
    let words = format!(
        "run {run} stopped after {} of {}; the current step may be unfinished. When the file system answers again, \
        '{}' restores unfinished files{undo}",
        count(control.steps()),
        counted(steps, "step", "steps"),
        place.sweep(run),
    );
    (words, Exit::SomeLeft)
}
