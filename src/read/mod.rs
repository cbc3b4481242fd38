//! Runs reads: the right number at a time, in the order that suits the device.
//!
//! An executor does not know the purpose of the bytes. It opens files, reads spans, and hands the bytes to a
//! [`Fold`](crate::hash::Fold). It reports whether the file was the expected one before and after the read.

mod access;
mod budget;
mod cached;
mod compare;
mod holes;
mod many;
mod media_file;
mod open_file;
mod page_use;
mod pool;
mod reader;
mod scheduler;
mod shown;
mod stream;
mod task;
#[cfg(test)]
mod tests;
mod unhashed;
mod worker;

pub use access::Access;
pub use budget::LEAST_RATE;
pub use holes::{are_too_many as has_too_many_holes, too_many as too_many_holes};
pub use open_file::{Device, OpenFile, Unequal, Which, equal};
pub use page_use::PageUse;
pub use reader::ReadSettings;

pub use crate::sys::reads::is_available as has_rings;
pub use media_file::MediaFile;
pub use scheduler::{Finished, Job, Lane, Scheduler};
pub use shown::{Shown, ShownResults};
pub use task::{Ask, Batch, Completion, Depth, Failure, Outcome, Recalls, Span, Task, Ticket};
