//! Errors of a file of rows.

use std::io;

use rusqlite::ErrorCode;

/// The error if rows cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or the file cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file differs from what was written to it.
    #[error("damaged ({0})")]
    Damaged(rusqlite::Error),
    /// It was cut, or its tables were changed.
    #[error("damaged (cut off, or changed by another program)")]
    Altered,
    /// Another run is using it, and goes on doing so.
    #[error("another run is using it")]
    Busy,
    /// The file belongs to another version of this program.
    #[error("not a cache of this version of seekless")]
    OtherVersion,
    /// Something that is no file is in the place of this file, or of one that SQLite keeps beside it.
    #[error("{it} is {kind}, which seekless did not make; move it away or remove it")]
    Occupied {
        /// The file that is named already, or the one beside it.
        it: String,
        /// What is there.
        kind: &'static str,
    },
    /// The file belongs to another program.
    #[error("not a cache of seekless: move it away")]
    Foreign,
    /// Any other error of SQLite.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl CacheError {
    /// True if no run can use the file until it is removed.
    pub fn needs_removal(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Altered | Self::OtherVersion)
    }

    /// True if no run can use the file until the user moves away what seekless did not make.
    pub fn is_occupied(&self) -> bool {
        matches!(self, Self::Occupied { .. } | Self::Foreign)
    }
}

impl From<rusqlite::Error> for CacheError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            // A value is not what was written; a table or the format of the file is not.
            None | Some(ErrorCode::Unknown) => Self::Altered,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}
