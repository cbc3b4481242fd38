//! How a run ended, for whoever started it.

use std::fmt::Display;
use std::process::ExitCode;

/// The program's exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All was done.
    Done,
    /// It was done, but something could not be read or changed during the run; stderr names it.
    SomeLeft,
    /// Wrong use, or nothing could be done.
    Nothing,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// The exit status of two parts of a run.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if self.code() >= other.code() {
            self
        } else {
            other
        }
    }

    /// The exit status of a change that was not carried out in full: was at least one part of it?
    pub fn of_part(done: u64) -> Self {
        if done == 0 {
            Self::Nothing
        } else {
            Self::SomeLeft
        }
    }

    /// The exit status of a search that was a question (`--exit-code`): was anything found?
    #[must_use]
    pub fn of_question(self, found: bool) -> Self {
        match (self, found) {
            (Self::Done, false) => Self::Done,
            (Self::Done, true) => Self::SomeLeft,
            (Self::SomeLeft | Self::Nothing, _) => Self::Nothing,
            (Self::Interrupted, _) => Self::Interrupted,
        }
    }

    /// The number that the shell sees; 128 + SIGINT if interrupted, as shells count.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::SomeLeft => 1,
            Self::Nothing => 2,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command ends early.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// It cannot be followed, or nothing could be done. One line says why, and what to do instead.
    #[error("{0}")]
    Refused(String),
    /// All was said.
    #[error("")]
    Ended(Exit),
}

impl From<Exit> for Stop {
    fn from(exit: Exit) -> Self {
        Self::Ended(exit)
    }
}

/// Ends a command early, with the reason.
pub fn refuse<T>(why: impl Display) -> Result<T, Stop> {
    Err(Stop::Refused(why.to_string()))
}
