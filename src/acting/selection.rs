//! The files of a report that take part.

use std::path::PathBuf;

use crate::engine::{Copies, SetOrder};
use crate::scan::filter::Filter;

/// What is wanted of a report.
#[derive(Debug, Default)]
pub struct Selection {
    /// The files that take part.
    pub filter: Filter,
    /// Only sets with a file that was modified at this time or later (nanoseconds since 1970) are wanted.
    pub newer_ns: Option<i64>,
    /// Real paths; only files below them take part. With none there is no limit.
    pub limits: Vec<PathBuf>,
    /// Sets with so many copies are wanted; `None` for those of the report.
    pub copies: Option<Copies>,
    /// The order of the sets; `None` for that of the report.
    pub order: Option<SetOrder>,
    /// Keep digests.
    pub digests: bool,
    /// The current folder: names of a report that was made elsewhere become absolute.
    pub folder: PathBuf,
}
