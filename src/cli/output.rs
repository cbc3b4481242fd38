//! Where the result goes, and what becomes of it when that place fails.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use seekless::decide::{DuplicateSet, Summary};
use seekless::heartbeat::current;
use seekless::report::file::Output;
use seekless::report::output_error::{Cause, OutputError};
use seekless::report::{Header, Report};

use super::console::Console;
use super::resolve::FindRun;
use super::sanitize;
use super::summary::{self, SummaryOf};

/// A set that is final reaches a pipe's other end this soon, without a system call for each.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// Says why the result could not be written.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// The reader has seen enough, as with `| head`; nothing is wrong.
    #[error("standard output was closed before the whole report was written")]
    Closed,
    /// Stdout takes no more.
    #[error("cannot write the report to standard output: {0}")]
    Stdout(io::Error),
    /// The stored plan cannot be read back.
    #[error("cannot store the plan: {0}")]
    Plan(io::Error),
    /// The file named with `-o` cannot be written.
    #[error(transparent)]
    File(OutputError),
}

impl From<OutputError> for NotWritten {
    fn from(error: OutputError) -> Self {
        match &error.cause {
            // As of standard output: -o may name /dev/stdout or a FIFO.
            Cause::System(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::File(error),
        }
    }
}

/// An error of the source, not of the place that is written to.
impl From<io::Error> for NotWritten {
    fn from(error: io::Error) -> Self {
        Self::Plan(error)
    }
}

/// A report on its way.
pub struct ReportOutput {
    report: Box<dyn Report>,
    header: Header,
    begun: bool,
    place: OutputStream,
    flushed: Option<Instant>,
    /// Sets that are still to be written.
    left: u64,
    /// The summary is written in place of a report.
    summary_of: Option<(SummaryOf, Option<usize>)>,
}

/// Stdout, or a file that is there as a whole or not at all.
pub enum OutputStream {
    /// Stdout.
    Stdout(BufWriter<Stdout>),
    /// A file.
    File(Output),
}

impl OutputStream {
    /// Makes sure that the place can be written to, and that an existing file is an earlier result.
    pub fn open(file: Option<&Path>, console: &Console) -> Result<Self, NotWritten> {
        Ok(match file {
            Some(path) => {
                let _call = current::call(path);
                Self::File(Output::create(path)?)
            }
            None => {
                let stdout = Stdout::open(console).map_err(NotWritten::Stdout)?;
                Self::Stdout(BufWriter::with_capacity(BUFFER, stdout))
            }
        })
    }

    /// Lets something be written.
    pub fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), NotWritten> {
        match self {
            Self::Stdout(out) => write(out).map_err(stdout_error),
            Self::File(out) => match write(out) {
                Ok(()) => Ok(()),
                Err(cause) => Err(out.error(cause).into()),
            },
        }
    }

    /// Writes the rest, and puts a file in its place.
    pub fn finish(self) -> Result<(), NotWritten> {
        match self {
            Self::File(file) => Ok(file.finish()?),
            Self::Stdout(mut stdout) => stdout.flush().map_err(stdout_error),
        }
    }
}

impl ReportOutput {
    /// Makes sure that the place can be written to, before any work is done.
    pub fn open(run: &FindRun, console: &Console) -> Result<Self, NotWritten> {
        let place = OutputStream::open(run.output.as_deref(), console)?;
        Ok(Self::at(place, run))
    }

    /// Writes to a place that is open.
    pub fn at(place: OutputStream, run: &FindRun) -> Self {
        Self {
            report: (run.format.make)(&run.style),
            header: run.header.clone(),
            begun: false,
            place,
            flushed: None,
            left: run.most.unwrap_or(u64::MAX),
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
        self.write(|report, out| report.set(out, set))?;
        self.flush_when_due()
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

    /// Lets go of what has waited long enough, for a reader who watches.
    pub fn flush_when_due(&mut self) -> Result<(), NotWritten> {
        let OutputStream::Stdout(stdout) = &mut self.place else {
            return Ok(());
        };
        if self.flushed.is_none_or(|last| last.elapsed() >= PATIENCE) {
            stdout.flush().map_err(stdout_error)?;
            self.flushed = Some(Instant::now());
        }
        Ok(())
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

/// Drops what is shared with the thread that writes it, which removes the temporary file of `-o`. If it is being written
/// to just now, leaving at once is worth more.
pub fn dropping<T: Send + 'static>(
    shared: &Arc<Mutex<Option<T>>>,
) -> impl FnMut() + Send + 'static {
    let shared = Arc::clone(shared);
    move || {
        if let Ok(mut shared) = shared.try_lock() {
            shared.take();
        }
    }
}

fn stdout_error(error: io::Error) -> NotWritten {
    match error.kind() {
        io::ErrorKind::BrokenPipe => NotWritten::Closed,
        _ => NotWritten::Stdout(error),
    }
}

/// Stdout without the standard library's search for line ends. If it leads to the terminal that
/// progress is drawn on, the progress steps aside.
pub struct Stdout {
    file: File,
    console: Option<Console>,
}

impl Stdout {
    fn open(console: &Console) -> io::Result<Self> {
        use std::io::IsTerminal;
        let stdout = io::stdout();
        Ok(Self {
            file: File::from(stdout.as_fd().try_clone_to_owned()?),
            console: stdout.is_terminal().then(|| console.clone()),
        })
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.console {
            Some(console) => console.aside(|| self.file.write(bytes)),
            None => current::resting(|| self.file.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
