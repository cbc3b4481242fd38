//! `seekless undo`: undoes a run, clears up after one, or lists the runs that there are.

pub mod journal_place;
pub mod list;
pub mod recovery;
pub mod sweep;
pub mod text;

use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seekless::action::{self, JournalError, Reversion, UndoTally};
use seekless::heartbeat::current;

use self::journal_place::{JournalPlace, command, words};
use self::recovery::Recovery;
use crate::cli::answers::question::{self, Reply};
use crate::cli::args::UndoArgs;
use crate::cli::args::common::DocumentFormat;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::sanitize::{message, path, printed};
use crate::cli::terminal::watch;

/// Undoes what was asked for, or lists.
pub fn undo(args: &UndoArgs) -> Result<Exit, Exit> {
    let console = &Console::new(false);
    let place = JournalPlace::of(args.journal.as_deref()).or_else(|why| console.refuse(why))?;
    watch::wait_for(args.patience.time());
    let is_missing = |folder: &&Path| {
        current::ask_about(folder.as_os_str().as_bytes());
        !folder.exists()
    };
    if let Some(folder) = args.journal.as_deref().filter(is_missing) {
        return console.refuse(format!(
            "--journal {}: no such folder: give the folder that the run was given, or omit --journal",
            path(folder)
        ));
    }
    let reads = args.reads.of_a_change();
    if args.document.format == DocumentFormat::Json && !args.list {
        return console.refuse("--format json applies to the list of runs: add --list");
    }
    let recovery = Recovery {
        place: &place,
        reads: &reads,
        io_idle: args.reads.io_idle,
        names_all: args.verbose,
        console,
    };
    let done = if args.list {
        list::list(&place, args.document.format)
    } else if args.sweep {
        sweep::command(&recovery, args)
    } else {
        take_back(&recovery, args)
    };
    done.or_else(|error| console.refuse(place.with_way_out(&error)))
}

fn take_back(recovery: &Recovery<'_>, args: &UndoArgs) -> Result<Exit, JournalError> {
    let (place, console) = (recovery.place, recovery.console);
    let Some(reversion) = taken_up(recovery, args)? else {
        return Ok(Exit::Done);
    };
    let reversion = reversion.reading(recovery.reads, recovery.io_idle);
    if args.dry_run {
        return Ok(show(&reversion, args, console));
    }
    if reversion.is_permanent() {
        console.complain(&text::permanent(
            reversion.run_name(),
            reversion.done() as u64,
        ));
        if args.run.is_none() {
            name_the_one_before(recovery, reversion.run_name())?;
        }
        return Ok(Exit::Nothing);
    }
    let Some(_lock) = recovery.lock(&reversion) else {
        return Ok(Exit::Nothing);
    };
    if can_ask() && !args.yes && !agreed(&reversion, console) {
        return Ok(Exit::Done);
    }
    let tally = recovery.carry_out(reversion, false);
    watch::over();
    if !args.quiet {
        let lines = text::lines(&tally);
        lines.iter().for_each(|line| console.line(line));
        // Also if nothing of the run can be undone: it would be the last one for good.
        if args.run.is_none() && !tally.interrupted && tally.restored + tally.cleaned == 0 {
            name_the_one_before(recovery, &tally.run)?;
        }
    }
    if tally.interrupted {
        console.complain(&place.not_all_undone(&tally.run));
        return Ok(Exit::Interrupted);
    }
    Ok(exit(&tally))
}

fn exit(tally: &UndoTally) -> Exit {
    let left = tally.refused + tally.folders_refused + tally.lacking + tally.damaged.len() as u64;
    let folders = tally.folders + tally.folders_removed;
    let back = tally.restored + tally.cleaned + folders + tally.as_before;
    match left > 0 || tally.unwritten.is_some() {
        true => Exit::of_part(back),
        false if back == 0 && tally.impossible > 0 => Exit::Nothing,
        false => Exit::Done,
    }
}

/// The run that is meant; `None` if the user did not say.
fn taken_up(recovery: &Recovery<'_>, args: &UndoArgs) -> Result<Option<Reversion>, JournalError> {
    let console = recovery.console;
    let open = |run: Option<&str>| Reversion::open(&recovery.place.folder, run);
    match open(args.run.as_deref()) {
        Err(JournalError::Either { last, before }) if can_ask() && !args.yes && !args.dry_run => {
            let (one, other) = (words(&last), words(&before));
            console.line(&format!("1  the last run, {} ({one})", last.name));
            console.line(&format!(
                "2  the run before it, {} ({other}), which did not finish",
                before.name,
            ));
            let run = match question::ask(console, "Undo which run? [1, 2, Enter = none]") {
                Reply::Said(answer) if answer == "1" => last.name,
                Reply::Said(answer) if answer == "2" => before.name,
                _ => {
                    console.line("No run was chosen: nothing was changed.");
                    return Ok(None);
                }
            };
            open(Some(&run)).map(Some)
        }
        reversion => reversion.map(Some),
    }
}

/// Prints what would be done.
fn show(reversion: &Reversion, args: &UndoArgs, console: &Console) -> Exit {
    let mut written = Ok(());
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let tally = reversion.preview(&mut |step| {
        // Whoever reads the lines may take any time.
        current::rest();
        if written.is_ok() {
            written = writeln!(stdout, "{}", message(&text::wish(step)));
        }
    });
    current::rest();
    if let Err(exit) = printed(written.and_then(|()| stdout.flush())) {
        return exit;
    }
    if !args.quiet {
        let lines = text::wishes(&tally, &command(reversion.header()));
        lines.iter().for_each(|line| console.line(line));
    }
    exit(&tally)
}

/// Shows what would come of it and asks, if there is anything to ask for.
fn agreed(reversion: &Reversion, console: &Console) -> bool {
    let tally = reversion.preview(&mut |_| {});
    if tally.restored + tally.cleaned + tally.folders + tally.folders_removed == 0 {
        return true;
    }
    let lines = text::wishes(&tally, &command(reversion.header()));
    lines.iter().for_each(|line| console.line(line));
    question::is_agreed(console, &format!("Undo run {}? [y/N]", tally.run))
}

fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Says how to go further back. It is not done unasked: whoever calls undo twice may only want to be sure.
fn name_the_one_before(recovery: &Recovery<'_>, run: &str) -> Result<(), JournalError> {
    let place = recovery.place;
    let runs = action::runs(&place.folder)?.into_iter().rev();
    let mut before = runs.filter(|past| {
        past.name.as_str() < run && past.done > 0 && !past.undone && !past.permanent
    });
    if let Some(past) = before.next() {
        recovery.console.line(&format!(
            "To undo the run before it ({}): {}",
            words(&past),
            place.undo(&past.name)
        ));
    }
    Ok(())
}
