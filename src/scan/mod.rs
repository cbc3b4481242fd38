//! Finding files: walking, filtering, links.

pub mod filter;
mod filter_spec;
mod glob;
pub mod ignore_file;
mod kind;
mod path_globs;

pub use filter_spec::{BadPattern, FilterSpec};
pub use kind::{Kind, UnknownKind};
