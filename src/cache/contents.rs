//! The contents of a file of rows.

use std::path::PathBuf;

/// The contents of a file of rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of files with stored data.
    pub files: u64,
    /// The searched path on the file system of the last run that wrote a row, or a folder below it.
    pub folder: Option<PathBuf>,
}
