//! `seekless undo --list`: the runs that have a journal.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use seekless::action::{self, JournalFile, Run};
use seekless::heartbeat::current;
use seekless::units::{count, counted, plural};

use super::journal_place::{JournalPlace, command_line};
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop};

/// The newest last, where a terminal shows it. A journal that cannot be read is named.
pub fn list(place: &JournalPlace) -> Result<Exit, Stop> {
    let found = place.said(action::journals(&place.folder))?;
    // Whoever reads the lines may take any time.
    current::rest();
    console::print_lines(found.iter().map(line))?;
    let mut exit = Exit::Done;
    for found in &found {
        if let Some(flaw) = flaw(found) {
            exit = Exit::SomeLeft;
            let path = place.folder.join(&found.name);
            console::complain(format!("journal {}: {flaw}", path.display()));
        }
    }
    Ok(exit)
}

/// Why not all of a journal can be read.
fn flaw(found: &JournalFile) -> Option<String> {
    match &found.run {
        Err(why) => why.facts().cause.clone(),
        Ok(Run { damaged: 0, .. }) => None,
        Ok(run) => Some(counted(
            run.damaged as u64,
            "line is damaged",
            "lines are damaged",
        )),
    }
}

fn time(run: &Run) -> Timestamp {
    Timestamp::from_nanosecond(run.header.started_ns.into()).unwrap_or_default()
}

/// What became of a run, in a word or two.
fn state(run: &Run) -> &'static str {
    let is_over = !run.busy && !run.cut_short;
    match run {
        // Also after an undo, which had nothing to do.
        _ if is_over && (run.changed_nothing || run.done == 0 && !run.undone) => "no change",
        // Whatever an earlier version said of it.
        Run {
            permanent: true, ..
        } => "permanent",
        Run { undone: true, .. } => "undone",
        Run { busy: true, .. } => "running",
        Run {
            cut_short: true, ..
        } => "unfinished",
        _ => "done",
    }
}

/// A row of the table; the command comes last, since it may have any length.
fn line(found: &JournalFile) -> String {
    let name = &found.name;
    let Ok(run) = &found.run else {
        return format!("{name}  unreadable");
    };
    let time = time(run).to_zoned(TimeZone::system());
    let time = time.strftime("%Y-%m-%d %H:%M:%S");
    // What failed or was left alone is no step that can be undone.
    let steps = match (run.done, run.steps) {
        (_, 0) => "no".to_owned(),
        (done, steps) if done == steps => count(steps as u64),
        (done, steps) => format!("{} of {}", count(done as u64), count(steps as u64)),
    };
    let what = plural(run.steps as u64, "step", "steps");
    let (state, command) = (state(run), command_line(&run.header));
    format!("{name}  {time}  {state:11}  {steps:>9} {what:5}  {command}")
}
