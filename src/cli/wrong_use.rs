//! Arguments that were understood but cannot be followed.

use std::path::Path;

use seekless::acting::NoFolder;
use seekless::device::BadOverride;
use seekless::scan::BadPattern;

use super::root_list::BadList;
use super::sanitize;
use super::time_arg::BadTime;

/// Says in one line why the arguments cannot be followed, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub enum WrongUse {
    /// A pattern.
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    /// A time.
    #[error("--{option}: {cause}")]
    Moment {
        /// The option's name.
        option: &'static str,
        /// The reason.
        cause: BadTime,
    },
    /// A list on standard input.
    #[error(transparent)]
    List(#[from] BadList),
    /// A device that is not there.
    #[error("--threads: {0}")]
    Threads(#[from] BadOverride),
    /// Options that exclude each other, or that no file could satisfy.
    #[error("{0}")]
    Contradiction(String),
}

impl From<NoFolder> for WrongUse {
    fn from(error: NoFolder) -> Self {
        Self::Contradiction(format!("{}: {}", sanitize::path(&error.path), error.why))
    }
}

/// Refuses `-` as the name of an output: elsewhere it is standard output, here it would be a file.
pub fn not_dash(output: Option<&Path>) -> Result<(), WrongUse> {
    match output.is_some_and(|file| file.as_os_str() == "-") {
        true => contradiction(
            "-o -: omit -o to write to standard output; for a file of that name write -o ./-",
        ),
        false => Ok(()),
    }
}

/// Refuses with a line that says what to do instead.
pub fn contradiction<T>(text: impl Into<String>) -> Result<T, WrongUse> {
    Err(WrongUse::Contradiction(text.into()))
}
