//! Queries and advice for the page cache: which pages are in it, which come next, and which stay out of it.

use std::os::fd::BorrowedFd;

use crate::sys::{extents, page_cache, reads};

use super::access::PIECE;
use super::open_file::uncached_bytes;
use super::reader::{Reader, is_expected, is_whole};
use super::task::{Ask, Outcome, Source, Span, Task};

/// Files longer than this are opened for sampling with `POSIX_FADV_RANDOM`: readahead would fetch several times the
/// sample. The search is likely to read shorter files as a whole next.
const SAMPLED_WITHOUT_READAHEAD: u64 = 128 << 10;

impl Reader {
    /// Ends a task if all of its spans are short and in the page cache; false if they have to be read from a disk. Then
    /// the descriptor belongs to a file in which one may seek: a FIFO in the file's place keeps its bytes.
    pub fn end_cached(&mut self, task: &Task, fd: BorrowedFd<'_>, to: &mut Source<'_>) -> bool {
        // An attempt would start the read, unpaid, and the pages under way would pass for cached ones.
        let is_limited = self.settings.access.budgets.are_limited();
        let is_short = |span: &Span| span.len <= PIECE as u64;
        if task.ask == Ask::BytesFromDisk || is_limited || !task.spans.iter().all(is_short) {
            return self.end_if_cached(task, fd, to);
        }
        for span in task.spans.into_iter().filter(|span| span.len > 0) {
            let len = span.len as usize;
            let is_read = reads::cached(fd, self.unhashed.room(len), span.offset);
            if is_read == Ok(true) {
                self.unhashed.take(len, is_whole(task, span));
                continue;
            }
            self.unhashed.cancel_file();
            return is_read.is_err() && self.end_if_cached(task, fd, to);
        }
        // On a disk with a head, a cached sample does not mean that the rest is cached.
        self.end_unhashed(task, fd, !task.only_cached, to);
        true
    }

    /// As [`Self::end_cached`], where a read does not show it.
    fn end_if_cached(&mut self, task: &Task, fd: BorrowedFd<'_>, to: &mut Source<'_>) -> bool {
        if task.ask == Ask::BytesFromDisk || self.uncached_bytes(task, fd) != Some(0) {
            let failure = is_expected(task, fd).err();
            let failed = failure.map(|failure| to.complete(task, Outcome::Failed(failure)));
            return failed.is_some();
        }
        let mut outcome = self.read_now(task, fd, false);
        if let Outcome::Read { cached, .. } = &mut outcome {
            *cached = true;
        }
        to.complete(task, outcome);
        true
    }

    /// Bytes of the spans that are not in the page cache; `None` if this is not known.
    pub fn uncached_bytes(&self, task: &Task, fd: BorrowedFd<'_>) -> Option<u64> {
        let in_layers = task.device.is_layered && task.expect.size > PIECE as u64;
        let spans = task.spans.iter().filter(|span| span.len > 0);
        spans
            .map(|span| uncached_bytes(fd, (span.offset, span.len), in_layers))
            .sum()
    }

    /// The position on the disk of a task that must not touch it; `None` if its spans are in the page cache.
    pub(super) fn position(&self, task: &Task, fd: BorrowedFd<'_>) -> Option<Outcome> {
        if self.uncached_bytes(task, fd) == Some(0) {
            return None;
        }
        let position = extents::first_position(fd, task.spans[0].offset);
        Some(Outcome::NotCached {
            position: position.unwrap_or(task.expect.ino),
        })
    }

    /// Announces the next reads to the kernel.
    pub fn announce(&self, task: &Task, fd: BorrowedFd<'_>) {
        self.settings.access.stop_readahead(fd);
        let wanted: u64 = task.spans.iter().map(|span| span.len).sum();
        if wanted < task.expect.size && task.expect.size > SAMPLED_WITHOUT_READAHEAD {
            page_cache::advise(fd, 0, 0, page_cache::Advice::Random);
        }
    }

    /// True if the pages of this task must be dropped after the read: they are most of a whole file, and hardly any was
    /// in the page cache before. `missing` is the number of bytes that were not.
    pub fn drops_behind(&self, task: &Task, missing: Option<u64>) -> bool {
        let wanted: u64 = task.spans.iter().map(|span| span.len).sum();
        wanted >= PIECE as u64
            && missing.is_some_and(|missing| missing > wanted / 2)
            && self.settings.access.page_use.drops_now()
    }

    /// Sets up reads past the page cache for a task's file, if the file must stay out of the cache and hardly any of it
    /// is there.
    pub fn goes_past_cache(&self, task: &Task, fd: BorrowedFd<'_>) -> bool {
        task.device.may_go_past_cache
            && task.spans.iter().all(|span| span.offset == 0)
            && task.spans.iter().any(|span| is_whole(task, *span))
            && (self.settings.access)
                .goes_past_cache(task.expect.size, || self.uncached_bytes(task, fd))
            && reads::begin_direct(fd)
    }
}
