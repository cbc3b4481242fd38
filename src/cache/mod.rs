//! What was read of files is kept from run to run, so that nothing is read twice.
//!
//! A row says what reading a file in one state came to. It answers in the place of a read as long as the file is in that
//! state (`rule`). Each file system has a file of its own (`volume`, `store`). Rows of neighbouring inodes are written
//! down together (`pack`), stay in memory once they were asked for (`neighbours`), and are written behind by one thread
//! (`writer`).
//!
//! Whatever goes wrong here costs a read, never an answer.

mod folder;
mod kept;
mod neighbours;
#[cfg_attr(
    not(feature = "cache"),
    expect(dead_code, reason = "no rows are written")
)]
mod pack;
mod row;
mod rule;
#[cfg(feature = "cache")]
mod runs;
#[cfg(feature = "cache")]
mod store;
#[cfg(not(feature = "cache"))]
#[path = "no_store.rs"]
mod store;
mod volume;
mod writer;

pub use folder::CacheFolder;
pub use kept::{Contents, Kept};
pub use neighbours::KnownRows;
pub use row::{Part, Row};
pub use rule::{MARGIN, State, Trust, holds, holds_by_mtime, holds_by_path, is_settled, seen};
pub use store::{CacheError, Store};
pub use volume::{NotCached, VolumeKey};
pub use writer::{Learned, RunMark, Writer};
