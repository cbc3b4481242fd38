//! Files and folders as seekless keeps them: identity, names, metadata.

mod dir_handles;
mod dir_paths;
mod dir_route;
mod dir_table;
mod file_table;
mod fingerprint;
mod found_file;
mod further_names;
mod identity;
mod names;
mod narrow;
mod own_folder;
mod path_rules;
mod places;
mod route;
mod spelling;
mod trash;
pub mod trust;
mod unnamed_trash;

pub use dir_handles::DirHandles;
pub use dir_table::{DirId, DirTable, MetBefore, SharedDirs};
pub use file_table::{DevIndex, FileIndex, FileTable, Naming};
pub use fingerprint::Fingerprint;
pub use found_file::FoundFile;
pub use identity::{FolderId, Numbering, Sameness, Sighting};
pub use own_folder::OwnFolder;
pub use path_rules::PathRules;
pub use route::{RouteError, Untrusted};
pub(crate) use route::{folder as way_to_folder, to_file as way_to_file};
pub use spelling::{Spellings, as_listed};
pub use trash::{TrashPaths, is_named_trash, is_trash, may_be_trash, own_trash};
pub use unnamed_trash::{Asked, UnnamedTrash};
