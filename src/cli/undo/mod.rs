//! `seekless undo`: undoes a run, clears up after one, or lists the runs that there are.

pub mod journal_place;
pub mod list;
pub mod sweep;
pub mod text;

use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use seekless::action::{Back, Reads, Reversion, UndoTally, UndoneFile};
use seekless::heartbeat::current;

use self::journal_place::{JournalPlace, command_line};
use crate::cli::args::UndoArgs;
use crate::cli::front::problems::ProblemLimit;
use crate::cli::terminal;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::watch::{self, End};

/// Undoes what was asked for, or lists.
pub fn undo(args: &UndoArgs) -> Result<Exit, Stop> {
    let place = JournalPlace::of(args.journal.as_deref())?;
    watch::wait_for(args.reads.patience());
    let is_missing = |folder: &&Path| {
        current::ask_about(folder.as_os_str().as_bytes());
        !folder.exists()
    };
    if let Some(folder) = args.journal.as_deref().filter(is_missing) {
        return refuse(format!(
            "--journal {}: no such folder: give the folder that the run was given, or omit --journal",
            console::path(folder)
        ));
    }
    let recovery = Recovery {
        place: &place,
        reads: &args.reads.of_a_change(),
        io_idle: args.reads.io_idle,
        names_all: args.verbose,
    };
    if args.list {
        list::list(&place)
    } else if args.sweep {
        sweep::command(&recovery, args)
    } else {
        undo_one(&recovery, args)
    }
}

fn undo_one(recovery: &Recovery<'_>, args: &UndoArgs) -> Result<Exit, Stop> {
    let place = recovery.place;
    let reversion = place.open(args.run.as_deref())?;
    if args.dry_run {
        return show(&recovery.reading(reversion), args);
    }
    if reversion.is_permanent() {
        let removed = reversion.done() as u64;
        console::complain(text::permanent(reversion.run_name(), removed));
        if args.run.is_none() {
            console::line(&earlier(place));
        }
        return Ok(Exit::Nothing);
    }
    let asks = io::stdin().is_terminal() && io::stderr().is_terminal() && !args.yes;
    let agree = |reversion: &Reversion| !asks || agreed(reversion);
    let Some(tally) = recovery.run(reversion, Back::Undo, agree)? else {
        return Ok(Exit::Done);
    };
    watch::over();
    if !args.quiet {
        console::lines(text::done(&tally));
        if args.run.is_none() && !tally.interrupted && tally.restored + tally.cleaned == 0 {
            console::line(&earlier(place));
        }
    }
    if tally.interrupted {
        console::complain(place.not_all_undone(&tally.run));
        return Ok(Exit::Interrupted);
    }
    Ok(exit(&tally))
}

/// Says how to go further back. It is not done unasked: whoever calls undo twice may only want to be sure.
fn earlier(place: &JournalPlace) -> String {
    format!("To undo an earlier run, choose it: {}", place.list())
}

fn exit(tally: &UndoTally) -> Exit {
    let left = tally.refused + tally.folders_refused + tally.lacking + tally.damaged.len() as u64;
    let folders = tally.folders;
    let back = tally.restored + tally.cleaned + folders + tally.as_before;
    if left > 0 || tally.unwritten.is_some() {
        Exit::of_part(back)
    } else if back == 0 && tally.impossible > 0 {
        Exit::Nothing
    } else {
        Exit::Done
    }
}

/// Prints what would be done.
fn show(reversion: &Reversion, args: &UndoArgs) -> Result<Exit, Stop> {
    let mut lines = Vec::new();
    let tally = reversion.preview(&mut |step| lines.push(text::wish(step)));
    // Whoever reads the lines may take any time.
    current::rest();
    console::print_lines(lines)?;
    if !args.quiet {
        console::lines(text::wishes(&tally, &command_line(reversion.header())));
    }
    Ok(exit(&tally))
}

/// Shows what would come of it and asks, if there is anything to ask for.
fn agreed(reversion: &Reversion) -> bool {
    let tally = reversion.preview(&mut |_| {});
    if tally.restored + tally.cleaned + tally.folders == 0 {
        return true;
    }
    console::lines(text::wishes(&tally, &command_line(reversion.header())));
    terminal::is_agreed(&format!("Undo run {}? [y/N]", tally.run))
}

/// How runs are taken back, and where that is told.
pub struct Recovery<'a> {
    /// Where their journals are.
    pub place: &'a JournalPlace,
    /// The rules for reads.
    pub reads: &'a Reads,
    /// Read only while no other program uses the disk.
    pub io_idle: bool,
    /// Name each file.
    pub names_all: bool,
}

impl Recovery<'_> {
    fn reading(&self, reversion: Reversion) -> Reversion {
        reversion.reading(self.reads, self.io_idle)
    }

    /// Takes a run back while no other run is active, and says what went wrong. `None` if the user does not agree.
    pub fn run(
        &self,
        reversion: Reversion,
        back: Back,
        agree: impl FnOnce(&Reversion) -> bool,
    ) -> Result<Option<UndoTally>, Stop> {
        let _lock = reversion.lock().or_else(refuse)?;
        let reversion = self.reading(reversion);
        Ok(agree(&reversion).then(|| self.carry_out(reversion, back)))
    }

    /// Takes a run back, and says what went wrong.
    pub fn carry_out(&self, reversion: Reversion, back: Back) -> UndoTally {
        let place = self.place;
        let run = reversion.run_name();
        let way_out = match back {
            Back::Sweep => format!(
                "not everything was cleaned up; to continue: {}",
                place.sweep(run)
            ),
            Back::Undo => place.not_all_undone(run),
        };
        let stop = Arc::<AtomicBool>::default();
        let limit = ProblemLimit::new(self.names_all);
        let tell = &mut |step: &UndoneFile| {
            if let Some(problem) = text::problem(step, &limit) {
                console::complain(&problem);
            }
            if self.names_all
                && let Some(success) = text::success(step)
            {
                console::line(&success);
            }
        };
        let reversion = self.reading(reversion);
        let tally = watch::ending(End::step(&stop, way_out), || {
            reversion.take_back(back, &stop, tell)
        });
        let of_journal = text::of_the_journal(&tally, place);
        let rest = limit.rest().into_iter().chain(of_journal);
        rest.for_each(console::complain);
        tally
    }
}
