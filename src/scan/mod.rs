//! Finding files: walking, filtering, links.

pub mod filter;
