//! An error of a whole journal.

use std::io;
use std::path::PathBuf;

use super::past::Flaw;
use super::run::Run;
use crate::file::Untrusted;

/// An error of a whole journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The folder of the journals cannot be used.
    #[error("cannot write a journal in {0}: {1}")]
    Folder(PathBuf, io::Error),
    /// The folder cannot be listed.
    #[error("cannot list the journals in {0}: {1}")]
    List(PathBuf, io::Error),
    /// Another user could have created or changed the journals.
    #[error("cannot use the journals in {0}: {1}")]
    Untrusted(PathBuf, Untrusted),
    /// Other users can read the folder, which contains other files.
    #[error("cannot write a journal in {0}: other users can access that folder (mode {1:o})")]
    Shared(PathBuf, u32),
    /// A journal cannot be read or written.
    #[error("journal {0}: {1}")]
    File(String, io::Error),
    /// There is no journal of this name.
    #[error("no such run: {0}")]
    Missing(String),
    /// There is no journal at all.
    #[error("nothing to undo")]
    Nothing,
    /// The run, or an undo of it, is still in progress.
    #[error("run {0} is still active")]
    Busy(String),
    /// The journal is not reliable.
    #[error("journal {0}: {1}")]
    Flawed(String, Flaw),
    /// A journal that cannot be read may be that of the last run.
    #[error("journal {name}: {flaw}")]
    InTheWay {
        /// The journal's name.
        name: String,
        /// The defect.
        flaw: Flaw,
        /// The last run before it that can be read.
        before: Option<Box<Run>>,
    },
    /// Either of two runs may be meant.
    #[error("run {} came after run {}, which did not finish", .last.name, .before.name)]
    Either {
        /// The last run.
        last: Box<Run>,
        /// The run before it, which was cut short.
        before: Box<Run>,
    },
}
