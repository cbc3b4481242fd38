//! Replaces `error` in a build without the feature `cache`.

/// The error if rows cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder cannot be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// There is nothing to read, and the user may not write it.
    #[error("{0}")]
    Useless(String),
    /// This build has no SQLite.
    #[error("this seekless was built without the feature `cache`")]
    NotBuilt,
}

impl CacheError {
    /// True if no run can use the file until it is removed.
    pub fn needs_removal(&self) -> bool {
        false
    }
}
