//! The cache: keeps the results of reads from run to run, so that no file is read twice.
//!
//! A row records the result of reading a file in one state. As long as the file is in that state, the row replaces a
//! read (`rule`). Each file system has a file of its own (`volume`, `store`). Rows of neighbouring inodes are written
//! together (`pack`), and stay in memory once they were requested (`neighbours`). One thread writes rows in the
//! background (`writer`).
//!
//! An error of the cache costs a read, never a wrong answer.

mod contents;
mod day;
#[cfg(feature = "cache")]
mod error;
#[cfg(not(feature = "cache"))]
#[path = "no_error.rs"]
mod error;
mod folder;
#[cfg(feature = "cache")]
mod format;
mod kept;
mod neighbours;
#[cfg_attr(
    not(feature = "cache"),
    expect(dead_code, reason = "no rows are written")
)]
mod pack;
#[cfg(feature = "cache")]
mod prune;
mod refused;
mod row;
mod rule;
mod state;
#[cfg(feature = "cache")]
mod store;
#[cfg(not(feature = "cache"))]
#[path = "no_store.rs"]
mod store;
mod volume;
mod writer;

pub use contents::Contents;
pub use day::Day;
pub use error::CacheError;
pub use folder::{CacheFolder, Choice};
pub use kept::StoredVolume;
pub use neighbours::KnownRows;
pub use row::{Row, RowPart};
pub use rule::{MARGIN, Trust, holds, holds_by_mtime, holds_by_path, is_settled, seen};
pub use state::FileState;
pub use store::Store;
pub use volume::{NotCached, VolumeKey};
pub use writer::{Learned, RunMark, Writer};
