//! Runs that were cut short and left unfinished files. `find` names them, and they are swept before another action.

use seekless::action::{self, Back, Code, CutShort, Settings};
use seekless::units::counted;

use super::journal_place::{JournalPlace, command_line};
use super::{Recovery, text};
use crate::cli::args::UndoArgs;
use crate::cli::resolve::act::Use;
use crate::cli::terminal::exit::{Exit, Stop};
use crate::cli::terminal::{self, console};

/// Names them, and how to clear up.
pub fn notice(place: &JournalPlace) {
    for run in left(place) {
        console::complain(format!("{}: {}", what(&run), ways_out(place, &run)));
    }
}

/// Clears up before a run acts, if the user agrees; else only says it.
pub fn before(use_of_plan: Use, settings: &Settings, place: &JournalPlace) -> Exit {
    let mut exit = Exit::Done;
    let recovery = Recovery {
        place,
        reads: &settings.reads,
        io_idle: settings.io_idle,
        names_all: tracing::enabled!(tracing::Level::INFO),
    };
    for run in left(place) {
        let agreed = match use_of_plan {
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

fn left(place: &JournalPlace) -> Vec<CutShort> {
    let runs = action::cut_short(&place.folder);
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
        "{undo}run {} ({}) did not finish and left {left} (the first: {})",
        run.name,
        command_line(&run.header),
        console::path(&run.files[0]),
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
