//! A run that has a journal.

use super::record::RunHeader;

/// One run that has a journal.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// The header of the run.
    pub header: RunHeader,
    /// Number of recorded steps.
    pub steps: usize,
    /// Number of steps that were done, as far as is known.
    pub done: usize,
    /// Number of steps that are not known to have ended; nonzero only after a crash.
    pub unfinished: usize,
    /// True if all of it was undone.
    pub undone: bool,
    /// True if each step is known to have changed nothing.
    pub changed_nothing: bool,
    /// True if it removed files for good and did nothing else: nothing of it can be undone.
    pub permanent: bool,
    /// True if nothing is left where the run moved its files, for example since the trash was emptied.
    pub is_gone: bool,
    /// True if the run, or an undo of it, was cut short.
    pub cut_short: bool,
    /// True if the run, or an undo of it, is in progress in another process.
    pub busy: bool,
    /// Number of damaged lines of the journal.
    pub damaged: usize,
}
