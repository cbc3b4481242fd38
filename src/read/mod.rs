//! Runs reads: the right number at a time, in the order that suits the device.
//!
//! An executor does not know the purpose of the bytes. It opens files, reads spans, and hands the bytes to a [`Fold`].
//! It reports whether the file was the expected one before and after the read.

mod access;
mod budget;
mod buffer;
mod cached;
mod compare;
mod elevator;
mod fold;
mod holes;
#[cfg(test)]
mod holes_tests;
mod in_progress;
mod many;
mod open_file;
mod page_use;
mod pool;
mod reader;
#[cfg(test)]
mod reading_tests;
mod scheduler;
#[cfg(test)]
mod scheduler_tests;
mod source;
mod stream;
mod task;
#[cfg(test)]
mod testing;
mod worker;

pub use access::Access;
pub use budget::LEAST_RATE;
pub use compare::{Unequal, Which, equal};
pub use fold::Fold;
pub use holes::{are_too_many as has_too_many_holes, too_many as too_many_holes};
pub use in_progress::InProgress;
pub use open_file::{Device, OpenFile};
pub use page_use::PageUse;
pub use reader::ReadSettings;

pub use crate::sys::ring::is_available as has_rings;
pub use scheduler::{Finished, Job, Lane, Scheduler};
pub use stream::UNDECIDED;
pub use task::{Ask, Batch, Completion, Failure, Outcome, Recalls, Span, Task, Ticket, Unwritten};
