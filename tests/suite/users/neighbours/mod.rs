//! Root works where somebody else owns the folders, and that somebody swaps names at the same time. Nothing outside changes.
//!
//! The other user is `nobody`, in a process of its own. Root only.

mod ground;
mod outputs;
mod outside;
mod rival;
mod swaps;

/// A few in `cargo test`, thousands by the variable.
fn rounds(few: u64) -> u64 {
    let said = std::env::var("SEEKLESS_ROUNDS").ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(few)
}
