//! The error for a pattern that cannot be used.

/// A pattern that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// The text is no glob.
    #[error("{pattern:?} is not a glob: {reason}")]
    Glob {
        /// The pattern as given.
        pattern: String,
        /// The defect.
        reason: String,
    },
    /// The text is no regular expression.
    #[error("{pattern:?} is not a regular expression: {reason}")]
    Regex {
        /// The pattern as given.
        pattern: String,
        /// The defect.
        reason: String,
    },
    /// A pattern for bare names has a slash and could never match.
    #[error("{0:?} contains a slash, which a file name cannot contain")]
    SlashInName(String),
    /// A pattern for whole paths of files ends in a slash and could never match.
    #[error("{0:?} ends with a slash, so it matches no file: write {0}** for all files below")]
    SlashAtEnd(String),
    /// An anchored pattern starts in a folder whose name is not UTF-8.
    #[error("{0:?} starts in the current folder, whose name is not UTF-8: write it without ./")]
    UnspeakableFolder(String),
}
