//! Folders: emptied, moved, created, restored; and reports of folders.

mod created;
pub mod emptied;
mod moved;
mod refused;
mod reports;
