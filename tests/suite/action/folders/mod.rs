//! Folders: emptied, moved, created, restored; and reports of folders.

mod created;
pub mod emptied;
mod moved;
mod noise;
mod refused;
mod reports;
