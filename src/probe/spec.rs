//! What is to be measured.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::device::SystemRoot;
use crate::units::Bytes;

use super::experiment::Experiment;

/// The shortest time in which anything can be measured.
pub const SHORTEST: Duration = Duration::from_millis(100);

/// The longest time that a measurement may take: a day.
pub const LONGEST: Duration = Duration::from_secs(86_400);

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Spec {
    /// A folder, or a file: what lies below is read.
    pub path: PathBuf,
    /// How long it may take, scratch file aside.
    pub time: Duration,
    /// Read a scratch file of this size instead of existing files.
    pub scratch: Option<Bytes>,
    /// The experiments to do.
    pub experiments: Vec<&'static Experiment>,
    /// Decides which places are read.
    pub seed: u64,
    /// The most that may be read in a second, bytes.
    pub bytes_per_second: Option<Bytes>,
    /// Where the system tells about its devices.
    pub system: SystemRoot,
}

/// Why nothing can be measured at all.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The path cannot be looked at.
    #[error("{}: {cause}", path.display())]
    NoPath {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The path is neither a folder nor a regular file.
    #[error("{}: neither a folder nor a regular file", .0.display())]
    Unsuitable(PathBuf),
    /// There is no scratch file, and why.
    #[error("{0}")]
    NoScratch(String),
}
