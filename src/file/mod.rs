//! Files and folders as seekless keeps them: identity, names, metadata.

mod columns;
mod dir_handles;
mod dir_table;
mod file_table;
mod identity;
mod kind;
mod managed;
mod member;
mod preference;
mod raw;
mod route;
mod spelling;
mod trash;
pub mod trust;

pub use columns::NumberMap;
pub use dir_handles::DirHandles;
pub use dir_table::{DirId, DirTable, FolderPlace, PathRules, SharedDirs};
pub use file_table::{FileTable, FoundFile, Naming};
pub use identity::{DevIndex, FileIndex, Fingerprint, FolderId, Numbering, Sameness, Sighting};
pub use kind::{Kind, Role, UnknownKind, stem};
pub use managed::{
    ManagedPaths, ROWS as MANAGED, Row as ManagedRow, RowNumber, is_managed_file,
    is_managed_folder, may_tell_folder,
};
pub use member::{Member, burst, clipped, is_edited, is_exported, numbered, original};
pub use preference::{ByParts, CopyMarks, Preference};
pub use raw::{Name, Raw, as_path, serialize_path};
pub(crate) use route::to_file as way_to_file;
pub use route::{OwnFolder, RouteError, Untrusted};
pub use spelling::{Spellings, as_listed};
pub use trash::{TrashPaths, is_trash, leads_to_trash, may_be_trash, own_trash};
