//! The report of a search on its way to its place, and what is said after it.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use seekless::decide::{DuplicateSet, Summary};
use seekless::report::{Header, Report};
use seekless::units::count;

use super::resolve::FindRun;
use super::summary;
use crate::cli::terminal::console;
use crate::cli::terminal::exit::Exit;
use crate::cli::terminal::output::{NotWritten, OutputStream};

/// A report on its way.
pub struct ReportOutput {
    report: Box<dyn Report>,
    header: Header,
    begun: bool,
    place: OutputStream,
    /// Sets that are still to be written.
    left: u64,
}

impl ReportOutput {
    /// Makes sure that the place can be written to, before any work is done.
    pub fn open(run: &FindRun) -> Result<Self, NotWritten> {
        let place = OutputStream::open(run.args.output.as_deref())?;
        Ok(Self::at(place, run))
    }

    /// Writes to a place that is open.
    pub fn at(place: OutputStream, run: &FindRun) -> Self {
        Self {
            report: (run.args.format.make)(&run.style),
            header: run.header.clone(),
            begun: false,
            place,
            left: run.args.top.unwrap_or(u64::MAX),
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
pub fn told(run: &FindRun, summary: &Summary, notes: impl FnOnce(), exit: Exit) -> Exit {
    if run.talk.summary {
        console::lines(summary::lines(summary, run.summary_of()));
        notes();
        console::lines(reported(run, summary));
        console::lines(next_command(run, summary));
    }
    if run.args.exit_code {
        exit.of_question(summary.sets > 0)
    } else {
        exit
    }
}

/// The number of sets that were reported, if there are more.
fn reported(run: &FindRun, summary: &Summary) -> Option<String> {
    let most = run.args.top.filter(|&most| most < summary.sets)?;
    Some(format!(
        "Reported {} of {} sets (--top {most}).",
        count(most),
        count(summary.sets)
    ))
}

/// The command that shows what an action would do with a report that was written to a file.
fn next_command(run: &FindRun, summary: &Summary) -> Option<String> {
    let file = run.args.output.as_deref()?;
    let is_about_duplicates = run.config.copies.least > 1 && run.config.copies.most.is_none();
    if !file.is_file()
        || !run.args.format.readable_back
        || !is_about_duplicates
        || summary.sets == 0
        || run.style.color
    {
        return None;
    }
    let file = file.as_os_str().as_bytes();
    // A path that is no option for the program.
    let dash = if file.starts_with(b"-") { "./" } else { "" };
    Some(format!(
        "To see what would be removed: seekless remove --dry-run --from {dash}{}",
        console::shell_word(file)
    ))
}
