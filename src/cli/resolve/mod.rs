//! From what was typed to what will be done, once. What was understood but cannot be followed is refused in one line,
//! which says what to do instead.

pub mod act;
pub mod catalog_roots;
pub mod environment;
pub mod filter;
pub mod root_links;
pub mod search;

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use seekless::acting::{BadBound, NoFolder};
use seekless::action::bounds::BadPlace;
use seekless::scan::BadPattern;

use crate::cli::terminal::console;
use crate::cli::terminal::exit::{Stop, refuse};

impl From<BadPattern> for Stop {
    fn from(pattern: BadPattern) -> Self {
        let way_out = match &pattern {
            BadPattern::SlashInName(_) => ": use --path for paths",
            // No expression begins like this; many globs do.
            BadPattern::Regex { pattern, .. } if pattern.starts_with('*') => {
                ": write a glob with --name or --path"
            }
            _ => "",
        };
        Self::Refused(format!("{pattern}{way_out}"))
    }
}

impl From<BadBound> for Stop {
    fn from(BadBound { bound, cause }: BadBound) -> Self {
        let check = match cause {
            BadPlace::Missing { .. } => "; check the path, and whether its disk is mounted",
            _ => "",
        };
        Self::Refused(format!("--{bound}: {cause}{check}"))
    }
}

impl From<NoFolder> for Stop {
    fn from(error: NoFolder) -> Self {
        Self::Refused(format!("{}: {}", console::path(&error.path), error.why))
    }
}

/// Refuses to write over the report that is read: whoever mistypes a filter would lose it.
pub fn not_onto_report(output: Option<&Path>, report: Option<&Path>) -> Result<(), Stop> {
    let (Some(output), Some(report)) = (output, report) else {
        return Ok(());
    };
    let id = |path: &Path| path.metadata().ok().map(|now| (now.dev(), now.ino()));
    if id(output).is_some_and(|it| id(report) == Some(it)) {
        return refuse(format!(
            "-o {}: --from reads this report: write to another file",
            console::path(output)
        ));
    }
    Ok(())
}

/// Refuses `-` as the name of an output: elsewhere it is standard output.
pub fn meant_as_file(output: Option<&Path>) -> Result<(), Stop> {
    if output.is_some_and(|output| output.as_os_str() == "-") {
        return refuse(
            "-o -: omit -o to write to standard output; for a file of that name write -o ./-",
        );
    }
    Ok(())
}
