//! From what was typed to what will be done, once.

pub mod act;
pub mod environment;
pub mod filter;
pub mod root_links;
pub mod search;
pub mod time;
pub mod wrong_use;
