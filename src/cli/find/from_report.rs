//! `seekless find --from`: selects from a report, without reading any file.

use std::fmt::Display;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::ProgressBar;
use seekless::acting::{self, Absent, Reported, Selection};
use seekless::action::plan::{LeftName, Ranking};
use seekless::engine::ProgressLine;
use seekless::report::Header;
use seekless::report::escape::escape;
use seekless::report::read::{ReadError, ReadReport};

use super::report_output::{ReportOutput, told};
use super::resolve::FindRun;
use crate::cli::act::from_report::{FromReport, tell_what_is_typed, with_command};
use crate::cli::front::in_force::InForce;
use crate::cli::front::option_words::typed;
use crate::cli::front::problems::ProblemLimit;
use crate::cli::resolve::search::Source;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::output::{Ended, OutputStream};
use crate::cli::terminal::sanitize;
use crate::cli::terminal::watch::{self, End};

/// Reads the report, looks up its names and reports what was selected.
pub fn select(
    mut run: FindRun,
    (source, selection): (Source, Selection),
    ranking: Option<Ranking>,
    in_force: &InForce,
    console: &Console,
) -> Result<Exit, Exit> {
    let selected = selected(&run, &source, &selection, ranking, console);
    let (place, reported) = selected.or_else(|error| console.refuse(error))?;
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
    // With --exit-code, whoever closed the pipe did not hear all of the answer.
    let closed = (!run.args.exit_code).then_some(Exit::Done);
    written.map_err(|error| Ended::unwritten(&error, closed).exit(console))?;
    let is_whole = left.is_empty() && absent.is_empty() && !summary.interrupted;
    let exit = if is_whole { Exit::Done } else { Exit::SomeLeft };
    Ok(told(&run, &summary, in_force, || (), exit, console))
}

/// What was selected, and where it goes. The place of the output is opened before the report is read, since it may be
/// refused: a pipe may take long to its end.
///
/// # Errors
/// With the message, if nothing can be reported.
fn selected(
    run: &FindRun,
    source: &Source,
    selection: &Selection,
    ranking: Option<Ranking>,
    console: &Console,
) -> Result<(OutputStream, Reported), String> {
    tell_what_is_typed(source, console);
    let FromReport { name, input, about } = FromReport::open(source)?;
    let progress = Arc::new(ReadProgress::of(length(source)));
    // What is written would pass for a report of this user.
    if let Some(untrusted) = about.untrusted {
        return Err(format!(
            "{untrusted}, so its sets may be wrong: if you trust it, copy it into a folder of your own"
        ));
    }
    let place = OutputStream::open(run.args.output.as_deref(), console);
    let place = place.map_err(|error| error.to_string())?;
    let shown = Arc::clone(&progress);
    let of_report = |error: &dyn Display| format!("{name}: {error}");
    watch::during(
        End::NOTHING,
        move || shown.lines(),
        || {
            let report = progress.read(input);
            let report = report.map_err(|error| of_report(&with_command(&error)))?;
            let looked_up = |files| progress.look_up(files);
            let reported = acting::reported(report, selection, ranking, &looked_up);
            let reported = reported.map_err(|error| of_report(&error))?;
            Ok((place, reported))
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

/// How much of the report is read, and how many of its files are looked up.
#[derive(Debug)]
struct ReadProgress {
    /// Length of the report; 0 if nobody knows.
    length: u64,
    /// Counts the bytes that are read, and is never drawn.
    bytes: ProgressBar,
    /// Files that the report lists, when it is read.
    files: AtomicU64,
    looked_up: AtomicU64,
}

impl ReadProgress {
    fn of(length: u64) -> Self {
        Self {
            length,
            bytes: ProgressBar::hidden(),
            files: AtomicU64::new(0),
            looked_up: AtomicU64::new(0),
        }
    }

    fn read(&self, input: impl Read) -> Result<ReadReport, ReadError> {
        let report = ReadReport::read(self.bytes.wrap_read(input))?;
        let files = report.sets.iter().map(|read| read.set.members.len() as u64);
        self.files.store(files.sum(), Ordering::Relaxed);
        Ok(report)
    }

    /// Takes note of files that are looked up.
    fn look_up(&self, files: usize) {
        self.looked_up.fetch_add(files as u64, Ordering::Relaxed);
    }

    /// The lines to draw.
    fn lines(&self) -> Vec<ProgressLine> {
        let files = self.files.load(Ordering::Relaxed);
        let looked_up = self.looked_up.load(Ordering::Relaxed);
        let mut lines = vec![ProgressLine {
            stage: "report",
            files_done: files,
            bytes_done: self.bytes.position(),
            bytes_total: self.length,
            total_is_final: self.length > 0,
            ..ProgressLine::default()
        }];
        if looked_up > 0 {
            lines.push(ProgressLine {
                stage: "look up",
                files_done: looked_up,
                files_total: files,
                total_is_final: true,
                ..ProgressLine::default()
            });
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_until_files_are_looked_up() {
        let text = b"# seekless 0.1.0 report, text, schema 1\n\n\
            4 B (4 bytes) * 3, reclaimable 8.2 kB (8192 bytes)\n  1   a\n  2   b\n  3   c\n# interrupted: ended by hand\n";
        let progress = ReadProgress::of(100);
        progress.read(&text[..]).expect("a report");
        let told = |line: &ProgressLine| {
            let files = (line.files_done, line.files_total);
            (line.stage, files, (line.bytes_done, line.bytes_total))
        };
        let read = ("report", (3, 0), (text.len() as u64, 100));
        let lines = progress.lines();
        assert_eq!(lines.iter().map(told).collect::<Vec<_>>(), [read]);
        progress.look_up(2);
        let lines = progress.lines();
        let looked_up = ("look up", (2, 3), (0, 0));
        assert_eq!(
            lines.iter().map(told).collect::<Vec<_>>(),
            [read, looked_up]
        );
    }
}
