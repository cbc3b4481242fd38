//! Lines on stderr, which must not tear the progress that is drawn there.

use std::fmt::Display;
use std::io::{self, Write};

use indicatif::{MultiProgress, ProgressDrawTarget};
use seekless::heartbeat::current;

use super::exit::Exit;
use super::sanitize;

/// How progress is told, decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Drawn on a terminal.
    Draw,
    /// Lines of text, for logs.
    Plain,
    /// One object a line, for programs.
    Json,
    /// Not at all.
    Never,
}

/// The one way to stderr while a run goes on; copies share it.
#[derive(Clone, Debug)]
pub struct Console {
    bars: MultiProgress,
    progress: Progress,
}

impl Console {
    /// Tells of progress in this way.
    pub fn new(progress: Progress) -> Self {
        let target = match progress {
            Progress::Draw => ProgressDrawTarget::stderr_with_hz(10),
            _ => ProgressDrawTarget::hidden(),
        };
        Self {
            bars: MultiProgress::with_draw_target(target),
            progress,
        }
    }

    /// How progress is told.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The place where progress is drawn.
    pub fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    /// Prints one line, whatever it contains.
    pub fn line(&self, text: &str) {
        let line = format!("{}\n", sanitize::message(text));
        // Where stderr is closed there is nobody to tell.
        let _ = self.aside(|| io::stderr().lock().write_all(line.as_bytes()));
    }

    /// Prints lines, whatever they contain.
    pub fn lines(&self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.line(&line));
    }

    /// Prints a message in the program's name.
    pub fn complain(&self, text: &str) {
        self.line(&format!("seekless: {text}"));
    }

    /// Prints why a command ends early.
    pub fn refuse<T>(&self, why: impl Display) -> Result<T, Exit> {
        self.complain(&why.to_string());
        Err(Exit::Nothing)
    }

    /// Prints a message about a path.
    pub fn complain_about(&self, path: &str, text: &str) {
        self.complain(&format!("{path}: {text}"));
    }

    /// Takes the progress from the terminal while something else is written there.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        current::resting(|| self.bars.suspend(write))
    }
}

/// Where the log is written to. It hands over whole lines.
impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        text.lines().for_each(|line| self.line(line));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
