//! Finds out which bytes the kernel has not written to the disk.

use std::os::fd::BorrowedFd;

use crate::sys::page_cache;

use super::task::{Task, Unwritten};

/// Finds out whether the bytes of a task are on the disk, if it matters.
///
/// Call it before the first byte is read. A program that writes through a memory map can change a page without a new
/// ctime as long as the page is dirty. Writeback ends this: the next write to the page sets the ctime. So, if the pages
/// are clean now, each change after this call leaves a new ctime. A query after the read proves less: a page that was
/// dirty during the read may have been changed after it was read, and written back before the query.
pub fn query_unwritten(task: &mut Task, fd: BorrowedFd<'_>) {
    if is_unwritten(task, fd) {
        task.unwritten = Unwritten::Found;
    }
}

/// True if the bytes of a task are not all on the disk, and it matters. See [`query_unwritten`].
pub fn is_unwritten(task: &Task, fd: BorrowedFd<'_>) -> bool {
    let [first, second] = task.spans;
    // A head is the beginning of the whole that is read along with it.
    let is_within =
        first.offset >= second.offset && first.offset + first.len <= second.offset + second.len;
    let spans = [(!is_within).then_some(first), Some(second)];
    let mut spans = spans.into_iter().flatten().filter(|span| span.len > 0);
    task.unwritten == Unwritten::Queried
        && spans.any(|span| page_cache::is_unwritten(fd, span.offset, span.len) == Some(true))
}
