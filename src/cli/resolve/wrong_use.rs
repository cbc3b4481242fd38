//! Arguments that were understood but cannot be followed.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use seekless::acting::{BadBound, NoFolder};
use seekless::action::bounds::BadPlace;
use seekless::device::BadOverride;
use seekless::scan::BadPattern;

use crate::cli::terminal::sanitize;

/// Why the arguments cannot be followed, and what to do instead, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

impl From<BadPattern> for WrongUse {
    fn from(pattern: BadPattern) -> Self {
        let way_out = match &pattern {
            BadPattern::SlashInName(_) => ": use --path for paths",
            // No expression begins like this; many globs do.
            BadPattern::Regex { pattern, .. } if pattern.starts_with('*') => {
                ": write a glob with --name or --path"
            }
            _ => "",
        };
        Self(format!("{pattern}{way_out}"))
    }
}

impl From<BadOverride> for WrongUse {
    fn from(error: BadOverride) -> Self {
        Self(format!("--threads: {error}"))
    }
}

impl From<BadBound> for WrongUse {
    fn from(BadBound { bound, cause }: BadBound) -> Self {
        let check = match cause {
            BadPlace::Missing { .. } => "; check the path, and whether its disk is mounted",
            _ => "",
        };
        Self(format!("--{bound}: {cause}{check}"))
    }
}

impl From<NoFolder> for WrongUse {
    fn from(error: NoFolder) -> Self {
        Self(format!("{}: {}", sanitize::path(&error.path), error.why))
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
    Err(WrongUse(text.into()))
}
