//! Runs that were cut short and left unfinished files. They are named whenever their folders are looked at
//! again, and swept before another action in these folders.

use std::path::PathBuf;

use seekless::acting::unfinished;
use seekless::action::{self, Back, Code, CutShort};
use seekless::units::counted;

use super::journal_place::{JournalPlace, command_line};
use super::{Recovery, text};
use crate::cli::args::UndoArgs;
use crate::cli::resolve::act::{ActRun, Use};
use crate::cli::terminal::exit::{Exit, Stop};
use crate::cli::terminal::{self, console};

/// Names what lies in these trees, and how to clear it up.
pub fn notice(place: &JournalPlace, trees: impl FnOnce() -> Vec<PathBuf>) {
    for run in left_in(place, trees) {
        console::complain(format!("{}: {}", what(&run), ways_out(place, &run)));
    }
}

/// Clears up what lies in these trees before a run acts there, if the user agrees; else only says it.
pub fn before(acting: &ActRun, place: &JournalPlace, trees: &[PathBuf]) -> Exit {
    let settings = &acting.acting;
    let recovery = Recovery {
        place,
        reads: &settings.reads,
        io_idle: settings.io_idle,
        names_all: tracing::enabled!(tracing::Level::INFO),
    };
    let mut exit = Exit::Done;
    for run in left_in(place, || trees.to_vec()) {
        let agreed = match acting.use_of_plan {
            _ if run.in_undo => false,
            Use::Show | Use::Json => false,
            Use::Act => {
                console::complain(format!("{}; seekless first restores them", what(&run)));
                true
            }
            Use::Confirm => {
                console::complain(what(&run));
                let question = "Restore the unfinished files first? [y/N]";
                terminal::ask(question)
                    .as_deref()
                    .is_some_and(terminal::is_yes)
            }
        };
        if !agreed {
            console::complain(format!("{}: {}", what(&run), ways_out(place, &run)));
            continue;
        }
        let left = match place.open(Some(&run.name)) {
            Ok(reversion) => {
                let tally = recovery.carry_out(reversion, Back::Sweep);
                if tally.interrupted {
                    std::process::exit(Exit::Interrupted.code().into());
                }
                console::line(&text::done(&tally)[0]);
                tally.refused + tally.folders_refused > 0
            }
            Err(error) => {
                console::complain(error);
                true
            }
        };
        if left {
            exit = Exit::SomeLeft;
        }
    }
    exit
}

/// `seekless undo --sweep`: clears up after one run, or after all that need it.
pub fn command(recovery: &Recovery<'_>, args: &UndoArgs) -> Result<Exit, Stop> {
    let place = recovery.place;
    let runs = match &args.run {
        Some(run) => vec![run.clone()],
        None => {
            let runs = place.said(action::cut_short(&place.folder))?.into_iter();
            let runs = runs.filter(|run| !run.in_undo);
            runs.map(|run| run.name).collect()
        }
    };
    if runs.is_empty() && !args.quiet {
        console::line("No killed run left unfinished files.");
    }
    let mut exit = Exit::Done;
    for run in runs {
        let swept = recovery.run(place.open(Some(&run))?, Back::Sweep, |_| true)?;
        let Some(tally) = swept else { break };
        if !args.quiet {
            console::lines(text::done(&tally));
        }
        if tally.interrupted {
            return Ok(Exit::Interrupted);
        }
        let refused = tally.refused + tally.folders_refused;
        if refused > 0 || tally.unwritten.is_some() || !tally.damaged.is_empty() {
            exit = Exit::SomeLeft;
        }
    }
    Ok(exit)
}

fn left_in(place: &JournalPlace, trees: impl FnOnce() -> Vec<PathBuf>) -> Vec<CutShort> {
    let runs = unfinished(&place.folder, trees);
    // Where there are no journals, nothing is missed.
    if let Err(why) = &runs
        && why.code == Code::JournalsUntrusted
        && place.folder.symlink_metadata().is_ok()
    {
        console::complain(format!("cannot look for killed runs: {why}"));
    }
    runs.unwrap_or_default()
}

fn what(run: &CutShort) -> String {
    let undo = if run.in_undo { "an undo of " } else { "" };
    let left = counted(
        run.files.len() as u64,
        "unfinished file",
        "unfinished files",
    );
    format!(
        "{undo}run {} ({}) did not finish and left {left} here",
        run.name,
        command_line(&run.header),
    )
}

fn ways_out(place: &JournalPlace, run: &CutShort) -> String {
    let undo = place.undo(&run.name);
    if run.in_undo {
        return format!("to continue: {undo}");
    }
    format!(
        "'{}' restores the unfinished files, '{undo}' undoes the whole run",
        place.sweep(&run.name),
    )
}
