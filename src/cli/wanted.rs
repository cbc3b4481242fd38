//! What is wanted of a report.

use std::time::Duration;

use seekless::acting::Selection;

use super::source::Source;

/// A report, and what is wanted of it.
#[derive(Debug)]
pub struct Wanted {
    /// The report.
    pub source: Source,
    /// What is wanted.
    pub selection: Selection,
    /// How long to wait for a file system.
    pub patience: Duration,
}
