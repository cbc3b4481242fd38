//! The report of a search on its way to its place, and what is said after it.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use seekless::decide::{DuplicateSet, Summary};
use seekless::report::{Header, Report};
use seekless::units::count;

use super::resolve::FindRun;
use super::summary::{self, SummaryOf};
use crate::cli::front::in_force::InForce;
use crate::cli::terminal::console::Console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::output::{NotWritten, OutputStream};
use crate::cli::terminal::{sanitize, shell_word};

/// A report on its way.
pub struct ReportOutput {
    report: Box<dyn Report>,
    header: Header,
    begun: bool,
    place: OutputStream,
    /// Sets that are still to be written.
    left: u64,
    /// The summary is written in place of a report.
    summary_of: Option<(SummaryOf, Option<usize>)>,
}

impl ReportOutput {
    /// Makes sure that the place can be written to, before any work is done.
    pub fn open(run: &FindRun, console: &Console) -> Result<Self, NotWritten> {
        let place = OutputStream::open(run.args.output.as_deref(), console)?;
        Ok(Self::at(place, run))
    }

    /// Writes to a place that is open.
    pub fn at(place: OutputStream, run: &FindRun) -> Self {
        Self {
            report: (run.args.format.make)(&run.style),
            header: run.header.clone(),
            begun: false,
            place,
            left: run.most().unwrap_or(u64::MAX),
            summary_of: run
                .summary_is_result()
                .then_some((run.summary_of(), run.style.columns)),
        }
    }

    /// Writes one set.
    pub fn set(&mut self, set: &DuplicateSet) -> Result<(), NotWritten> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        self.begin()?;
        self.write(|report, out| report.set(out, set))
    }

    /// Writes the end and puts a file in its place.
    pub fn finish(mut self, summary: &Summary) -> Result<(), NotWritten> {
        if let Some((of, columns)) = self.summary_of {
            let lines = summary::lines(summary, of, columns);
            // A later result may replace what names seekless.
            let is_file = matches!(self.place, OutputStream::File(_));
            let title = is_file.then_some(concat!(
                "# seekless ",
                env!("CARGO_PKG_VERSION"),
                " summary"
            ));
            let lines = title.into_iter().map(str::to_owned).chain(lines);
            let mut lines = lines.map(|line| sanitize::message(&line).into_owned());
            self.place
                .write(|out| lines.try_for_each(|line| writeln!(out, "{line}")))?;
            return self.place.finish();
        }
        self.begin()?;
        self.write(|report, out| report.end(out, summary))?;
        self.place.finish()
    }

    /// Lets a reader who watches have what was written so far.
    pub fn flush(&mut self) -> Result<(), NotWritten> {
        self.place.flush()
    }

    /// Writes what comes first, once there is something to follow: a run that fails at once
    /// leaves no beginning without an end.
    fn begin(&mut self) -> Result<(), NotWritten> {
        if !self.begun {
            self.begun = true;
            let header = std::mem::take(&mut self.header);
            self.write(|report, out| report.begin(out, &header))?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Report, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), NotWritten> {
        self.place.write(|out| write(self.report.as_mut(), out))
    }
}

/// Says how a search or a selection went; `notes` are behind its summary. Decides on the exit status.
pub fn told(
    run: &FindRun,
    summary: &Summary,
    in_force: &InForce,
    notes: impl FnOnce(),
    exit: Exit,
    console: &Console,
) -> Exit {
    if run.talk.summary {
        if !run.summary_is_result() {
            console.lines(summary::lines(summary, run.summary_of(), run.talk.columns));
        }
        console.sentences(in_force.line());
        notes();
        console.sentences(reported(run, summary));
        console.sentences(next_command(run, summary));
    }
    if run.args.exit_code {
        exit.of_question(summary.sets > 0)
    } else {
        exit
    }
}

/// The number of sets that were reported, if there are more.
fn reported(run: &FindRun, summary: &Summary) -> Option<String> {
    let most = run.most().filter(|&most| 0 < most && most < summary.sets)?;
    Some(format!(
        "Reported {} of {} sets (--top {most}).",
        count(most),
        count(summary.sets)
    ))
}

/// The command that shows what an action would do with a report that was written to a file.
fn next_command(run: &FindRun, summary: &Summary) -> Option<String> {
    let file = run.args.output.as_deref()?;
    // /dev/stdout and the like may lead to a file, but that file has another name.
    let is_named = file.is_file() && !file.starts_with("/dev") && !file.starts_with("/proc");
    let is_about_duplicates = run.config.copies.least > 1 && run.config.copies.most.is_none();
    if !is_named
        || !run.args.format.readable_back
        || !is_about_duplicates
        || summary.sets == 0
        || run.args.summary_only
        || run.style.color
    {
        return None;
    }
    let file = file.as_os_str().as_bytes();
    // A path that is no option for the program.
    let dash = if file.starts_with(b"-") { "./" } else { "" };
    Some(format!(
        "To see what would be removed: seekless remove --dry-run --from {dash}{}",
        shell_word::word(file)
    ))
}
