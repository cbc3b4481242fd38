//! `seekless undo --list`: the runs that have a journal.

use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use seekless::action::{self, Found, JournalError, Run};
use seekless::heartbeat::current;
use seekless::report::fit::fitting;
use seekless::units::{counted, plural};

use super::color::Terminal;
use super::console::Console;
use super::exit::Exit;
use super::journal_place::{JournalPlace, words};
use super::patience::{Changes, patiently};
use super::progress_text::count;
use super::sanitize::{complain, message, say};

/// The newest last, where a terminal shows it. A journal that cannot be read is named.
pub fn list(place: &JournalPlace, patience: Duration) -> Result<Exit, JournalError> {
    patiently(patience, &Console::new(false), Changes::None, || {
        let found = action::journals(&place.folder)?;
        // Whoever reads the lines may take any time.
        current::rest();
        listed(place, found)
    })
}

fn listed(place: &JournalPlace, found: Vec<Found>) -> Result<Exit, JournalError> {
    let mut exit = Exit::Done;
    let terminal = Terminal::of(&io::stdout());
    let width = match terminal.is_terminal {
        true => terminal.columns,
        false => usize::MAX,
    };
    let is_any = !found.is_empty();
    for found in found {
        let lines = match &found.run {
            Ok(run) => lines(run, terminal.is_terminal),
            Err(_) => fitting([format!("{}  unreadable", found.name)], width),
        };
        let written = lines
            .iter()
            .try_for_each(|line| writeln!(io::stdout(), "{}", message(line)));
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            Err(error) => {
                complain(&format!("cannot write to standard output: {error}"));
                return Ok(Exit::Nothing);
            }
            Ok(()) => {}
        }
        let flaw = match found.run {
            Err(flaw) => flaw.to_string(),
            Ok(run) if run.damaged > 0 => {
                counted(run.damaged as u64, "line is damaged", "lines are damaged")
            }
            Ok(_) => continue,
        };
        complain(&format!(
            "journal {}: {flaw}",
            place.folder.join(&found.name).display()
        ));
        exit = Exit::SomeLeft;
    }
    if is_any {
        let kept = format!(
            "A new run removes journals that are older than {} days, except the last {} and those of unfinished runs.",
            action::KEPT_DAYS,
            action::KEPT_JOURNALS
        );
        fitting([kept], width).iter().for_each(|line| say(line));
    }
    Ok(exit)
}

/// Two lines on a terminal, else a row of a table. Commands are left whole.
fn lines(run: &Run, is_terminal: bool) -> Vec<String> {
    let time = Timestamp::from_nanosecond(run.header.started_ns.into()).unwrap_or_default();
    let time = time.to_zoned(TimeZone::system());
    let state = match run {
        Run {
            done: 0,
            undone: false,
            busy: false,
            cut_short: false,
            ..
        }
        // Also after an undo, which had nothing to do.
        | Run {
            changed_nothing: true,
            busy: false,
            cut_short: false,
            ..
        } => "no change",
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
    };
    // What failed or was left alone is no step that can be undone.
    let steps = match (run.done, run.steps) {
        (_, 0) => "no".to_owned(),
        (done, steps) if done == steps => count(steps as u64),
        _ => format!("{} of {}", count(run.done as u64), count(run.steps as u64)),
    };
    let time = time.strftime("%Y-%m-%d %H:%M:%S");
    let what = plural(run.steps as u64, "step", "steps");
    let (name, command) = (&run.name, words(run));
    match is_terminal {
        true => vec![
            format!("{name}  {state}, {steps} {what}"),
            format!("  {time}  {command}"),
        ],
        false => vec![format!(
            "{name}  {time}  {state:11}  {steps:>9} {what:5}  {command}"
        )],
    }
}
