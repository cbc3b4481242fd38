//! Carries a plan out, with progress, and tells what became of it.

use std::sync::Arc;

use seekless::acting::Work;
use seekless::action::plan::Plan;
use seekless::action::{ActionKind, ApplyControl, ApplyTally, Outcome, Reason, Reversal, Step};
use seekless::engine::ProgressLine;
use seekless::report::escape::escape;
use seekless::units::{Bytes, count, counted, files};

use super::plan_summary::verbs;
use crate::cli::front::problems::{ProblemLimit, typed};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::watch::{self, ENDING, End, NOTHING_DONE, Stops};
use crate::cli::undo::journal_place::JournalPlace;

/// Carries out all steps of a plan, and says what was not done; true if it was interrupted.
pub fn steps(
    place: &JournalPlace,
    plan: &Plan,
    limit: &ProblemLimit,
    work: Work<'_>,
) -> (Result<ApplyTally, Reason>, bool) {
    let control = Arc::new(ApplyControl::default());
    let (action, totals) = (plan.action(), plan.totals());
    let total = (totals.steps, totals.bytes);
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
        let tell = &mut |step: &Step, outcome: &Outcome| tell(limit, step, outcome);
        work(&control, tell)
    });
    watch::over();
    (done, control.is_stopped())
}

/// Says what became of a plan.
pub fn told(
    has_summary: bool,
    place: &JournalPlace,
    (plan, tally): &(Plan, ApplyTally),
    is_stopped: bool,
    limit: &ProblemLimit,
) -> Exit {
    for (folder, why) in &tally.folders.left {
        if limit.meets(why) {
            console::complain_about(&escape(folder), why);
        }
    }
    if let Some(error) = &tally.folders.unwritten {
        console::complain(format!(
            "cannot record in the journal which folders to remove, so none was removed: {error}"
        ));
    }
    limit.rest().iter().for_each(console::complain);
    if has_summary {
        console::lines(lines(tally, place, plan));
    }
    if is_stopped && tally.unreached(plan) > 0 {
        Exit::Interrupted
    } else if tally.skipped + tally.failed > 0 || tally.unwritten || !tally.folders.is_whole() {
        Exit::of_part(tally.done + tally.already)
    } else {
        Exit::Done
    }
}

/// Names what was not done, and why.
fn tell(limit: &ProblemLimit, step: &Step, outcome: &Outcome) {
    let path = escape(&step.victim.path);
    let complain = |words: &str| {
        if limit.meets_at(&path, words) {
            console::complain_about(&path, words);
        }
    };
    match outcome {
        // It is no matter of this file.
        Outcome::Failed(why) if outcome.is_unwritten() => console::complain(typed(why)),
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

fn lines(tally: &ApplyTally, place: &JournalPlace, plan: &Plan) -> Vec<String> {
    let action = plan.action();
    let (_, done, how) = verbs(action);
    let number = files(tally.done - tally.carried);
    let freed = match action {
        ActionKind::Trash => String::new(),
        _ => format!(", {} of disk space freed", Bytes(tally.freed)),
    };
    let mut lines = vec![format!("Done: {done} {number}{how}{freed}.")];
    if tally.carried > 0 {
        let carried = counted(tally.carried, "sidecar file", "sidecar files");
        lines.push(format!("{carried} moved beside kept files."));
    }
    for (note, &times) in &tally.notes {
        lines.push(format!("{}: {note}.", files(times)));
    }
    for (number, what) in [
        (tally.already, "needed no change."),
        (tally.skipped, "left alone, as reported above."),
        (tally.failed, "could not be changed, as reported above."),
    ] {
        lines.extend((number > 0).then(|| format!("{} {what}", files(number))));
    }
    let folders = &tally.folders;
    if folders.removed > 0 {
        let removed = counted(folders.removed, "empty folder", "empty folders");
        lines.push(format!("{removed} removed."));
    }
    if folders.not_empty > 0 {
        let full = counted(folders.not_empty, "folder", "folders");
        lines.push(format!("{full} not removed: not empty."));
    }
    if let left @ 1.. = tally.unreached(plan) {
        lines.push(format!("INCOMPLETE: {} not processed.", files(left)));
    }
    let undo = match action.reversal() {
        Reversal::GivesBack => format!("To undo: {}", place.undo(&tally.run)),
        Reversal::NothingToDo => {
            "Nothing to undo: each file is still a separate file with the same content.".to_owned()
        }
        Reversal::Impossible => return lines,
    };
    lines.extend((tally.done > 0).then_some(undo));
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
