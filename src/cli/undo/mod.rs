//! `seekless undo`: undoes a run, clears up after one, or lists the runs that there are.

pub mod journal_place;
pub mod list;
pub mod sweep;
pub mod text;

use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seekless::action::{self, JournalError, Reads, Reversion, TreeLock, UndoTally, UndoneFile};
use seekless::heartbeat::current;

use self::journal_place::{JournalPlace, command, words};
use crate::cli::answers::question::{self, Reply};
use crate::cli::args::UndoArgs;
use crate::cli::args::common::DocumentFormat;
use crate::cli::front::problems::ProblemLimit;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::sanitize::{complain, message, path, printed, refuse, say};
use crate::cli::terminal::watch::{self, End};

/// Undoes what was asked for, or lists.
pub fn undo(args: &UndoArgs) -> Result<Exit, Exit> {
    let place = JournalPlace::of(args.journal.as_deref()).or_else(refuse)?;
    watch::wait_for(args.patience.time());
    let is_missing = |folder: &&Path| {
        current::ask_about(folder.as_os_str().as_bytes());
        !folder.exists()
    };
    if let Some(folder) = args.journal.as_deref().filter(is_missing) {
        return refuse(format!(
            "--journal {}: no such folder: give the folder that the run was given, or omit --journal",
            path(folder)
        ));
    }
    let reads = args.reads.of_a_change();
    let reads = (reads, args.reads.io_idle);
    if args.document.format == DocumentFormat::Json && !args.list {
        return refuse("--format json applies to the list of runs: add --list");
    }
    let done = match (args.list, args.sweep) {
        (true, _) => list::list(&place, args.document.format),
        (_, true) => sweep::command(&place, args, &reads),
        _ => take_back(&place, args, &reads),
    };
    done.or_else(|error| refuse(place.with_way_out(&error)))
}

fn take_back(
    place: &JournalPlace,
    args: &UndoArgs,
    (reads, io_idle): &(Reads, bool),
) -> Result<Exit, JournalError> {
    let Some(reversion) = taken_up(place, args)? else {
        return Ok(Exit::Done);
    };
    let reversion = reversion.reading(reads, *io_idle);
    if args.dry_run {
        return Ok(show(&reversion, args));
    }
    if reversion.is_permanent() {
        complain(&text::permanent(
            reversion.run_name(),
            reversion.done() as u64,
        ));
        if args.run.is_none() {
            name_the_one_before(place, reversion.run_name())?;
        }
        return Ok(Exit::Nothing);
    }
    let _lock = match TreeLock::take(&reversion.places()) {
        Ok(lock) => lock,
        Err(occupied) => {
            complain(&occupied.to_string());
            return Ok(Exit::Nothing);
        }
    };
    if can_ask() && !args.yes && !agreed(&reversion) {
        return Ok(Exit::Done);
    }
    let stop = Arc::<AtomicBool>::default();
    let limit = ProblemLimit::new(args.verbose);
    let end = End::step(&stop, place.not_all_undone(reversion.run_name()));
    let tally = watch::ending(end, || {
        reversion.carry_out(&stop, &mut |step| tell(step, &limit, args))
    });
    watch::over();
    limit.rest().iter().for_each(|line| complain(line));
    for line in text::of_the_journal(&tally, place) {
        complain(&line);
    }
    if !args.quiet {
        text::lines(&tally).iter().for_each(|line| say(line));
        // Also if nothing of the run can be undone: it would be the last one for good.
        if args.run.is_none() && !tally.interrupted && tally.restored + tally.cleaned == 0 {
            name_the_one_before(place, &tally.run)?;
        }
    }
    if tally.interrupted {
        complain(&place.not_all_undone(&tally.run));
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
fn taken_up(place: &JournalPlace, args: &UndoArgs) -> Result<Option<Reversion>, JournalError> {
    let open = |run: Option<&str>| Reversion::open(&place.folder, run);
    match open(args.run.as_deref()) {
        Err(JournalError::Either { last, before }) if can_ask() && !args.yes && !args.dry_run => {
            say(&format!(
                "1  the last run, {} ({})",
                last.name,
                words(&last)
            ));
            say(&format!(
                "2  the run before it, {} ({}), which did not finish",
                before.name,
                words(&before)
            ));
            let run =
                match question::ask(&Console::new(false), "Undo which run? [1, 2, Enter = none]") {
                    Reply::Said(answer) if answer == "1" => last.name,
                    Reply::Said(answer) if answer == "2" => before.name,
                    _ => {
                        say("No run was chosen: nothing was changed.");
                        return Ok(None);
                    }
                };
            open(Some(&run)).map(Some)
        }
        reversion => reversion.map(Some),
    }
}

/// Prints what would be done.
fn show(reversion: &Reversion, args: &UndoArgs) -> Exit {
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
        let command = command(reversion.header());
        let lines = text::wishes(&tally, &command);
        lines.iter().for_each(|line| say(line));
    }
    exit(&tally)
}

/// Shows what would come of it and asks, if there is anything to ask for.
fn agreed(reversion: &Reversion) -> bool {
    let tally = reversion.preview(&mut |_| {});
    if tally.restored + tally.cleaned + tally.folders + tally.folders_removed == 0 {
        return true;
    }
    let lines = text::wishes(&tally, &command(reversion.header()));
    lines.iter().for_each(|line| say(line));
    let wanted = format!("Undo run {}? [y/N]", tally.run);
    question::is_agreed(&Console::new(false), &wanted)
}

fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Says how to go further back. It is not done unasked: whoever calls undo twice may only want to be sure.
fn name_the_one_before(place: &JournalPlace, run: &str) -> Result<(), JournalError> {
    let runs = action::runs(&place.folder)?.into_iter().rev();
    let mut before = runs.filter(|past| {
        past.name.as_str() < run && past.done > 0 && !past.undone && !past.permanent
    });
    if let Some(past) = before.next() {
        say(&format!(
            "To undo the run before it ({}): {}",
            words(&past),
            place.undo(&past.name)
        ));
    }
    Ok(())
}

fn tell(step: &UndoneFile, limit: &ProblemLimit, args: &UndoArgs) {
    if let Some(problem) = text::problem(step, limit) {
        complain(&problem);
    }
    if args.verbose
        && let Some(success) = text::success(step)
    {
        say(&success);
    }
}
