//! Finding files: walking, filtering, links.

mod enter;
pub mod filter;
mod filter_spec;
mod follow;
mod found;
mod glob;
pub mod ignore_file;
mod kind;
mod listing;
mod path_globs;
mod queue;
mod roots;
mod stamp;
mod walk;

pub use filter_spec::{BadPattern, FilterSpec};
pub(crate) use follow::Following;
pub(crate) use found::{FoundBatch, Outbox, ScanMessage};
pub(crate) use glob::Globs;
pub use kind::{Kind, UnknownKind};
pub(crate) use path_globs::PathGlobs;
pub(crate) use roots::Roots;
pub(crate) use walk::{Crew, Walk, path_of};
