//! `seekless find --from`: selects from a report, without reading any file.

use std::fmt::Display;
use std::sync::Arc;

use seekless::acting::{self, Absent, Reported};
use seekless::action::plan::{LeftName, Ranking};
use seekless::report::Header;
use seekless::report::escape::escape;

use super::console::Console;
use super::exit::Exit;
use super::from_report::with_command;
use super::from_report::{FromReport, tell_what_is_typed};
use super::in_force::InForce;
use super::option_words::typed;
use super::output::{NotWritten, OutputStream, ReportOutput};
use super::problem_limit::ProblemLimit;
use super::report_progress::ReportProgress;
use super::resolve::FindRun;
use super::resolve::Wanted;
use super::resolve_search::Source;
use super::watch::{self, End};
use super::{next_command, sanitize, summary};

/// What was selected, and where it goes.
pub struct Selected {
    place: OutputStream,
    reported: Reported,
}

/// Reads the report and looks up its names. The place of the output is opened before, since it may be refused: a pipe
/// may take long to its end.
///
/// # Errors
/// With the message, if nothing can be reported.
pub fn select(
    run: &FindRun,
    wanted: &Wanted,
    ranking: Option<Ranking>,
    console: &Console,
) -> Result<Selected, String> {
    tell_what_is_typed(&wanted.source, console);
    let (input, about) = FromReport::open(&wanted.source)?;
    let length = length(&wanted.source);
    // What is written would pass for a report of this user.
    about.must_be_own()?;
    let place = OutputStream::open(run.output.as_deref(), console);
    let place = place.map_err(|error| error.to_string())?;
    let progress = Arc::new(ReportProgress::of_length(length));
    let shown = Arc::clone(&progress);
    let of_report = |error: &dyn Display| format!("{}: {error}", about.name());
    watch::during(
        End::NOTHING,
        move || shown.lines(),
        || {
            let report = progress.read(input);
            let report = report.map_err(|error| of_report(&with_command(&error)))?;
            let selection = &wanted.selection;
            let looked_up = |files| progress.look_up(files);
            let reported = acting::reported(report, selection, ranking, &looked_up);
            let reported = reported.map_err(|error| of_report(&error))?;
            Ok(Selected { place, reported })
        },
    )
}

/// The length of a report in a file. Of a pipe nobody knows it.
fn length(source: &Source) -> u64 {
    let file = match source {
        Source::Report(path) => path.metadata().ok(),
        _ => None,
    };
    file.filter(|file| file.is_file())
        .map_or(0, |file| file.len())
}

/// Reports what was selected.
pub fn report(
    mut run: FindRun,
    selected: Selected,
    in_force: &InForce,
    console: &Console,
) -> Result<Exit, Exit> {
    let Selected { place, reported } = selected;
    let Reported {
        header,
        sets,
        summary,
        copies,
        left,
        absent,
    } = reported;
    complain(&absent, &left, console);
    run.config.copies = copies;
    run.config.isolate = header.options.isolate;
    run.header = Header {
        version: run.header.version,
        command: run.header.command,
        ..header
    };
    let mut output = ReportOutput::at(place, &run);
    let written = watch::ending(End::WRITING, || {
        let written = sets.iter().try_for_each(|set| output.set(set));
        written.and_then(|()| output.finish(&summary))
    });
    watch::over();
    match written {
        Ok(()) => {}
        // With --exit-code, whoever closed the pipe did not hear all of the answer.
        Err(NotWritten::Closed) if !run.exit_code => return Ok(Exit::Done),
        Err(error) => return console.refuse(error),
    }
    if run.talk.summary {
        if !run.summary_is_result() {
            let lines = summary::lines(&summary, run.summary_of(), run.talk.columns);
            lines.iter().for_each(|line| console.line(line));
        }
        let lines = in_force.line().into_iter();
        lines
            .chain(next_command::lines(&run, &summary))
            .for_each(|line| console.sentence(&line));
    }
    let is_whole = left.is_empty() && absent.is_empty() && !summary.interrupted;
    let exit = if is_whole { Exit::Done } else { Exit::SomeLeft };
    Ok(if run.exit_code {
        exit.of_question(summary.sets > 0)
    } else {
        exit
    })
}

/// Names what cannot be in the answer; files that were removed are only counted.
fn complain(absent: &[Absent], left: &[LeftName], console: &Console) {
    for Absent { path, error } in absent {
        let path = sanitize::path(path);
        let words = "skipped its files: mount the disk, or give the paths that remain";
        console.complain_about(&path, &format!("{error}; {words}"));
    }
    let limit = ProblemLimit::new(tracing::enabled!(tracing::Level::INFO));
    for name in left {
        let words = typed(&name.why);
        if limit.meets(&words) {
            console.complain_about(&escape(&name.path), &format!("{words}; skipped"));
        }
    }
    limit.rest().iter().for_each(|line| console.complain(line));
}
