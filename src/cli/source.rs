//! Where sets come from.

use std::path::{Path, PathBuf};

use seekless::engine::Config;

/// Where sets come from.
#[derive(Debug)]
pub enum Source {
    /// A search.
    Search(Box<Config>),
    /// A report in a file.
    Report(PathBuf),
    /// A report on standard input.
    Stdin,
}

impl Source {
    /// The report that `--from` names.
    pub fn of_report(path: &Path) -> Self {
        match path.as_os_str() == "-" {
            true => Self::Stdin,
            false => Self::Report(path.to_owned()),
        }
    }
}
