//! seekless finds files with the same content, reading only what can change the answer and in
//! the order that the disk likes.
//!
//! The house (imports point downward only; `tests/suite/house/layering.rs` checks it):
//!
//! ```text
//! 7 bin: main, cli
//! 6 lib.rs
//! 5 engine · report · action · probe
//! 4 scan · read · decide
//! 3 device · hash
//! 2 file
//! 1 sys
//! 0 units · event · heartbeat
//!   lock
//! ```

pub mod action;
pub mod decide;
pub mod device;
pub mod engine;
pub mod event;
pub mod file;
pub mod hash;
pub mod heartbeat;
mod lock;
pub mod probe;
mod read;
pub mod report;
pub mod scan;
mod sys;
pub mod units;
