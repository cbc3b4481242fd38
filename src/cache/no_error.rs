//! Replaces `error` in a build without the feature `cache`.

/// The error if rows cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder cannot be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Something that is no file is in the place of this file, or of one that SQLite keeps beside it.
    #[error("{it} is {kind}, which seekless did not make; move it away or remove it")]
    Occupied {
        /// The file that is named already, or the one beside it.
        it: String,
        /// What is there.
        kind: &'static str,
    },
    /// This build has no SQLite.
    #[error("this seekless was built without the feature `cache`")]
    NotBuilt,
}

impl CacheError {
    /// True if no run can use the file until it is removed.
    pub fn needs_removal(&self) -> bool {
        false
    }

    /// True if no run can use the file until the user moves away what seekless did not make.
    pub fn is_occupied(&self) -> bool {
        matches!(self, Self::Occupied { .. })
    }
}
