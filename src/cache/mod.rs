//! The cache: keeps the results of reads from run to run, so that no file is read twice.
//!
//! A row records the result of reading a file in one state. As long as the file is in that state, the row replaces a
//! read (`rule`). A run asks for a row with `Cache::lookup`, and stores one with `Cache::learn` (`run`). Each file system
//! has a file of its own (`volume`, `rows`, `frame`), to which a thread appends in the background (`writer`).
//!
//! An error of the cache costs a read, never a wrong answer.

mod error;
mod folder;
mod frame;
mod kept;
mod merge;
mod row;
mod rows;
#[cfg(test)]
mod rows_tests;
mod rule;
mod run;
mod volume;
mod writer;

pub use error::CacheError;
pub use folder::{CacheFolder, Choice};
pub use kept::{Contents, StoredVolume};
pub use row::{FileState, Row, RowPart};
pub use rows::Rows;
pub use rule::{MARGIN, Trust};
pub use run::{Cache, CacheUse, RowKey};
pub use volume::{NotCached, VolumeKey};
