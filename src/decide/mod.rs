//! From found files to duplicate sets: a state machine without I/O and without threads.

mod by_file;
mod by_size;
mod copies;
mod keyed_join;
mod machine;
#[cfg(test)]
mod machine_tests;
mod odds;
mod rules;
mod shared_blocks;
mod summary;

pub use crate::event::LeftOut;
pub use crate::media::HEADERS;
pub use copies::{BadCopies, Copies};
pub use keyed_join::ClassId;
pub use machine::{Equality, Machine, Told};
pub use rules::{
    Comparing, Counting, Effect, FirstVisit, HEAD, Rules, SharedBlocks, TAIL, TailRule, Want,
};
pub use summary::{
    AlikeFile, AlikeTally, DeviceTally, DuplicateSet, Member, ProbableTally, StageTally, Summary,
    Unread,
};
