//! Why a file cannot be read as a catalog.

use std::io;

use parquet::errors::ParquetError;

/// Why a file cannot be read as a catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The system refused it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no catalog of seekless")]
    NoCatalog,
    /// It has the columns of one.
    #[error(
        "it has the columns of a catalog, but another program wrote it: its footer does not say what it is of"
    )]
    Rewritten,
    /// A later version wrote it.
    #[error("it has schema {0}, which a newer version of seekless reads")]
    Newer(u32),
    /// It breaks its own rules.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<ParquetError> for CatalogError {
    fn from(error: ParquetError) -> Self {
        damaged(error)
    }
}

/// It breaks its own rules in this way.
pub fn damaged(why: impl ToString) -> CatalogError {
    let why = why.to_string();
    // It may quote what is in the file.
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    CatalogError::Damaged(why.chars().take(200).map(printable).collect())
}
