//! Finds files: walks folders, filters entries, follows links.

mod enter;
pub mod filter;
mod filter_spec;
mod found;
mod glob;
pub mod ignore_file;
mod limits;
mod linked;
mod listing;
mod other_entry;
mod path_globs;
mod queue;
mod roots;
mod search;
mod stamp;
mod walk;
mod workers;

pub use crate::file::{Kind, UnknownKind};
pub(crate) use enter::is_same_place;
pub use filter_spec::{FilterSpec, NoFile};
pub(crate) use found::{FoundBatch, ScanMessage};
pub use glob::BadPattern;
pub(crate) use glob::Globs;
pub(crate) use limits::{NAMES as MOST_NAMES, is_memory_exhausted};
pub(crate) use other_entry::OtherEntry;
pub(crate) use path_globs::PathGlobs;
pub(crate) use roots::Given;
pub(crate) use search::Search;
pub(crate) use stamp::Stamp;
pub(crate) use walk::{Group, Walk, path_of};
