//! Root works where somebody else owns the folders, and that somebody swaps names at the same time. Nothing outside
//! changes.
//!
//! The other user is `nobody`, in a process of its own. Root only.

mod ground;
mod outputs;
mod outside;
mod rival;
mod swaps;
