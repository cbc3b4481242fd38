//! Lines on stderr, which must not tear the progress that is drawn there.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressDrawTarget};
use seekless::heartbeat::current;

use super::exit::Exit;
use super::fit;
use super::sanitize;

/// How progress is told, decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Drawn on a terminal.
    Draw,
    /// Lines of text, with this pause between them.
    Plain(Duration),
    /// One object a line, with this pause between them.
    Json(Duration),
    /// Not at all.
    Never,
}

/// The one way to stderr while a run goes on; copies share it.
#[derive(Clone, Debug)]
pub struct Console {
    bars: MultiProgress,
    progress: Progress,
    /// The log is broken between words.
    fits_log: bool,
}

impl Console {
    /// Draws progress if `draws`.
    pub fn new(draws: bool) -> Self {
        Self::telling(if draws {
            Progress::Draw
        } else {
            Progress::Never
        })
    }

    /// Tells of progress in this way.
    pub fn telling(progress: Progress) -> Self {
        let target = match progress {
            Progress::Draw => ProgressDrawTarget::stderr_with_hz(10),
            _ => ProgressDrawTarget::hidden(),
        };
        Self {
            bars: MultiProgress::with_draw_target(target),
            progress,
            fits_log: false,
        }
    }

    /// The same, for a log of sentences.
    pub fn fitting_log(&self) -> Self {
        Self {
            fits_log: true,
            ..self.clone()
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
        self.raw(format!("{}\n", sanitize::message(text)).as_bytes());
    }

    /// Prints a sentence: on a terminal, lines are broken between words.
    pub fn sentence(&self, text: &str) {
        fit::for_stderr(text)
            .iter()
            .for_each(|line| self.line(line));
    }

    /// Prints lines, whatever they contain.
    pub fn lines(&self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.line(&line));
    }

    /// Prints sentences.
    pub fn sentences(&self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.sentence(&line));
    }

    /// Prints a message in the program's name.
    pub fn complain(&self, text: &str) {
        self.sentence(&format!("seekless: {text}"));
    }

    /// Prints why a command ends early.
    pub fn refuse<T>(&self, why: impl Display) -> Result<T, Exit> {
        self.complain(&why.to_string());
        Err(Exit::Nothing)
    }

    /// Prints a message about a path, which is not broken.
    pub fn complain_about(&self, path: &str, text: &str) {
        self.complain(&format!("{}: {text}", fit::whole(path)));
    }

    fn raw(&self, bytes: &[u8]) {
        // Where stderr is closed there is nobody to tell.
        let _ = self.aside(|| io::stderr().lock().write_all(bytes));
    }

    /// Takes the progress from the terminal while something else is written there.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        current::resting(|| self.bars.suspend(write))
    }
}

/// Where the log is written to. It hands over whole lines.
impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) if self.fits_log => text.lines().for_each(|line| self.sentence(line)),
            _ => self.raw(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
