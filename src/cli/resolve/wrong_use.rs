//! Arguments that were understood but cannot be followed.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use seekless::acting::{BadBound, NoFolder};
use seekless::action::bounds::BadPlace;
use seekless::device::BadOverride;
use seekless::scan::BadPattern;

use super::root_list::BadList;
use super::time::BadTime;
use crate::cli::terminal::sanitize;

/// Says in one line why the arguments cannot be followed, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub enum WrongUse {
    /// A pattern of an option.
    #[error("{cause}{}", way_out(cause))]
    Pattern {
        /// The reason.
        #[from]
        cause: BadPattern,
    },
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

/// What to type instead of a pattern, if another option takes it.
fn way_out(pattern: &BadPattern) -> &'static str {
    match pattern {
        BadPattern::SlashInName(_) => ": use --path for paths",
        // No expression begins like this; many globs do.
        BadPattern::Regex { pattern, .. } if pattern.starts_with('*') => {
            ": write a glob with --name or --path"
        }
        _ => "",
    }
}

impl From<BadBound> for WrongUse {
    fn from(BadBound { bound, cause }: BadBound) -> Self {
        let check = match cause {
            BadPlace::Missing { .. } => "; check the path, and whether its disk is mounted",
            _ => "",
        };
        Self::Contradiction(format!("--{bound}: {cause}{check}"))
    }
}

impl From<NoFolder> for WrongUse {
    fn from(error: NoFolder) -> Self {
        Self::Contradiction(format!("{}: {}", sanitize::path(&error.path), error.why))
    }
}

/// Refuses to write over the report that is read: whoever mistypes a filter would lose it.
pub fn not_onto_report(output: Option<&Path>, report: Option<&Path>) -> Result<(), WrongUse> {
    let (Some(output), Some(report)) = (output, report) else {
        return Ok(());
    };
    let id = |path: &Path| path.metadata().ok().map(|now| (now.dev(), now.ino()));
    if id(output).is_some_and(|it| id(report) == Some(it)) {
        return contradiction(format!(
            "-o {}: --from reads this report: write to another file",
            sanitize::path(output)
        ));
    }
    Ok(())
}

/// Refuses `-` as the name of an output: elsewhere it is standard output.
pub fn meant_as_file(output: Option<&Path>) -> Result<(), WrongUse> {
    if output.is_some_and(|output| output.as_os_str() == "-") {
        return contradiction(
            "-o -: omit -o to write to standard output; for a file of that name write -o ./-",
        );
    }
    Ok(())
}

/// Refuses with a line that says what to do instead.
pub fn contradiction<T>(text: impl Into<String>) -> Result<T, WrongUse> {
    Err(WrongUse::Contradiction(text.into()))
}
