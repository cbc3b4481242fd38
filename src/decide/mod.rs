//! From found files to duplicate sets: a state machine without I/O and without threads.

mod by_size;
mod chain;
mod class;
mod copies;
mod file_map;
mod keyed_join;
mod keys;
mod machine;
#[cfg(test)]
mod machine_tests;
mod odds;
mod rules;
mod shared_blocks;
mod summary;
mod verdict;

pub use crate::event::LeftOut;
pub use class::ClassId;
pub use copies::{BadCopies, Copies};
pub use machine::{Comparing, Effect, Equality, HEAD, Machine, TAIL, Told, Want};
pub use rules::{Counting, FirstVisit, TailRule};
pub use shared_blocks::SharedBlocks;
pub use summary::{DeviceTally, StageTally, Summary, Unread};
pub use verdict::{DuplicateSet, Member};
