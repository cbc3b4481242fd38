//! `seekless undo`: takes a run back, or lists the runs that there are.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use seekless::action::{self, JournalError, Undo, UndoTally, Undone};
use seekless::report::escape::escape;

use super::args::UndoArgs;
use super::config_folder;
use super::exit::Exit;
use super::progress_text::count;
use super::sanitize::{complain, message};
use super::summary::plural;

/// Undoes what was asked for, or lists.
pub fn undo(args: &UndoArgs) -> Exit {
    let Some(folder) = config_folder::journals() else {
        complain("there is no place for journals: set HOME or XDG_STATE_HOME to an absolute path");
        return Exit::Nothing;
    };
    let done = match args.list {
        true => list(&folder),
        false => take_back(&folder, args),
    };
    done.unwrap_or_else(|error| {
        complain(&with_way_out(&error));
        Exit::Nothing
    })
}

fn with_way_out(error: &JournalError) -> String {
    match error {
        JournalError::Missing(_) => format!("{error}: see seekless undo --list"),
        JournalError::Busy(_) => format!("{error}: wait for its end, or end it first"),
        error => error.to_string(),
    }
}

fn take_back(folder: &Path, args: &UndoArgs) -> Result<Exit, JournalError> {
    let tally = action::undo(folder, args.run.as_deref(), &mut |step| tell(step, args))?;
    for line in &tally.damaged {
        complain(&format!(
            "journal {}: line {line} is damaged; what it was about stays as it is",
            tally.run
        ));
    }
    if !args.quiet {
        for line in lines(&tally) {
            say(&line);
        }
        if args.run.is_none() && tally.restored + tally.cleaned + tally.refused == 0 {
            name_the_one_before(folder, &tally.run)?;
        }
    }
    let left = tally.refused + tally.lacking + tally.damaged.len() as u64;
    Ok(match left > 0 {
        true => Exit::SomeLeft,
        false => Exit::Done,
    })
}

/// Says how to go further back. It is not done unasked: whoever calls undo twice may only want to be sure.
fn name_the_one_before(folder: &Path, run: &str) -> Result<(), JournalError> {
    let runs = action::runs(folder)?.into_iter().rev();
    let mut before = runs.filter(|past| past.name.as_str() < run && past.steps > 0 && !past.undone);
    if let Some(past) = before.next() {
        let words = past.header.command.iter().map(|word| escape(&word.0));
        let words = words.collect::<Vec<_>>().join(" ");
        say(&format!(
            "To take back the run before it ({words}): seekless undo {}",
            past.name
        ));
    }
    Ok(())
}

fn tell(step: &Undo, args: &UndoArgs) {
    let path = escape(&step.path);
    match &step.undone {
        Undone::Refused(why) => complain(&format!("{path}: {why}; left as it is")),
        Undone::RestoredWithout(missing) => complain(&format!(
            "{path}: is back, but without its {}: only an administrator may give that",
            missing.join(", ")
        )),
        Undone::Restored if args.verbose => say(&format!("{path}: as before")),
        Undone::Cleaned if args.verbose => say(&format!("{path}: cleared up")),
        _ => {}
    }
}

fn lines(tally: &UndoTally) -> Vec<String> {
    let files = |number: u64| format!("{} {}", count(number), plural(number, "file", "files"));
    let mut lines = Vec::new();
    lines.push(match (tally.restored + tally.cleaned, tally.refused) {
        (0, 0) => format!("Run {}: nothing was to be undone.", tally.run),
        (0, _) => format!("Run {}: nothing could be undone.", tally.run),
        (number, _) => format!("Run {}: {} as before again.", tally.run, files(number)),
    });
    let rest = [
        (tally.as_before, "already as before."),
        (tally.refused, "left as said above."),
        (tally.impossible, "removed for good: that cannot be undone."),
        (
            tally.apart,
            "apart now from further names (hard links) that this run had not touched.",
        ),
    ];
    for (number, words) in rest {
        if number > 0 {
            lines.push(format!("{} {words}", files(number)));
        }
    }
    lines
}

/// The newest last, where a terminal shows it.
fn list(folder: &Path) -> Result<Exit, JournalError> {
    for run in action::runs(folder)? {
        let time = Timestamp::from_nanosecond(run.header.started_ns.into()).unwrap_or_default();
        let time = time.to_zoned(TimeZone::system());
        let state = match (run.undone, run.unfinished) {
            (true, _) => "undone",
            (false, 0) => "done",
            (false, _) => "interrupted",
        };
        let words = run.header.command.iter().map(|word| escape(&word.0));
        let line = format!(
            "{}  {}  {state:11}  {:>9} steps  {}",
            run.name,
            time.strftime("%Y-%m-%d %H:%M:%S"),
            count(run.steps as u64),
            words.collect::<Vec<_>>().join(" "),
        );
        match writeln!(io::stdout(), "{line}") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            Err(error) => {
                complain(&format!("cannot write to standard output: {error}"));
                return Ok(Exit::Nothing);
            }
            Ok(()) => {}
        }
    }
    Ok(Exit::Done)
}

/// Where stderr is closed there is nobody to tell.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", message(line));
}
