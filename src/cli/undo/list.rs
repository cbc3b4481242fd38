//! `seekless undo --list`: the runs that have a journal.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use seekless::action::{self, Found, JournalError, Run};
use seekless::heartbeat::current;
use seekless::report::fit::fitting;
use seekless::report::{Name, SCHEMA, write_document};
use seekless::units::{counted, plural};
use serde::Serialize;

use super::journal_place::{JournalPlace, words};
use crate::cli::args::common::DocumentFormat;
use crate::cli::terminal::color::Terminal;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::progress_text::count;
use crate::cli::terminal::sanitize::{complain, message, printed, say};

/// The newest last, where a terminal shows it. A journal that cannot be read is named.
pub fn list(place: &JournalPlace, format: DocumentFormat) -> Result<Exit, JournalError> {
    let found = action::journals(&place.folder)?;
    // Whoever reads the lines may take any time.
    current::rest();
    let written = match format {
        DocumentFormat::Text => listed(place, found),
        DocumentFormat::Json => documented(place, &found),
    };
    Ok(written.unwrap_or_else(|exit| exit))
}

#[derive(Serialize)]
struct Record<'a> {
    name: &'a str,
    started: Option<String>,
    command: Option<Vec<Name<'a>>>,
    state: &'static str,
    steps: usize,
    done: usize,
    damaged: usize,
    why: Option<String>,
}

impl<'a> From<&'a Found> for Record<'a> {
    fn from(found: &'a Found) -> Self {
        let run = found.run.as_ref().ok();
        let words = run.map(|run| run.header.command.iter());
        Self {
            name: &found.name,
            started: run.map(|run| time(run).to_string()),
            command: words.map(|words| words.map(|word| Name::new(&word.0)).collect()),
            state: run.map_or("unreadable", state),
            steps: run.map_or(0, |run| run.steps),
            done: run.map_or(0, |run| run.done),
            damaged: run.map_or(0, |run| run.damaged),
            why: found.run.as_ref().err().map(ToString::to_string),
        }
    }
}

/// One document. `docs/reference/formats.md` says what it promises.
fn documented(place: &JournalPlace, found: &[Found]) -> Result<Exit, Exit> {
    #[derive(Serialize)]
    struct Keys<'a> {
        folder: Name<'a>,
        runs: Vec<Record<'a>>,
    }
    let keys = Keys {
        folder: Name::new(place.folder.as_os_str().as_bytes()),
        runs: found.iter().map(Record::from).collect(),
    };
    let mut stdout = io::stdout().lock();
    printed(write_document(&mut stdout, "seekless-runs", SCHEMA, &keys))?;
    let mut runs = keys.runs.iter();
    Ok(
        match runs.all(|run| run.why.is_none() && run.damaged == 0) {
            true => Exit::Done,
            false => Exit::SomeLeft,
        },
    )
}

fn listed(place: &JournalPlace, found: Vec<Found>) -> Result<Exit, Exit> {
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
        let mut lines = lines.iter();
        printed(lines.try_for_each(|line| writeln!(io::stdout(), "{}", message(line))))?;
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
        Run { is_gone: true, .. } => "gone",
        _ => "done",
    }
}

/// Two lines on a terminal, else a row of a table. Commands are left whole.
fn lines(run: &Run, is_terminal: bool) -> Vec<String> {
    let time = time(run).to_zoned(TimeZone::system());
    let state = state(run);
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
