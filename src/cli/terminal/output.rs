//! Where the result goes, and what becomes of it when that place fails.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex};

use seekless::heartbeat::current;
use seekless::report::output::{Cause, Output, OutputError, Replaced};

use super::console;
use super::exit::{Exit, Stop};

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

/// An error of standard output.
impl From<io::Error> for NotWritten {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Stdout(error),
        }
    }
}

impl NotWritten {
    /// Ends a run whose result could not be written. `closed` is the exit status if its reader has seen enough.
    pub fn ends(&self, closed: Option<Exit>) -> Stop {
        match closed {
            Some(exit) if matches!(self, Self::Closed) => exit.into(),
            _ => Stop::Refused(self.to_string()),
        }
    }
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
    pub fn open(file: Option<&Path>) -> Result<Self, NotWritten> {
        Self::replacing(file, Replaced::Reports)
    }

    /// The same, where earlier results of this kind may be replaced.
    pub fn replacing(file: Option<&Path>, replaced: Replaced) -> Result<Self, NotWritten> {
        let Some(path) = file else {
            let stdout = io::stdout();
            let stdout = Stdout {
                file: File::from(stdout.as_fd().try_clone_to_owned()?),
                is_terminal: stdout.is_terminal(),
            };
            return Ok(Self::Stdout(BufWriter::with_capacity(BUFFER, stdout)));
        };
        let _call = current::call(path);
        Ok(Self::File(Output::create(path, replaced)?))
    }

    /// Lets something be written.
    pub fn write(
        &mut self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), NotWritten> {
        match self {
            Self::Stdout(out) => Ok(write(out)?),
            Self::File(out) => Ok(write(out).map_err(|cause| out.error(cause))?),
        }
    }

    /// Lets a reader who watches have what was written so far.
    pub fn flush(&mut self) -> Result<(), NotWritten> {
        match self {
            Self::Stdout(stdout) => Ok(stdout.flush()?),
            Self::File(_) => Ok(()),
        }
    }

    /// Writes the rest, and puts a file in its place.
    pub fn finish(self) -> Result<(), NotWritten> {
        match self {
            Self::File(file) => Ok(file.finish()?),
            Self::Stdout(mut stdout) => Ok(stdout.flush()?),
        }
    }
}

/// Drops what is shared with the thread that writes it, which removes the temporary file of `-o`. If it is being
/// written to just now, leaving at once is worth more.
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

/// Stdout without the standard library's search for line ends. If it leads to the terminal that
/// progress is drawn on, the progress steps aside.
pub struct Stdout {
    file: File,
    is_terminal: bool,
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_terminal {
            console::aside(|| self.file.write(bytes))
        } else {
            current::resting(|| self.file.write(bytes))
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
