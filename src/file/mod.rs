//! Files and folders as seekless keeps them: identity, names, metadata.

mod catalog;
mod dir_handles;
mod dir_paths;
mod dir_table;
mod fingerprint;
mod identity;
mod names;
mod narrow;
mod places;
mod route;

pub use catalog::{Catalog, FileIndex, FoundFile, Naming};
pub use dir_handles::DirHandles;
pub use dir_table::{DirId, DirTable, MetBefore, SharedDirs};
pub use fingerprint::Fingerprint;
pub use identity::{FolderId, Numbering, Sameness, Sighting};
pub use route::Manner;
