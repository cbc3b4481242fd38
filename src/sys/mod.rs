//! Every system call and every `unsafe` of the house: thin, safe, named after the call.
//!
//! Where a kernel lacks something, "unsupported" is a value, not an error.

pub mod attributes;
pub mod extents;
pub mod fault;
pub mod lanes;
pub mod memory;
pub mod names;
pub mod open;
pub mod page_cache;
pub mod process;
pub mod reads;
pub mod stat;
pub mod statfs;
pub mod sync;
pub mod way;
pub mod write;
