//! How far a search is.

use std::time::Duration;

use crate::engine::ProgressLine;

/// How often callbacks hear of progress.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// How far one stage of a search is on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// `scan`, `head`, `tail`, `blocks`, `content` or `verify`.
    pub stage: &'static str,
    /// The device, for people; empty for the scan.
    pub device: String,
    /// Files done.
    pub files_done: u64,
    /// Total number of files known so far.
    pub files_total: u64,
    /// Bytes done.
    pub bytes_done: u64,
    /// Total number of bytes known so far.
    pub bytes_total: u64,
    /// True if the totals will grow no more.
    pub total_is_final: bool,
}

impl From<ProgressLine> for Progress {
    fn from(line: ProgressLine) -> Self {
        Self {
            stage: line.stage,
            device: line.device,
            files_done: line.files_done,
            files_total: line.files_total,
            bytes_done: line.bytes_done,
            bytes_total: line.bytes_total,
            total_is_final: line.total_is_final,
        }
    }
}
