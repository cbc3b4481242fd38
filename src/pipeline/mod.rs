//! From found files to duplicate sets: a state machine without I/O and without threads.

mod summary;
mod verdict;

pub use summary::{DeviceTally, LeftOut, StageTally, Summary};
pub use verdict::{DuplicateSet, Member};
