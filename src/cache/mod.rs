//! The cache: keeps the results of reads from run to run, so that no file is read twice.
//!
//! A row records the result of reading a file in one state. As long as the file is in that state, the row replaces a
//! read (`rule`). A run asks for a row with `Cache::lookup`, and stores one with `Cache::learn` (`run`). Each file
//! system has a file of its own (`volume`, `rows`, `index`, `log`, `frame`), to which a thread appends in the
//! background (`writer`). A run that ends alone adds an index, or writes the file anew (`settle`).
//!
//! An error of the cache costs a read, never a wrong answer.

use std::io;

use crate::file::trust::Distrust;
use crate::file::{RouteError, Untrusted};

mod folder;
mod frame;
mod index;
mod kept;
mod log;
mod row;
mod rows;
#[cfg(test)]
mod rows_tests;
mod rule;
mod run;
mod settle;
mod volume;
mod writer;

pub use folder::{CacheFolder, Choice};
pub use kept::{Contents, StoredVolume};
pub use row::{FileState, Row, ShownRow};
pub use rows::Rows;
pub use rule::{MARGIN, Storing, Trust, is_settled};
pub use run::{Cache, CacheUse, RowKey};
pub use volume::{NotCached, VolumeKey};

/// The error if rows cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or the file cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another run is using it, and goes on doing so.
    #[error("another run is using it")]
    Busy,
    /// Something is in the place of this file.
    #[error("it {0} that seekless did not make; move it away or remove it")]
    Occupied(&'static str),
}

impl CacheError {
    /// True if no run can use the file until the user moves away what seekless did not make.
    pub fn is_occupied(&self) -> bool {
        matches!(self, Self::Occupied(_))
    }
}

impl From<rustix::io::Errno> for CacheError {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Io(error.into())
    }
}

impl From<RouteError> for CacheError {
    /// The reason why a file of rows is not used.
    fn from(error: RouteError) -> Self {
        let Untrusted { why, .. } = match error {
            RouteError::Io(error) => return error.into(),
            RouteError::Untrusted(untrusted) => untrusted,
        };
        match why {
            Distrust::Link => Self::Occupied("is a symbolic link"),
            Distrust::NotRegular => Self::Occupied("is no regular file"),
            // What is read from it may be another user's, and a write would change what its other names show.
            Distrust::Writable(_) | Distrust::FurtherNames => {
                let remove = "remove it with rm, and the next run makes a new one";
                io::Error::other(format!("it {why}; {remove}")).into()
            }
            why => io::Error::other(format!("it {why}")).into(),
        }
    }
}
