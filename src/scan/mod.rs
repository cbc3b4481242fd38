//! Finds files: walks folders, filters entries, follows links.

mod enter;
pub mod filter;
mod filter_spec;
mod found;
mod glob;
pub mod ignore_file;
mod listing;
mod queue;
mod search;
mod walk;

pub use crate::file::{Kind, UnknownKind};
pub(crate) use enter::{Stamp, TICK_NS, is_same_place};
pub use filter_spec::{FilterSpec, NoFile};
pub(crate) use found::{FoundBatch, OtherEntry, ScanMessage};
pub use glob::BadPattern;
pub(crate) use glob::Globs;
pub(crate) use listing::{MOST_NAMES, is_memory_exhausted};
pub(crate) use search::Search;
pub(crate) use walk::count as count_left_out;
pub(crate) use walk::{Given, Group, Walk, path_of};
