//! `seekless find --from`: selects from a report, without reading any file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seekless::acting::{self, Absent, Reported, Selection};
use seekless::action::plan::{LeftName, Ranking};
use seekless::report::Header;
use seekless::report::escape::escape;
use seekless::report::read::ReadReport;

use super::report_output::{ReportOutput, told};
use super::resolve::FindRun;
use crate::cli::act::from_report::{FromReport, tell_what_is_typed, with_command};
use crate::cli::act::gather::planning;
use crate::cli::front::problems::{ProblemLimit, typed};
use crate::cli::resolve::search::Source;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Exit, Stop, refuse};
use crate::cli::terminal::output::OutputStream;
use crate::cli::terminal::watch::{self, End};

/// Reads the report, looks up its names and reports what was selected.
pub fn select(
    mut run: FindRun,
    (source, selection): (Source, Selection),
    ranking: Option<Ranking>,
) -> Result<Exit, Stop> {
    tell_what_is_typed(&source);
    let report = FromReport::open(&source).or_else(refuse)?;
    // What is written would pass for a report of this user.
    if let Some(untrusted) = report.about.untrusted {
        return refuse(format!(
            "{untrusted}, so its sets may be wrong: if you trust it, copy it into a folder of your own"
        ));
    }
    // Before the report is read, which may take long if it comes through a pipe.
    let place = OutputStream::open(run.args.output.as_deref());
    let place = place.or_else(refuse)?;
    let files = Arc::new(AtomicU64::new(0));
    let reported = planning(&files, || {
        let read = ReadReport::read(report.input).map_err(|error| with_command(&error))?;
        let looked_up = |number| {
            files.fetch_add(number as u64, Ordering::Relaxed);
        };
        let reported = acting::reported(read, &selection, ranking, &looked_up);
        reported.map_err(|error| error.to_string())
    });
    let reported = reported.or_else(|error: String| refuse(format!("{}: {error}", report.name)))?;
    let Reported {
        header,
        sets,
        summary,
        copies,
        left,
        absent,
    } = reported;
    complain(&absent, &left);
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
    // With --exit-code, whoever closed the pipe did not hear all of the answer.
    let closed = (!run.args.exit_code).then_some(Exit::Done);
    written.map_err(|error| error.ends(closed))?;
    let is_whole = left.is_empty() && absent.is_empty() && !summary.interrupted;
    let exit = if is_whole { Exit::Done } else { Exit::SomeLeft };
    Ok(told(&run, &summary, || (), exit))
}

/// Names what cannot be in the answer; files that were removed are only counted.
fn complain(absent: &[Absent], left: &[LeftName]) {
    for Absent { path, error } in absent {
        let path = console::path(path);
        let words = "skipped its files: mount the disk, or give the paths that remain";
        console::complain_about(&path, &format!("{error}; {words}"));
    }
    let limit = ProblemLimit::new(tracing::enabled!(tracing::Level::INFO));
    for name in left {
        let words = typed(&name.why);
        if limit.meets(&words) {
            console::complain_about(&escape(&name.path), &format!("{words}; skipped"));
        }
    }
    limit.rest().iter().for_each(console::complain);
}
